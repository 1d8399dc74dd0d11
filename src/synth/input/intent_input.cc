#include "synth/input/intent_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "synth/input/yaml_text.h"
#include "util/text/quantity.h"

namespace dlcp::synth {
namespace {

constexpr double kBaseRtt = 8e-6;  // if the intent has none

// Expands "Ethernet[0-24:8]" to every eighth port; other names as in names_of().
std::vector<std::string> ports_of(const YAML::Node& node) {
  if (node.IsSequence()) {
    std::vector<std::string> all;
    for (const auto& one : node) {
      if (one.IsSequence()) refuse(one, "'ports' must be a list of names");
      const auto names = ports_of(one);
      all.insert(all.end(), names.begin(), names.end());
    }
    return all;
  }
  const std::string text = text_of(node, "ports");
  const auto open = text.find('['), colon = text.find(':', open), close = text.find(']', open);
  if (open == std::string::npos || colon == std::string::npos || close == std::string::npos ||
      colon > close)
    return names_of(node, "ports");
  const auto dash = text.find('-', open);
  const auto number = [&](std::size_t from, std::size_t to) {
    return parse_count(std::string_view(text).substr(from, to - from));
  };
  if (dash == std::string::npos || dash > colon)
    refuse(node, fmt::format("'{}' is not a range of ports", text));
  const auto first = number(open + 1, dash), last = number(dash + 1, colon),
             step = number(colon + 1, close);
  if (!first || !last || !step || *step == 0 || *last < *first || (*last - *first) / *step > 4096)
    refuse(node, fmt::format("'{}' is not a range of ports", text));
  const std::size_t width = text[open + 1] == '0' ? dash - open - 1 : 1;
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i <= (*last - *first) / *step; i++)
    names.push_back(fmt::format("{}{:0{}}{}", text.substr(0, open), *first + i * *step, width,
                                text.substr(close + 1)));
  return names;
}

class IntentReader {
 public:
  Topology read(const YAML::Node& root) {
    const YAML::Node fabric = root["fabric"];
    double rtt = kBaseRtt;
    if (fabric && fabric.IsMap()) {
      if (fabric["name"]) topology_.name = text_of(fabric["name"], "name");
      if (fabric["base_rtt"]) rtt = seconds_of(fabric["base_rtt"], "base_rtt");
      if (fabric["link_speed"]) link_speed_ = rate_of(fabric["link_speed"], "link_speed");
    }
    latency_ = rtt / 8;  // the links between host, leaf, spine, leaf and host, in both directions
    if (!root["switches"].IsSequence()) refuse(root, "'switches' must be a list");
    for (const auto& one : root["switches"])
      read_switch(one);
    join();
    return std::move(topology_);
  }

 private:
  struct Switch {
    std::string name;
    int node;
    double fabric_rate;
  };

  void read_switch(const YAML::Node& node) {
    if (!node.IsMap() || !node["name"]) refuse(node, "a switch has no name");
    const std::string role = node["role"] ? text_of(node["role"], "role") : "leaf";
    if (role != "leaf" && role != "spine")
      refuse(node, fmt::format("role '{}' is not supported here", role),
             "describe networks with more tiers as links");
    if (node["ports"] && !node["ports"].IsSequence())
      refuse(node["ports"], "'ports' must be a list");
    for (const std::string& name : names_of(node["name"], "name")) {
      Switch made{name, add({name, false, false, -1}), 0};
      for (const auto& ports : node["ports"])
        read_ports(ports, made);
      (role == "leaf" ? leaves_ : spines_).push_back(made);
    }
  }

  void read_ports(const YAML::Node& node, Switch& owner) {
    if (!node.IsMap() || !node["ports"] || !node["role"])
      refuse(node, "an entry of 'ports' needs port names and a role");
    const double rate = node["speed"] ? rate_of(node["speed"], "speed") : link_speed_;
    if (rate <= 0)
      refuse(node, "these ports have no speed",
             "give 'speed' here, or 'link_speed' under 'fabric'");
    const auto names = ports_of(node["ports"]);
    if (text_of(node["role"], "role") == "fabric") {
      owner.fabric_rate += rate * static_cast<double>(names.size());
      return;
    }
    if (node["trust"] && text_of(node["trust"], "trust") == "remark") return;
    const auto hosts =
        node["hosts"] ? names_of(node["hosts"], "hosts") : std::vector<std::string>();
    for (std::size_t i = 0; i < names.size(); i++) {
      const int rank =
          add({i < hosts.size() ? hosts[i] : owner.name + ":" + names[i], true, false, -1});
      connect(rank, owner.node, rate);
    }
  }

  int add(Node node) {
    topology_.nodes.push_back(std::move(node));
    if (topology_.nodes.size() > static_cast<std::size_t>(Topology::kNodesMax))
      throw BadInput(fmt::format("more than {} hosts and switches", Topology::kNodesMax));
    return static_cast<int>(topology_.nodes.size()) - 1;
  }

  void connect(int a, int b, double rate) {
    topology_.links.push_back({a, b, rate, latency_});
    topology_.links.push_back({b, a, rate, latency_});
  }

  void join() {
    double all = 0;
    for (const Switch& spine : spines_)
      all += spine.fabric_rate;
    for (const Switch& leaf : leaves_)
      for (const Switch& spine : spines_)
        connect(leaf.node, spine.node, all > 0 ? leaf.fabric_rate * spine.fabric_rate / all : 0);
    if (!spines_.empty())
      topology_.notes.emplace_back(
          "an intent has no cables: every leaf is assumed to be connected to all spines");
  }

  Topology topology_;
  double link_speed_ = 0;
  double latency_ = 0;
  std::vector<Switch> leaves_, spines_;
};

}  // namespace

bool is_intent(const std::string& text) {
  return text.find("switches:") != std::string::npos && text.find("role:") != std::string::npos;
}

Result<Topology> parse_intent(const std::string& text, const std::string& source) {
  Topology topology;
  const auto read = read_yaml(
      text, source, [&](const YAML::Node& root) { topology = IntentReader().read(root); });
  if (!read) return read.error();
  const auto settled = topology.settle();
  if (!settled)
    return Error{settled.error().code, source + ": " + settled.error().what, settled.error().hint};
  return topology;
}

}  // namespace dlcp::synth
