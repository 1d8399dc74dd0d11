#include "simulate/load/training_step.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dlcp::simulate {
namespace {

constexpr double kBytes = 4;
constexpr double kFlopsOfMac = 2;
constexpr double kBackward = 2;        // relative to forward
constexpr double kBucketBytes = 25e6;  // PyTorch's bucket size
// Direct exchange sends one message after the other without waiting for answers: a host has this
// number of transfers in progress or, if they are short, the bytes of one RTT at 400 Gbit/s.
constexpr std::size_t kLanes = 4;
constexpr std::uint64_t kUnderWayBytes = 512 << 10;

// Appends one sum after the other.
class Builder {
 public:
  Builder(std::size_t leaves, std::size_t hosts_per_leaf)
      : leaves_(leaves), in_leaf_(hosts_per_leaf), before_(leaves * hosts_per_leaf) {}

  void add(AllReduce kind, const Bucket& bucket) {
    ready_ = bucket.ready;
    const std::size_t hosts = before_.size();
    const std::uint64_t bytes = bucket.bytes;
    if (kind == AllReduce::kRing) {
      pass(members(0, 1, hosts), bytes / hosts, 2 * (hosts - 1));
    } else if (kind == AllReduce::kDirect) {
      exchange(bytes / hosts);  // sums
      exchange(bytes / hosts);  // results
    } else {
      within_leaves(bytes);
      for (std::size_t i = 0; i < in_leaf_; ++i)
        pass(members(i, in_leaf_, leaves_), bytes / hosts, 2 * (leaves_ - 1));
      within_leaves(bytes);
    }
  }
  Workload take() { return std::move(workload_); }

 private:
  using Ids = std::vector<TransferId>;

  static std::vector<HostIndex> members(std::size_t first, std::size_t stride, std::size_t count) {
    std::vector<HostIndex> made;
    for (std::size_t i = 0; i < count; ++i)
      made.push_back(static_cast<HostIndex>(first + i * stride));
    return made;
  }

  TransferId send(HostIndex from, HostIndex to, std::uint64_t bytes, Ids after) {
    Step step;
    step.transfer.from = from;
    step.transfer.to = to;
    step.transfer.bytes = std::max<std::uint64_t>(bytes, 1);
    step.after = std::move(after);
    step.not_before = ready_;
    workload_.push_back(std::move(step));
    return static_cast<TransferId>(workload_.size() - 1);
  }

  // Passes data along a ring for this number of stages: a host forwards what it has received.
  void pass(const std::vector<HostIndex>& ring, std::uint64_t chunk, std::size_t stages) {
    const std::size_t count = ring.size();
    for (std::size_t stage = 0; stage < stages; ++stage) {
      Ids arrived(count);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t next = (i + 1) % count;
        arrived[next] = send(ring[i], ring[next], chunk, before_[ring[i]]);
      }
      for (std::size_t i = 0; i < count; ++i)
        before_[ring[i]] = {arrived[i]};
    }
  }

  void within_leaves(std::uint64_t bytes) {
    for (std::size_t leaf = 0; leaf < leaves_; ++leaf)
      pass(members(leaf * in_leaf_, 1, in_leaf_), bytes / in_leaf_, in_leaf_ - 1);
  }

  // All-to-all, beginning with the neighbour.
  void exchange(std::uint64_t bytes) {
    const std::size_t hosts = before_.size();
    const std::size_t lanes =
        std::max<std::size_t>(kLanes, kUnderWayBytes / std::max<std::uint64_t>(bytes, 1));
    std::vector<Ids> arrived(hosts);
    std::vector<Ids> sent(hosts);
    for (std::size_t distance = 1; distance < hosts; ++distance) {
      for (std::size_t from = 0; from < hosts; ++from) {
        const std::size_t to = (from + distance) % hosts;
        Ids after = distance <= lanes ? before_[from] : Ids{sent[from][distance - 1 - lanes]};
        sent[from].push_back(send(static_cast<HostIndex>(from), static_cast<HostIndex>(to), bytes,
                                  std::move(after)));
        arrived[to].push_back(sent[from].back());
      }
    }
    before_ = std::move(arrived);
  }

  std::size_t leaves_;
  std::size_t in_leaf_;
  Duration ready_{0};
  Workload workload_;
  std::vector<Ids> before_;  // by host: transfers that must arrive before it sends
};

}  // namespace

const std::vector<Model>& models() {
  // A transformer layer of width h has 12 h^2 parameters, and a token needs as many multiply-adds
  // in it. Attention scores over 512 and 1024 tokens add at most a twelfth.
  const auto transformer = [](double embedding, std::size_t groups, LayerGroup group) {
    std::vector<LayerGroup> layers{{embedding, 0}};
    layers.insert(layers.end(), groups, group);
    return layers;
  };
  static const std::vector<Model> all = {
      {"ResNet50",
       256,
       {{0.01, 0.12}, {0.216, 0.68}, {1.220, 1.04}, {7.098, 1.47}, {14.965, 0.81}, {2.049, 0.002}}},
      {"VGG16",
       128,
       {{0.260, 4.71},
        {1.476, 4.63},
        {5.900, 4.63},
        {7.080, 1.39},
        {102.76, 0.103},
        {20.88, 0.021}}},
      {"BERT-large", 16 * 512, transformer(31.8, 6, {4 * 12.6, 4 * 0.0136})},
      {"GPT-2 XL", 4 * 1024, transformer(82.0, 12, {4 * 30.7, 4 * 0.0340})},
  };
  return all;
}

StepPlan step_of(const Model& model, double tera_flops, double part) {
  const auto time_of = [&](double giga_macs) {
    return giga_macs * kFlopsOfMac * model.samples / (tera_flops * 1e3) * 1e9 * part;
  };
  double ns = 0;
  for (const LayerGroup& group : model.layers)
    ns += time_of(group.giga_macs);
  StepPlan plan;
  double bytes = 0;  // of layers whose gradients do not fill a bucket yet
  for (auto group = model.layers.rbegin(); group != model.layers.rend(); ++group) {
    ns += kBackward * time_of(group->giga_macs);
    bytes += group->mega_parameters * 1e6 * kBytes * part;
    if (bytes < kBucketBytes * part && std::next(group) != model.layers.rend()) continue;
    plan.buckets.push_back(
        {static_cast<std::uint64_t>(bytes), Duration(static_cast<std::int64_t>(ns))});
    bytes = 0;
  }
  plan.compute = plan.buckets.back().ready;
  return plan;
}

Workload training_step(const std::vector<Bucket>& buckets, AllReduce kind, std::size_t leaves,
                       std::size_t hosts_per_leaf) {
  Builder builder(leaves, hosts_per_leaf);
  for (const Bucket& bucket : buckets)
    builder.add(kind, bucket);
  return builder.take();
}

}  // namespace dlcp::simulate
