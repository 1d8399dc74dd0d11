// Determines how much of each call of the collective plugin is data. NCCL passes whole slots of its
// buffer, with stale bytes after the tensor's end. Only its profiler interface describes the
// tensor: before the first call of an all-reduce, there are two operations for each of its
// channels, in the order in which all-reduces are executed.
//
// The known case is CollNet's chain. A call is one step of up to eight channels:
//   groups = ceil(channels / 8); call k is step k / groups of group k % groups, and begins at
//   (step * channels + 8 * group) * chunk of the tensor.
// This was observed, not documented (NCCL 2.28 to 2.30), so every call is compared with it. After
// the first mismatch, no call is considered known. One is that NCCL divides the channels of an
// all-reduce among several processes of a host: then this process does not have all channels, and
// the number of steps is not that of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace dlcp::nccl {

// The content of a call: its bytes of data, and the number of its all-reduce, counted from 1.
struct CallPart {
  std::size_t bytes = 0;
  std::uint64_t reduction = 0;
};

// Why no call is considered known any more.
enum class Unmatched : std::uint8_t {
  kNot,        // calls are matched
  kDiffers,    // the calls differ from what NCCL's profiler interface reports
  kForm,       // all-reduces of another form than CollNet's chain
  kDivided,    // other processes of the host have some of the channels
  kForgotten,  // too many collectives at once
};
// Continues "whole buffers are exchanged, because ...".
const char* words_for(Unmatched why);

class ReductionCalls {
 public:
  // An operation of a collective's channel. `collective` is its number; `type` is NCCL's type of
  // its `tensor_bytes`.
  struct Operation {
    std::uint64_t collective = 0;
    std::size_t channel = 0;
    int type = 0;
    std::size_t tensor_bytes = 0;
    std::size_t chunk_bytes = 0;
    std::size_t steps = 0;
  };
  void on_operation(const Operation& operation);
  // There is an all-reduce whose calls cannot be matched, so further calls are unknown, too.
  void on_unknown(Unmatched why) { unmatched_ = unmatched_ == Unmatched::kNot ? why : unmatched_; }
  // From now on other communicators' calls may arrive in between, so all calls are unknown.
  void on_shared_connections();

  // Number of data bytes in the next call; nullopt: unknown.
  std::optional<std::size_t> next(std::size_t bytes, int type);
  // The number, counted from 1, of the all-reduce that the last next() referred to.
  std::uint64_t reduction() const { return told_; }
  Unmatched unmatched() const { return unmatched_; }

 private:
  static constexpr std::size_t kChannelsPerCall = 8;
  struct Reduction;
  static bool is_divided(const Reduction& reduction);
  struct Reduction {
    Operation of;
    std::size_t operations = 0;
    std::size_t channels_end = 0;  // the highest channel + 1
    std::size_t calls = 0;         // so far
    std::uint64_t number = 0;
  };

  std::deque<Reduction> started_;
  std::uint64_t announced_ = 0;
  std::uint64_t told_ = 0;
  Unmatched unmatched_ = Unmatched::kNot;
  bool shared_ = false;
};

}  // namespace dlcp::nccl
