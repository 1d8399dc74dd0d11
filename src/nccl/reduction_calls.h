// How much of each call of the collective plugin is data. NCCL hands over whole slots of its
// buffer, with stale bytes behind the tensor's end; what the tensor is, only its profiler interface
// tells: before the first call of an all-reduce two operations for each of its channels, in the
// order in which all-reduces are executed.
//
// Where it is known: CollNet's chain. A call is one step of up to eight channels:
//   groups = ceil(channels / 8); call k is step k / groups of group k % groups, and begins at
//   (step * channels + 8 * group) * chunk of the tensor.
// That is seen, not promised (NCCL 2.28 to 2.30), so every call is compared with it; the first that
// differs ends all belief.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace dlcp::nccl {

// What a call holds: so many bytes of data, of an all-reduce that is counted from 1.
struct CallPart {
  std::size_t bytes = 0;
  std::uint64_t reduction = 0;
};

class ReductionCalls {
 public:
  // An operation of a collective's channel. `collective`: its number; `type`: NCCL's, of its
  // `tensor_bytes`.
  struct Operation {
    std::uint64_t collective = 0;
    int type = 0;
    std::size_t tensor_bytes = 0;
    std::size_t chunk_bytes = 0;
    std::size_t steps = 0;
  };
  void on_operation(const Operation& operation);
  // An all-reduce over CollNet in a form that is not known: nor are calls from now on.
  void on_unknown_form() { contradicted_ = true; }

  // How many of the next call's bytes are data; nullopt: not known.
  std::optional<std::size_t> next(std::size_t bytes, int type);
  // Which all-reduce, counted from 1, the call was of that next() told of last.
  std::uint64_t reduction() const { return told_; }
  // What NCCL tells does not fit what it does: no call is believed to be known any more.
  bool contradicted() const { return contradicted_; }

 private:
  static constexpr std::size_t kChannelsPerCall = 8;
  struct Reduction {
    Operation of;
    std::size_t operations = 0;
    std::size_t calls = 0;  // so far
    std::uint64_t number = 0;
  };

  std::deque<Reduction> started_;
  std::uint64_t announced_ = 0;
  std::uint64_t told_ = 0;
  bool contradicted_ = false;
};

}  // namespace dlcp::nccl
