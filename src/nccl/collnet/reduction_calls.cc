#include "nccl/collnet/reduction_calls.h"

#include <algorithm>

namespace dlcp::nccl {

const char* words_for(Unmatched why) {
  switch (why) {
    case Unmatched::kNot:
      break;
    case Unmatched::kDiffers:
      return "the all-reduces that NCCL's profiler reports differ from those that NCCL calls";
    case Unmatched::kForm:
      return "NCCL does not use its algorithm COLLNET_CHAIN, the only one whose tensor lengths "
             "DLCP can determine (see NCCL_ALGO)";
    case Unmatched::kDivided:
      return "several GPUs of this host share NCCL's channels, and DLCP does not know which part "
             "of a tensor each GPU has";
    case Unmatched::kForgotten:
      return "NCCL has executed an all-reduce whose length DLCP did not keep, because too many "
             "collectives were in one group or CUDA graph (DLCP keeps 2048)";
  }
  return "";
}

void ReductionCalls::on_operation(const Operation& operation) {
  if (unmatched_ != Unmatched::kNot || shared_) return;
  const bool next = started_.empty() || started_.back().of.collective != operation.collective;
  if (next) started_.push_back({operation, 0, 0, 0, ++announced_});
  Reduction& reduction = started_.back();
  ++reduction.operations;
  reduction.channels_end = std::max(reduction.channels_end, operation.channel + 1);
  // All channels have the same chunks, and all are announced before the first call.
  if (reduction.calls > 0 || operation.chunk_bytes != reduction.of.chunk_bytes ||
      operation.steps != reduction.of.steps)
    on_unknown(Unmatched::kDiffers);
}

void ReductionCalls::on_shared_connections() {
  shared_ = true;
  started_.clear();
}

bool ReductionCalls::is_divided(const Reduction& reduction) {
  const std::size_t channels = reduction.operations / 2;
  const std::size_t step = std::max<std::size_t>(1, channels * reduction.of.chunk_bytes);
  return reduction.channels_end != channels ||
         reduction.of.steps != (reduction.of.tensor_bytes + step - 1) / step;
}

std::optional<std::size_t> ReductionCalls::next(std::size_t bytes, int type) {
  if (unmatched_ != Unmatched::kNot || started_.empty()) return std::nullopt;
  Reduction& reduction = started_.front();
  const std::size_t channels = reduction.operations / 2;
  const std::size_t groups = (channels + kChannelsPerCall - 1) / kChannelsPerCall;
  if (reduction.operations % 2 != 0 || type != reduction.of.type) {
    on_unknown(Unmatched::kDiffers);
    return std::nullopt;
  }
  if (is_divided(reduction)) {
    on_unknown(Unmatched::kDivided);
    return std::nullopt;
  }
  const std::size_t step = reduction.calls / groups;
  const std::size_t first = reduction.calls % groups * kChannelsPerCall;
  const std::size_t chunk = reduction.of.chunk_bytes;
  if (bytes != std::min(kChannelsPerCall, channels - first) * chunk) {
    on_unknown(Unmatched::kDiffers);
    return std::nullopt;
  }
  const std::size_t offset = (step * channels + first) * chunk;
  const std::size_t left =
      offset < reduction.of.tensor_bytes ? reduction.of.tensor_bytes - offset : 0;
  told_ = reduction.number;
  if (++reduction.calls == groups * reduction.of.steps) started_.pop_front();
  return std::min(left, bytes);
}

}  // namespace dlcp::nccl
