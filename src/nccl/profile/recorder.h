// Records collectives from NCCL's profiler events. One ring holds the collectives in flight, and
// another those that have ended. A full ring overwrites its oldest entry. Handles are numbers that
// are never reused, so a handle of an overwritten entry finds nothing.
//
// A collective begins with its first kernel event and ends with the last one. Without kernel events
// the operations of NCCL's proxy take their place. NCCL does not report the end of operations that
// go through CollNet. A captured CUDA graph repeats the events below one collective; each
// repetition becomes a record of its own.
//
// NCCL calls from several threads. Time is an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "util/time.h"
#include "whatif/run/run.h"

namespace dlcp::nccl {

class Recorder {
 public:
  using Handle = std::uint64_t;  // 0: none
  static constexpr std::size_t kRecordsMax = 16384;

  // An index for start_collective(). 0 if there are too many communicators: these share one entry.
  std::uint32_t add_communicator(const whatif::Communicator& communicator);

  // `inner`: the handle of the same event in EventTable, which is stored for inner_of().
  Handle start_collective(Time now, std::uint32_t communicator, const whatif::Kind& kind,
                          std::uint64_t bytes, Handle inner);
  Handle start_operation(Time now, Handle collective, std::uint8_t channel, bool sends,
                         Handle inner);
  Handle start_kernel(Time now, Handle collective, std::uint8_t channel);
  // 0 unless the step is of interest: of the one receive that is observed, or of an operation with
  // an inner handle.
  Handle start_step(Handle operation, std::uint32_t step);
  // A message of a step is now outstanding, or has arrived.
  void receive_posted(Time now, Handle step);
  void receive_arrived(Time now, Handle step);
  void stop(Time now, Handle event);

  Handle inner_of(Handle event);

  // Adds communicators, kinds and records to `run`; takes the lock for short times only.
  void copy_to(whatif::Run& run);
  std::uint64_t recorded();  // number of records ever written

 private:
  struct Collective {
    std::uint64_t number = 0;
    Handle inner = 0;
    whatif::Record record;
    std::uint64_t place = 0;        // number of its record, from 1; 0: not written yet
    std::uint64_t seen = 0;         // bits of channels and directions that have begun
    std::uint64_t observed = 0;     // number of the operation whose receives are observed
    std::uint64_t outstanding = 0;  // its posted receives, by step modulo 64
    std::int64_t blocked_since_ns = 0;
    std::uint32_t open_kernels = 0;  // that have begun and not ended
    std::uint32_t open_operations = 0;
    bool begun = false;
    bool kernels = false;  // kernel events were reported
    bool ended() const { return (kernels ? open_kernels : open_operations) == 0; }
  };
  struct Operation {
    std::uint64_t number = 0;
    std::uint64_t collective = 0;
    Handle inner = 0;
    bool observed = false;
  };

  struct Started {  // numbers of calls
    std::uint64_t collectives = 0;
    std::uint64_t point_to_point = 0;
  };

  Collective* collective_of(std::uint64_t number);
  Operation* operation_of(Handle handle);
  std::uint32_t kind_index(const whatif::Kind& kind);
  std::uint64_t next_sequence(const whatif::Record& record);
  void begin(Time now, Collective& collective, std::uint64_t bit);
  void end(Time now, Collective& collective, bool kernel);
  void write(Collective& collective);

  std::mutex mutex_;
  std::vector<whatif::Communicator> communicators_;
  std::vector<Started> started_;  // by communicator
  std::vector<whatif::Kind> kinds_;
  std::vector<Collective> collectives_;
  std::vector<Operation> operations_;
  std::vector<whatif::Record> records_;
  std::uint64_t collectives_started_ = 0;
  std::uint64_t operations_started_ = 0;
  std::uint64_t recorded_ = 0;
  bool kernels_ = false;
};

}  // namespace dlcp::nccl
