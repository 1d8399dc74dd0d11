#include "synth/input/taccl_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "synth/input/yaml_text.h"

namespace dlcp::synth {
namespace {

// NVLink topology of the eight GPUs of boxes for which TACCL's files give two betas and no matrix:
// 1 stands for the first beta, 2 for the second.
constexpr int kNvlink[8][8] = {{0, 1, 2, 2, 1, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0},
                               {2, 2, 0, 1, 0, 0, 1, 0}, {2, 1, 1, 0, 0, 0, 0, 2},
                               {1, 0, 0, 0, 0, 1, 2, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
                               {0, 0, 1, 0, 2, 2, 0, 1}, {0, 0, 0, 2, 2, 1, 1, 0}};

double rate_of_beta(const YAML::Node& node, const std::string& key) {
  return 1e12 / number_of(node, key, 1e-6, 1e12);  // us per 10^6 bytes
}

class TacclReader {
 public:
  void read_box(const YAML::Node& root) {
    if (!root["gpus_per_node"]) refuse(root, "gpus_per_node is missing");
    gpus_ = count_of(root["gpus_per_node"], "gpus_per_node", 1, Topology::kRanksMax);
    if (root["name"]) topology_.name = text_of(root["name"], "name");
    if (!root["alpha"]) refuse(root, "alpha is missing");
    alpha_ = number_of(root["alpha"], "alpha", 0, 1e6) * 1e-6;
    rates_.assign(static_cast<std::size_t>(gpus_),
                  std::vector<double>(static_cast<std::size_t>(gpus_)));
    if (root["betas"])
      read_matrix(root);
    else if (root["node_betas_list"])
      read_list(root["node_betas_list"]);
    else
      refuse(root, "betas are missing", "give 'betas' (a matrix) or 'node_betas_list'");
    if (root["nics_per_node"]) nics_ = count_of(root["nics_per_node"], "nics_per_node", 1, 1024);
    if (root["remote_beta"]) remote_rate_ = rate_of_beta(root["remote_beta"], "remote_beta");
    if (root["remote_alpha"])
      remote_alpha_ = number_of(root["remote_alpha"], "remote_alpha", 0, 1e6) * 1e-6;
    topology_.message = 0;  // in this model alpha contains the whole cost of a message
  }

  void read_sketch(const YAML::Node& root) {
    if (root["nnodes"]) boxes_ = count_of(root["nnodes"], "nnodes", 1, Topology::kRanksMax);
    if (const auto inside = root["intranode_sketch"]; inside && inside["switches"])
      for (const auto& one : inside["switches"])
        switches_.push_back(read_gpus(one, "switches"));
    if (boxes_ == 1) return;
    const auto between = root["internode_sketch"];
    if (!between || !between["internode_conn"])
      refuse(root, fmt::format("there are {} boxes, but no internode_sketch with internode_conn",
                               boxes_));
    if (remote_rate_ <= 0)
      refuse(root, "the topology has no remote_beta", "give the time of 1 MB between boxes, in us");
    read_relays(between["internode_conn"]);
  }

  Topology finish() {
    if (static_cast<long>(boxes_) * gpus_ > Topology::kRanksMax)
      throw BadInput(fmt::format("{} boxes of {} GPUs exceed the limit of {} ranks", boxes_, gpus_,
                                 Topology::kRanksMax));
    for (int box = 0; box < boxes_; box++)
      for (int gpu = 0; gpu < gpus_; gpu++)
        topology_.nodes.push_back({fmt::format("{}.{}", box, gpu), true, false, box});
    topology_.box = gpus_;
    for (int box = 0; box < boxes_; box++)
      join_inside(box);
    if (boxes_ > 1) join_boxes();
    return std::move(topology_);
  }

 private:
  void read_matrix(const YAML::Node& root) {
    const YAML::Node betas = root["betas"], links = root["links"];
    const auto square = [&](const YAML::Node& node, const char* key) {
      if (!node.IsSequence() || node.size() != static_cast<std::size_t>(gpus_))
        refuse(node, fmt::format("{} must be a list of {} rows", key, gpus_));
      for (const auto& row : node)
        if (!row.IsSequence() || row.size() != static_cast<std::size_t>(gpus_))
          refuse(row, fmt::format("a row of {} must have {} numbers", key, gpus_));
    };
    square(betas, "betas");
    if (links) square(links, "links");
    // Rows are receivers in TACCL's matrices.
    for (std::size_t to = 0; to < rates_.size(); to++) {
      for (std::size_t from = 0; from < rates_.size(); from++) {
        const bool joined = !links || number_of(links[to][from], "links", 0, 1e6) > 0;
        if (from == to || !joined || number_of(betas[to][from], "betas", 0, 1e12) <= 0) continue;
        rates_[from][to] = rate_of_beta(betas[to][from], "betas");
      }
    }
  }

  void read_list(const YAML::Node& list) {
    if (!list.IsSequence() || list.size() < 1 || list.size() > 2)
      refuse(list, "node_betas_list must have one number, or two for a box of eight GPUs");
    if (list.size() == 2 && gpus_ != 8)
      refuse(list, fmt::format("two betas need eight GPUs per box, not {}", gpus_),
             "give 'betas' as a matrix");
    for (std::size_t a = 0; a < rates_.size(); a++) {
      for (std::size_t b = 0; b < rates_.size(); b++) {
        const int kind = a == b ? 0 : list.size() == 1 ? 1 : kNvlink[a][b];
        if (kind > 0)
          rates_[a][b] = rate_of_beta(list[static_cast<std::size_t>(kind - 1)], "node_betas_list");
      }
    }
  }

  std::vector<int> read_gpus(const YAML::Node& node, const std::string& key) {
    if (!node.IsSequence()) refuse(node, fmt::format("{} must be a list of GPUs", key));
    std::vector<int> gpus;
    for (const auto& one : node)
      gpus.push_back(count_of(one, key, 0, gpus_ - 1));
    return gpus;
  }

  void read_relays(const YAML::Node& node) {
    if (node.IsScalar()) {
      const bool all = node.Scalar() == "fully-connected";
      if (!all && node.Scalar() != "direct-map")
        refuse(node, fmt::format("internode_conn is '{}'", node.Scalar()),
               "give a map of senders to receivers, fully-connected or direct-map");
      for (int a = 0; a < gpus_; a++) {
        for (int b = 0; b < gpus_; b++)
          if (all || a == b) relays_.insert({a, b});
      }
      return;
    }
    if (!node.IsMap()) refuse(node, "internode_conn must be a map of senders to receivers");
    for (const auto& entry : node) {
      const int from = count_of(entry.first, "internode_conn", 0, gpus_ - 1);
      for (const int to : read_gpus(entry.second, "internode_conn"))
        relays_.insert({from, to});
    }
  }

  int add_switch(const std::string& name, int box) {
    topology_.nodes.push_back({name, false, false, box});
    return static_cast<int>(topology_.nodes.size()) - 1;
  }

  void join_inside(int box) {
    auto rates = rates_;
    for (std::size_t s = 0; s < switches_.size(); s++) {
      const auto& members = switches_[s];
      const int node = add_switch(fmt::format("{}/switch{}", box, s), box);
      for (const int gpu : members) {
        // A GPU's beta to other boxes is that of its port.
        const auto& row = rates_[static_cast<std::size_t>(gpu)];
        const double rate = *std::max_element(row.begin(), row.end());
        topology_.links.push_back({box * gpus_ + gpu, node, rate, alpha_ / 2});
        topology_.links.push_back({node, box * gpus_ + gpu, rate, alpha_ / 2});
        for (const int other : members)
          rates[static_cast<std::size_t>(gpu)][static_cast<std::size_t>(other)] = 0;
      }
    }
    for (int a = 0; a < gpus_; a++) {
      for (int b = 0; b < gpus_; b++) {
        const double rate = rates[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
        if (rate > 0) topology_.links.push_back({box * gpus_ + a, box * gpus_ + b, rate, alpha_});
      }
    }
  }

  // One fabric for each set of connected senders and receivers; one NIC for each GPU or, if there
  // are fewer NICs, one shared by neighbours.
  void join_boxes() {
    std::vector<int> set(static_cast<std::size_t>(2 * gpus_));
    std::iota(set.begin(), set.end(), 0);
    std::set<int> senders, receivers;
    for (const auto& [from, to] : relays_) {
      senders.insert(from);
      receivers.insert(to);
      const int old = set[static_cast<std::size_t>(from)],
                now = set[static_cast<std::size_t>(gpus_ + to)];
      std::replace(set.begin(), set.end(), old, now);
    }
    const int most = static_cast<int>(std::max(senders.size(), receivers.size()));
    const bool shared = nics_ > 0 && nics_ < most;
    if (shared)
      topology_.notes.push_back(fmt::format(
          "{} GPUs of a box share {} NICs, through which they reach every receiver", most, nics_));
    std::map<int, int> fabric;
    const auto fabric_of = [&](int index) {
      const int key = shared ? 0 : set[static_cast<std::size_t>(index)];
      if (fabric.find(key) == fabric.end())
        fabric[key] = add_switch(fmt::format("fabric{}", fabric.size()), -1);
      return fabric[key];
    };
    for (int box = 0; box < boxes_; box++) {
      std::map<int, int> nic;
      const auto nic_of = [&](int gpu) {
        const int number = gpu * nics_ / gpus_;
        if (nic.find(number) == nic.end()) {
          nic[number] = add_switch(fmt::format("{}/nic{}", box, number), box);
          topology_.links.push_back({nic[number], fabric_of(0), remote_rate_, 0});
          topology_.links.push_back({fabric_of(0), nic[number], remote_rate_, 0});
        }
        return nic[number];
      };
      for (const int gpu : senders)
        topology_.links.push_back({box * gpus_ + gpu, shared ? nic_of(gpu) : fabric_of(gpu),
                                   remote_rate_, remote_alpha_ / 2});
      for (const int gpu : receivers)
        topology_.links.push_back({shared ? nic_of(gpu) : fabric_of(gpus_ + gpu), box * gpus_ + gpu,
                                   remote_rate_, remote_alpha_ / 2});
    }
  }

  Topology topology_;
  int gpus_ = 0;
  int boxes_ = 1;
  int nics_ = 0;
  double alpha_ = 0;
  double remote_rate_ = 0;
  double remote_alpha_ = 0;
  std::vector<std::vector<double>> rates_;  // bytes per second, from, to; 0 for none
  std::vector<std::vector<int>> switches_;
  std::set<std::pair<int, int>> relays_;  // sender and receiver in another box
};

}  // namespace

bool is_taccl(const std::string& text) {
  return text.find("\"gpus_per_node\"") != std::string::npos ||
         text.find("gpus_per_node:") != std::string::npos;
}

Result<Topology> parse_taccl(const InputFile& box, const std::optional<InputFile>& sketch) {
  TacclReader reader;
  Topology topology;
  auto read = read_yaml(box.text, box.source, [&](const YAML::Node& root) {
    reader.read_box(root);
    if (!sketch) topology = reader.finish();
  });
  if (!read) return read.error();
  if (sketch) {
    read = read_yaml(sketch->text, sketch->source, [&](const YAML::Node& root) {
      reader.read_sketch(root);
      topology = reader.finish();
    });
    if (!read) return read.error();
  }
  if (const auto settled = topology.settle(); !settled)
    return Error{settled.error().code, box.source + ": " + settled.error().what,
                 settled.error().hint};
  return topology;
}

}  // namespace dlcp::synth
