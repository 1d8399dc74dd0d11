// Describes the messages of a stream with a loss budget to the plugin, as if NCCL sent them: one
// ring ReduceScatter after the other, each with two slices for each of its n - 1 stages.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "cli/bench/cases/bench_case.h"
#include "cli/plugin/nccl_part.h"

namespace dlcp::cli {

inline CollectiveCall stream_call(const BenchCase& c) {
  CollectiveCall call;
  call.function = "ReduceScatter";
  call.count = 2 * c.size / sizeof(float);
  return call;
}

class OperationFeed {
 public:
  // `nccl` null: no message is described.
  OperationFeed(NcclPart* nccl, const BenchCase& c, bool sends)
      : nccl_(nccl), call_(stream_call(c)), steps_(2 * (c.ranks - 1)), sends_(sends) {}

  // The handle to pass with `message`. Messages come in order; the same one may come again.
  void* phandle(std::uint64_t message) {
    if (nccl_ == nullptr) return nullptr;
    const auto steps = static_cast<std::uint64_t>(steps_);
    while (begun_ <= message / steps) {
      operations_.push_back(
          std::make_unique<ProxyOperation>(*nccl_, nccl_->start_collective(call_), steps_, sends_));
      begun_++;
      if (operations_.size() > 2) operations_.pop_front();
    }
    return operations_.back()->phandle(static_cast<int>(message % steps));
  }

 private:
  NcclPart* nccl_;
  CollectiveCall call_;
  int steps_;
  bool sends_;
  std::uint64_t begun_ = 0;
  std::deque<std::unique_ptr<ProxyOperation>> operations_;  // the newest last
};

}  // namespace dlcp::cli
