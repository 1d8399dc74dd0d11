// All-reduces through a CollNet plugin, driven as NCCL's proxy and kernels drive it: each group of
// channels has eight slots in either direction, calls are in the same order on all ranks, and only
// the oldest call of each group is tested.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/driver/all_reducer.h"
#include "cli/driver/collnet/collnet_calls.h"
#include "cli/driver/reduce.h"
#include "cli/driver/slots.h"
#include "cli/plugin/collnet_plugin.h"
#include "cli/plugin/nccl_part.h"

namespace dlcp::cli {

class CollNetReducer final : public AllReducer {
 public:
  // `plugin` and its `comm` outlive this. `nccl` describes the calls to the plugin; null: not
  // described.
  CollNetReducer(CollNetPlugin& plugin, void* comm, const Reduction& reduction, std::size_t bytes,
                 int channels, int ranks, NcclPart* nccl = nullptr);

  void restart() override;
  bool step(const void* input, void* output) override;
  bool done() const override { return finished_ == calls_.count(); }
  // The bytes that any all-reduce has to receive: 2 (N - 1) / N of the vector.
  std::uint64_t bytes_received() const override { return bytes_; }
  // Bytes behind the results that the plugin has overwritten.
  std::uint64_t overruns() const;

 private:
  static constexpr std::size_t kSlots = 8;  // NCCL_STEPS
  struct Channels {                         // of one group
    Slots inputs;
    Slots results;
    std::array<void*, kSlots> requests{};
    std::uint64_t posted = 0;  // since the beginning
    std::uint64_t finished = 0;
  };

  bool test(Channels& channels, std::size_t group, std::byte* output);
  bool post(const std::byte* input);
  void announce();

  CollNetPlugin& plugin_;
  void* comm_;
  NcclPart* nccl_;
  Reduction reduction_;
  CollNetCalls calls_;
  std::size_t channels_;
  std::size_t ranks_;
  std::vector<std::unique_ptr<Channels>> groups_;
  std::uint64_t base_ = 0;      // calls of each group before this all-reduce
  std::uint64_t posted_ = 0;    // of this all-reduce
  std::uint64_t finished_ = 0;  // of this all-reduce
  bool filled_ = false;         // the next call's slot has its input
  std::uint64_t bytes_ = 0;
};

}  // namespace dlcp::cli
