#include "cli/simulate/scenario_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "cli/command_line/text_file.h"
#include "cli/simulate/scenario_faults.h"
#include "cli/simulate/scenario_keys.h"
#include "simulate/load/connection_matrix.h"
#include "simulate/load/training_step.h"
#include "simulate/load/workloads.h"
#include "synth/input/yaml_text.h"
#include "util/text/quantity.h"

namespace dlcp::cli {
namespace {

using namespace simulate;
using synth::count_of;
using synth::only_keys;
using synth::refuse;
using synth::text_of;

using Files = std::function<Result<std::string>(const std::string& path)>;

constexpr std::size_t kUdpBytes = 28;  // IPv4 and UDP

FabricPlan fabric_of(const YAML::Node& map) {
  if (!map.IsMap()) refuse(map, "'fabric' must have keys and values", "see docs/simulation.md");
  constexpr const char* kShapes = "give switch, leaf-spine or fat-tree";
  const YAML::Node shape = wanted(map, "shape", kShapes);
  Wire wire;
  if (map["rate"]) wire.gbit_per_s = gbit_of(map["rate"], "rate");
  if (map["delay"]) wire.delay = time_of(map["delay"], "delay");
  Wire uplink = wire;
  if (map["uplink_rate"]) uplink.gbit_per_s = gbit_of(map["uplink_rate"], "uplink_rate");
  const std::string name = text_of(shape, "shape");
  FabricPlan plan;
  if (name == "switch") {
    only_keys(map, {"shape", "rate", "delay", "card_rate", "hosts"});
    const auto hosts = wanted(map, "hosts", "give the number of hosts");
    plan = single_switch(count_of(hosts, "hosts", 2, kScenarioHostsMax), wire);
  } else if (name == "leaf-spine") {
    only_keys(map, {"shape", "rate", "delay", "card_rate", "uplink_rate", "leaves",
                    "hosts_per_leaf", "spines"});
    const auto part = [&](const char* key, int most) {
      return static_cast<std::size_t>(count_of(wanted(map, key, "give the number"), key, 1, most));
    };
    plan = leaf_spine(part("leaves", 1024), part("hosts_per_leaf", 1024), part("spines", 256), wire,
                      uplink);
  } else if (name == "fat-tree") {
    only_keys(map, {"shape", "rate", "delay", "card_rate", "radix", "oversubscription"});
    const auto radix = wanted(map, "radix", "give the number of ports of a switch");
    const int ports = count_of(radix, "radix", 2, 24);
    if (ports % 2 != 0)
      refuse(radix, fmt::format("radix is {}", ports),
             "half of the ports are uplinks; give an even number");
    const int over = count_or(map, "oversubscription", 1, 1, ports / 2);
    plan = fat_tree(static_cast<std::size_t>(ports), wire, static_cast<std::size_t>(over));
  } else {
    refuse(shape, fmt::format("shape is '{}'", name), kShapes);
  }
  if (map["card_rate"]) plan.card_gbit_per_s = gbit_of(map["card_rate"], "card_rate");
  if (plan.hosts() < 2 || plan.hosts() > kScenarioHostsMax)
    refuse(map, fmt::format("the fabric has {} hosts", plan.hosts()),
           fmt::format("give 2 to {}", kScenarioHostsMax));
  return plan;
}

std::vector<Contender> contenders_of(const YAML::Node& node) {
  std::vector<Contender> made;
  const auto add = [&](const YAML::Node& one) {
    const std::string name = text_of(one, "a transport");
    const auto contender = contender_of(name);
    if (!contender)
      refuse(one, fmt::format("'{}' is not a transport", name),
             "give one or more of " + contender_names());
    if (std::ranges::find(made, *contender) != made.end())
      refuse(one, fmt::format("'{}' is given twice", name), "give each transport once");
    made.push_back(*contender);
  };
  if (!node.IsSequence())
    add(node);
  else
    for (const auto& one : node)
      add(one);
  if (made.empty()) refuse(node, "transports is empty", "give one or more of " + contender_names());
  return made;
}

std::string size_words(std::uint64_t bytes) {
  return bytes < 1'000'000 ? fmt::format("{:g} kB", static_cast<double>(bytes) * 1e-3)
                           : fmt::format("{:g} MB", static_cast<double>(bytes) * 1e-6);
}

class LoadReader {
 public:
  LoadReader(Scenario& scenario, const Files& files) : scenario_(scenario), files_(files) {}

