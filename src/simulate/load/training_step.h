// One step of data-parallel training: forward, then backward from the last layers to the first.
// When the gradient of some layers is complete, it is summed over all hosts, one sum after the
// other, like NCCL operations on one stream.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "simulate/load/job.h"

namespace dlcp::simulate {

// Layers whose gradient is summed together. Sizes and arithmetic follow from the architecture.
struct LayerGroup {
  double mega_parameters = 0;
  double giga_macs = 0;  // multiply-adds of a sample, forward; backward takes twice as many
};
struct Model {
  std::string_view name;
  double samples = 0;              // computed by a host in a step
  std::vector<LayerGroup> layers;  // in forward order
};
const std::vector<Model>& models();

// The gradient bytes that a step sums together, and the time when they are ready.
struct Bucket {
  std::uint64_t bytes = 0;
  Duration ready{0};  // after the step has begun
};
struct StepPlan {
  std::vector<Bucket> buckets;
  Duration compute{0};
};
// Four bytes per parameter, summed in buckets of 25 MB; computed at `tera_flops` per second.
// `part`: scales both bytes and arithmetic, 0 .. 1.
StepPlan step_of(const Model& model, double tera_flops, double part);

enum class AllReduce {
  kRing,
  kHierarchical,  // within a leaf, across leaves, within a leaf, each by rings
  kDirect         // each rank's share to its owner, and the sum back
};

// Hosts are numbered leaf by leaf, and rings follow the numbers.
Workload training_step(const std::vector<Bucket>& buckets, AllReduce kind, std::size_t leaves,
                       std::size_t hosts_per_leaf);

}  // namespace dlcp::simulate
