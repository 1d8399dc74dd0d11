// A channel's connections to the ranks that it receives from and sends to, and the basic steps of
// every algorithm, in NCCL's protocol "Simple": each connection has a ring of slots, whose tail the
// sender moves and whose head the receiver moves.
#pragma once

#include <algorithm>
#include <vector>

#include "channel.h"
#include "operation.h"

namespace nccl_host {

struct Slices {  // how a step is divided
  int per_step = 1;
  int slots = 1;  // per slice
};

template <class T>
class Links {
 public:
  Links(Channel& channel, const ncclDevWorkColl& work, Operation<T> operation, Slices slices,
        int connection)
      : channel_(channel),
        operation_(operation),
        slices_(slices),
        connection_(connection),
        input_(static_cast<const T*>(work.sendbuff)),
        output_(static_cast<T*>(work.recvbuff)) {
    if (work.netRegUsed != 0) die("a ring over registered buffers", work.netRegUsed);
  }
  Links(const Links&) = delete;
  ~Links() {
    for (End& end : from_)
      end.info->step = end.step;
    for (End& end : to_)
      end.info->step = end.step;
  }

  void receive_from(int peer) {  // -1: none
    if (peer < 0) return;
    from_.push_back(end_of(channel_.device().peers[peer]->recv[connection_]));
    write_counter(from_.back().info->head,
                  from_.back().step);  // returns the credits lost to rounding
  }
  void send_to(int peer) {
    if (peer >= 0) to_.push_back(end_of(channel_.device().peers[peer]->send[connection_]));
  }

  // A step: received data, and the input at `from` if it takes part, are reduced; the result is
  // stored in the output at `to` if it is kept, and sent on if requested. kNone: no such part.
  static constexpr ssize_t kNone = -1;
  struct Step {
    bool receives = false;
    bool sends = false;
    ssize_t from = kNone;
    ssize_t to = kNone;
    bool is_last = false;  // the reduction's last step
  };
  void run(const Step& step, ssize_t count) {
    count = std::max<ssize_t>(count, 0);
    constexpr ssize_t kGrain = 16;
    const ssize_t pieces = kGrain * slices_.per_step;
    const ssize_t slot =
        static_cast<ssize_t>(channel_.comm().buffSizes[NCCL_PROTO_SIMPLE] / NCCL_STEPS / sizeof(T));
    ssize_t slice = std::max((count + pieces - 1) / pieces * kGrain, slot * slices_.slots / 32);
    ssize_t done = 0;
    for (int i = 0; i < slices_.per_step && !channel_.is_aborted(); ++i, done += slice) {
      slice = std::min(slice, count - done);
      run_slice(step, done, slice);
    }
  }

 private:
  struct End {
    ncclConnInfo* info;
    std::uint64_t step;
  };

  End end_of(ncclConnInfo& info) const {
    const auto quantum = static_cast<std::uint64_t>(slices_.per_step) * slices_.slots;
    return {&info, (info.step + quantum - 1) / quantum * quantum};
  }

  static T* slot_of(const End& end) {
    char* const slots = end.info->buffs[NCCL_PROTO_SIMPLE];
    const std::uint64_t index = end.step % NCCL_STEPS;
    ncclConnFifo* const fifo = end.info->connFifo;
    if (fifo != nullptr && fifo[index].mode == NCCL_MODE_OFFSET)
      return reinterpret_cast<T*>(slots + *static_cast<volatile int*>(&fifo[index].offset));
    return reinterpret_cast<T*>(slots + index * static_cast<std::size_t>(end.info->stepSize));
  }

  void run_slice(const Step& step, ssize_t done, ssize_t count) {
    const auto slots = static_cast<std::uint64_t>(slices_.slots);
    std::vector<const T*> sources;
    std::vector<T*> targets;
    if (step.from != kNone) sources.push_back(input_ + step.from + done);
    if (step.receives) {
      for (End& end : from_) {
        channel_.wait([&] { return read_counter(end.info->tail) >= end.step + slots; });
        sources.push_back(slot_of(end));
      }
    }
    if (step.to != kNone) targets.push_back(output_ + step.to + done);
    if (step.sends) {
      for (End& end : to_) {
        channel_.wait(
            [&] { return read_counter(end.info->head) + NCCL_STEPS >= end.step + slots; });
        if (end.info->connFifo != nullptr)
          end.info->connFifo[end.step % NCCL_STEPS].size = count * static_cast<ssize_t>(sizeof(T));
        targets.push_back(slot_of(end));
      }
    }
    if (channel_.is_aborted()) return;
    compute(sources, targets, step, count);
    if (step.receives)
      for (End& end : from_)
        write_counter(end.info->head, end.step += slots);
    if (step.sends)
      for (End& end : to_)
        write_counter(end.info->tail, end.step += slots);
  }

  // Element by element, because a target may overlap a source.
  void compute(const std::vector<const T*>& sources, const std::vector<T*>& targets,
               const Step& step, ssize_t count) const {
    const bool before = step.from != kNone && operation_.has_before();
    const bool after = step.is_last && operation_.has_after();
    if (sources.size() == 1 && !before && !after) {
      for (T* target : targets)
        std::memmove(target, sources[0], static_cast<std::size_t>(count) * sizeof(T));
      return;
    }
    for (ssize_t i = 0; i < count; ++i) {
      T result = before ? operation_.before(sources[0][i]) : sources[0][i];
      for (std::size_t k = 1; k < sources.size(); ++k)
        result = operation_.reduce(result, sources[k][i]);
      if (after) result = operation_.after(result);
      for (T* target : targets)
        target[i] = result;
    }
  }

  Channel& channel_;
  const Operation<T> operation_;
  const Slices slices_;
  const int connection_;
  const T* const input_;
  T* const output_;
  std::vector<End> from_;
  std::vector<End> to_;
};

}  // namespace nccl_host