  void read(const YAML::Node& map) {
    if (!map.IsMap()) refuse(map, "'load' must have keys and values", "see docs/simulation.md");
    constexpr const char* kKinds = "give permutation, incast, ring, all-to-all, training or matrix";
    const YAML::Node kind = wanted(map, "kind", kKinds);
    const std::string name = text_of(kind, "kind");
    if (name == "permutation")
      permutation_load(map);
    else if (name == "incast")
      incast_load(map);
    else if (name == "ring")
      ring_load(map);
    else if (name == "all-to-all")
      exchange_load(map);
    else if (name == "training")
      training_load(map);
    else if (name == "matrix")
      matrix_load(map);
    else
      refuse(kind, fmt::format("kind is '{}'", name), kKinds);
    if (map["may_lose"]) scenario_.may_lose = share_of(map["may_lose"], "may_lose", 0.25);
  }

 private:
  std::size_t hosts() const { return scenario_.setting.fabric.hosts(); }
  static std::uint64_t bytes(const YAML::Node& map, std::uint64_t most) {
    return bytes_of(wanted(map, "bytes", "give the number"), "bytes", most);
  }
  void limit(const YAML::Node& map, std::size_t transfers) const {
    if (transfers > kScenarioTransfersMax)
      refuse(map, fmt::format("this load has {} transfers", transfers),
             fmt::format("at most {} can be simulated; use fewer hosts", kScenarioTransfersMax));
  }

  void permutation_load(const YAML::Node& map) {
    only_keys(map, {"kind", "bytes", "may_lose"});
    const auto size = bytes(map, kScenarioTransferBytesMax);
    scenario_.load = fmt::format("permutation, {}", size_words(size));
    scenario_.workload = [count = hosts(), size](std::uint64_t seed) {
      return permutation(count, size, seed);
    };
  }
  void incast_load(const YAML::Node& map) {
    only_keys(map, {"kind", "bytes", "senders", "may_lose"});
    const auto size = bytes(map, kScenarioTransferBytesMax);
    const int most = static_cast<int>(hosts()) - 1;
    const auto senders = static_cast<std::size_t>(count_or(map, "senders", most, 1, most));
    scenario_.load = fmt::format("{} to one, {}", senders, size_words(size));
    scenario_.workload = [count = hosts(), senders, size](std::uint64_t seed) {
      return incast(count, senders, size, seed);
    };
  }
  void ring_load(const YAML::Node& map) {
    only_keys(map, {"kind", "bytes", "may_lose"});
    const auto size = bytes(map, kScenarioTransferBytesMax * hosts());
    limit(map, 2 * (hosts() - 1) * hosts());
    scenario_.load = fmt::format("ring of {}", size_words(size));
    scenario_.workload = [count = hosts(), size](std::uint64_t) {
      std::vector<HostIndex> ring(count);
      for (std::size_t i = 0; i < count; ++i)
        ring[i] = static_cast<HostIndex>(i);
      return ring_all_reduce(ring, size);
    };
  }
  void exchange_load(const YAML::Node& map) {
    only_keys(map, {"kind", "bytes", "lanes", "may_lose"});
    const auto size = bytes(map, kScenarioTransferBytesMax);
    const auto lanes = static_cast<std::size_t>(count_or(map, "lanes", 4, 1, 4096));
    limit(map, hosts() * (hosts() - 1));
    scenario_.load = fmt::format("all-to-all, {}", size_words(size));
    scenario_.workload = [count = hosts(), size, lanes](std::uint64_t) {
      return all_to_all(count, size, lanes);
    };
  }
  void training_load(const YAML::Node& map);
  void matrix_load(const YAML::Node& map) {
    only_keys(map, {"kind", "file", "may_lose"});
    const YAML::Node file = wanted(map, "file", "name a file in the format of htsim's .cm files");
    const std::string path = text_of(file, "file");
    const auto text = files_(path);
    if (!text) refuse(file, text.error().what, text.error().hint);
    auto matrix = parse_connection_matrix(text.value(), path);
    if (!matrix) refuse(file, matrix.error().what, matrix.error().hint);
    if (matrix->hosts > hosts())
      refuse(file,
             fmt::format("{} is for {} hosts, the fabric has {}", path, matrix->hosts, hosts()),
             "use a fabric with the same number of hosts");
    scenario_.load = path;
    const auto kept = std::make_shared<const Workload>(std::move(matrix->workload));
    scenario_.workload = [kept](std::uint64_t) { return *kept; };
  }

