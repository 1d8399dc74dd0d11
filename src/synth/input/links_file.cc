#include "synth/input/links_file.h"

#include <fmt/format.h>

#include <map>

#include "synth/input/yaml_text.h"

namespace dlcp::synth {
namespace {

constexpr std::size_t kLinksMax = 1 << 21;

class LinksReader {
 public:
  Topology read(const YAML::Node& root) {
    only_keys(root, {"name", "message", "latency", "ranks", "switches", "groups", "links"});
    if (root["name"]) topology_.name = text_of(root["name"], "name");
    if (root["message"]) topology_.message = seconds_of(root["message"], "message");
    if (root["latency"]) latency_ = seconds_of(root["latency"], "latency");
    if (!root["ranks"]) refuse(root, "ranks are missing", "give names, for example ranks: h[0-7]");
    if (!root["links"]) refuse(root, "links are missing");
    for (const std::string& name : names_of(root["ranks"], "ranks"))
      add(root["ranks"], {name, true, false, -1});
    if (root["switches"]) read_switches(root["switches"]);
    if (root["groups"]) read_groups(root["groups"]);
    if (!root["links"].IsSequence()) refuse(root["links"], "'links' must be a list");
    for (const auto& link : root["links"])
      read_link(link);
    return std::move(topology_);
  }

 private:
  void add(const YAML::Node& at, Node node) {
    const auto [known, fresh] =
        index_.try_emplace(node.name, static_cast<int>(topology_.nodes.size()));
    if (!fresh) refuse(at, fmt::format("{} is defined twice", node.name));
    topology_.nodes.push_back(std::move(node));
  }

  void read_switches(const YAML::Node& node) {
    if (!node.IsSequence()) {
      for (const std::string& name : names_of(node, "switches"))
        add(node, {name, false, false, -1});
      return;
    }
    for (const auto& one : node) {
      bool multicast = false;
      if (one.IsMap()) {
        only_keys(one, {"name", "multicast"});
        if (!one["name"]) refuse(one, "a switch has no name");
        multicast = one["multicast"] && flag_of(one["multicast"], "multicast");
      }
      for (const std::string& name : names_of(one.IsMap() ? one["name"] : one, "switches"))
        add(one, {name, false, multicast, -1});
    }
  }

  void read_groups(const YAML::Node& node) {
    if (!node.IsSequence()) refuse(node, "'groups' must be a list of groups of ranks");
    int number = 0;
    for (const auto& group : node) {
      for (const std::string& name : names_of(group, "groups"))
        topology_.nodes[static_cast<std::size_t>(find(group, name))].group = number;
      number++;
    }
  }

  int find(const YAML::Node& at, const std::string& name) const {
    const auto found = index_.find(name);
    if (found == index_.end()) refuse(at, fmt::format("there is no rank or switch {}", name));
    return found->second;
  }

  void read_link(const YAML::Node& node) {
    only_keys(node, {"from", "to", "rate", "latency", "count", "one_way"});
    for (const char* key : {"from", "to", "rate"})
      if (!node[key]) refuse(node, fmt::format("a link has no {}", key));
    double rate = rate_of(node["rate"], "rate");
    if (node["count"]) rate *= count_of(node["count"], "count", 1, 4096);
    const double latency = node["latency"] ? seconds_of(node["latency"], "latency") : latency_;
    const bool one_way = node["one_way"] && flag_of(node["one_way"], "one_way");
    const auto to = names_of(node["to"], "to");
    for (const std::string& from : names_of(node["from"], "from")) {
      for (const std::string& end : to) {
        const int a = find(node, from), b = find(node, end);
        topology_.links.push_back({a, b, rate, latency});
        if (!one_way) topology_.links.push_back({b, a, rate, latency});
        if (topology_.links.size() > kLinksMax)
          refuse(node, fmt::format("more than {} links", kLinksMax));
      }
    }
  }

  Topology topology_;
  std::map<std::string, int> index_;
  double latency_ = 1e-6;
};

}  // namespace

Result<Topology> parse_links(const std::string& text, const std::string& source) {
  Topology topology;
  const auto parsed =
      read_yaml(text, source, [&](const YAML::Node& root) { topology = LinksReader().read(root); });
  if (!parsed) return parsed.error();
  const auto settled = topology.settle();
  if (!settled)
    return Error{settled.error().code, source + ": " + settled.error().what, settled.error().hint};
  return topology;
}

}  // namespace dlcp::synth
