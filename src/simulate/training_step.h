// One step of data-parallel training: forward, then backward from the last layers to the first;
// as soon as the gradient of some layers is there, it is summed over all hosts, one sum after the
// other as NCCL does on a stream.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "simulate/job.h"

namespace dlcp::simulate {

// Layers whose gradient is summed at once. Sizes and arithmetic follow from the architecture.
struct LayerGroup {
  double mega_parameters = 0;
  double giga_macs = 0;  // multiply-and-adds of a sample, forward; backward takes twice that
};
struct Model {
  std::string_view name;
  double samples = 0;              // that a host computes in a step
  std::vector<LayerGroup> layers;  // in the order of forward
};
const std::vector<Model>& models();

// What a step moves and when.
struct Bucket {
  std::uint64_t bytes = 0;
  Duration ready{0};  // after the step has begun
};
struct StepPlan {
  std::vector<Bucket> buckets;
  Duration compute{0};
};
// Four bytes a parameter, summed in buckets of 25 MB; at `tera_flops` a second. Of bytes and
// arithmetic the same part, 0 .. 1.
StepPlan step_of(const Model& model, double tera_flops, double part);

enum class AllReduce {
  kRing,
  kHierarchical,  // within a leaf, across leaves, within a leaf, each by rings
  kDirect         // everybody's share to its owner, and back
};

// Hosts are numbered leaf by leaf, and so are the rings.
Workload training_step(const std::vector<Bucket>& buckets, AllReduce kind, std::size_t leaves,
                       std::size_t hosts_per_leaf);

}  // namespace dlcp::simulate