  Scenario& scenario_;
  const Files& files_;
};

void LoadReader::training_load(const YAML::Node& map) {
  only_keys(map, {"kind", "model", "algorithm", "part", "tera_flops", "may_lose"});
  const YAML::Node wanted_model = wanted(map, "model", "give a model, for example ResNet50");
  const Model* model = nullptr;
  std::string known;
  for (const Model& one : models()) {
    if (one.name == text_of(wanted_model, "model")) model = &one;
    known += fmt::format("{}{}", known.empty() ? "give one of " : ", ", one.name);
  }
  if (model == nullptr)
    refuse(wanted_model, fmt::format("model is '{}'", wanted_model.Scalar()), known);
  const std::pair<const char*, AllReduce> kinds[] = {{"ring", AllReduce::kRing},
                                                     {"hierarchical", AllReduce::kHierarchical},
                                                     {"direct", AllReduce::kDirect}};
  const YAML::Node name = map["algorithm"];
  std::optional<AllReduce> kind;
  if (!name) kind = AllReduce::kRing;
  for (const auto& [word, value] : kinds)
    if (name && text_of(name, "algorithm") == word) kind = value;
  if (!kind)
    refuse(name, fmt::format("algorithm is '{}'", name.Scalar()),
           "give ring, hierarchical or direct");
  const double part = map["part"] ? share_of(map["part"], "part", 1) : 1;
  const double speed =
      map["tera_flops"] ? synth::number_of(map["tera_flops"], "tera_flops", 0.1, 1e5) : 150;
  const StepPlan plan = step_of(*model, speed, part);
  limit(map, plan.buckets.size() * 2 * (hosts() - 1) * hosts());
  scenario_.load = fmt::format("a step of {}", model->name);
  scenario_.parameters.emplace_back(
      "computing",
      fmt::format("{:.1f} us of the step", static_cast<double>(plan.compute.count()) * 1e-3));
  const FabricPlan& fabric = scenario_.setting.fabric;
  scenario_.workload = [plan, kind = *kind, leaves = fabric.leaves(),
                        in_leaf = fabric.hosts_per_leaf](std::uint64_t) {
    return training_step(plan.buckets, kind, leaves, in_leaf);
  };
}

std::string fabric_words(const FabricPlan& plan) {
  return fmt::format(
      "{} hosts on {} leaves, {} spines a pod, {:g} Gbit/s, uplinks {:g}, links of "
      "{:g} us",
      plan.hosts(), plan.leaves(), plan.spines_per_pod, plan.host.gbit_per_s,
      plan.uplink.gbit_per_s, static_cast<double>(plan.host.delay.count()) * 1e-3);
}

void read_root(const YAML::Node& root, Scenario& scenario, const Files& files) {
  only_keys(root, {"title", "fabric", "transports", "load", "routing", "buffer", "queue", "carrier",
                   "mtu", "loss", "loss_to_hosts", "faults", "storm", "paths", "seeds", "limit",
                   "packet_cost"});
  if (root["title"]) scenario.title = text_of(root["title"], "title");
  scenario.setting.fabric = fabric_of(wanted(root, "fabric", "see docs/simulation.md"));
  scenario.parameters.emplace_back("fabric", fabric_words(scenario.setting.fabric));
  scenario.contenders = root["transports"]
                            ? contenders_of(root["transports"])
                            : std::vector<Contender>{Contender::kDlcp, Contender::kNscc};
  if (root["routing"]) {
    const std::string routing = text_of(root["routing"], "routing");
    if (routing != "hash" && routing != "adaptive")
      refuse(root["routing"], fmt::format("routing is '{}'", routing), "give hash or adaptive");
    scenario.setting.fabric.adaptive = routing == "adaptive";
    scenario.parameters.emplace_back("routing", routing);
  }
  if (root["buffer"]) {
    const auto bytes = bytes_of(root["buffer"], "buffer", std::uint64_t{1} << 30);
    scenario.setting.switch_buffer_bytes = bytes;
    scenario.parameters.emplace_back("buffer", fmt::format("{} bytes, shared", bytes));
  }
  if (root["queue"])
    scenario.setting.queue_bytes = bytes_of(root["queue"], "queue", std::uint64_t{1} << 30);
  if (root["carrier"]) {
    const std::string carrier = text_of(root["carrier"], "carrier");
    if (carrier != "roce" && carrier != "udp")
      refuse(root["carrier"], fmt::format("carrier is '{}'", carrier), "give roce or udp");
    if (carrier == "udp") scenario.setting.hosts.ip_bytes = kUdpBytes;
  }
  scenario.setting.hosts.mtu = static_cast<std::size_t>(
      count_or(root, "mtu", static_cast<int>(scenario.setting.hosts.mtu), 1280, 9000));
  if (root["loss_to_hosts"])
    scenario.setting.loss_to_hosts = share_of(root["loss_to_hosts"], "loss_to_hosts", 1);
  if (root["loss"]) scenario.setting.loss = share_of(root["loss"], "loss", 1);
  if (root["faults"]) {
    if (!root["faults"].IsSequence())
      refuse(root["faults"], "'faults' must be a list",
             "begin each fault with a line such as '- link: leaf-up'");
    for (const auto& one : root["faults"])
      scenario.setting.faults.push_back(fault_of(one, scenario.setting.fabric));
  }
  if (root["storm"]) scenario.setting.storm = storm_of(root["storm"], scenario.setting.fabric);
  scenario.setting.paths = static_cast<std::size_t>(count_or(root, "paths", 0, 1, 256));
  scenario.seeds = static_cast<std::size_t>(count_or(root, "seeds", 3, 1, 1000));
  if (root["packet_cost"])
    scenario.setting.packet_cost = time_of(root["packet_cost"], "packet_cost");
  if (root["limit"]) scenario.setting.limit = time_of(root["limit"], "limit");
  LoadReader(scenario, files).read(wanted(root, "load", "see docs/simulation.md"));
}

}  // namespace

Result<Scenario> parse_scenario(const std::string& text, const std::string& source,
                                const Files& read) {
  Scenario scenario;
  const auto status = synth::read_yaml(
      text, source, [&](const YAML::Node& root) { read_root(root, scenario, read); }, "scenario",
      "docs/simulation.md");
  if (!status) return status.error();
  return scenario;
}

Result<Scenario> read_scenario(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return text.error();
  const auto folder = std::filesystem::path(path).parent_path();
  return parse_scenario(text.value(), path, [&](const std::string& name) {
    return read_text_file((folder / name).string());
  });
}

}  // namespace dlcp::cli
