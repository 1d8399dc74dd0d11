// NCCL's side of the profiler interface: the events that it starts around each message, and the
// callback by which a net plugin adds its own events. A plugin learns from these and from
// setNetAttr what a transfer is, so a loss budget has an effect only with both.
#pragma once

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "nccl/abi/profiler/profiler.h"
#include "nccl/abi/types.h"

namespace dlcp::cli {

// A collective as the profiler interface describes it.
struct CollectiveCall {
  const char* function = "AllReduce";
  const char* algorithm = "RING";
  const char* protocol = "SIMPLE";
  const char* datatype = "ncclFloat32";
  std::size_t count = 0;
  std::uint8_t channels = 1;
  const void* input = nullptr;  // this rank's buffer
};

// The same in setNetAttr's bits; all ones for a word whose number in NCCL is not known here.
struct AttributeBits {
  std::uint32_t function, algorithm, protocol;
};
AttributeBits bits_of(const CollectiveCall& call);

// One communicator's profiler, in one rank.
class NcclPart {
 public:
  // The plugin's table of `version`, or the highest (0); null if there is none.
  static std::unique_ptr<NcclPart> open(void* library, int version = 0);
  // The callback that the net plugin's init receives.
  static nccl::ResultCode callback(void** event, int type, void* phandle, std::int64_t id,
                                   void* data);
  virtual ~NcclPart() = default;

  virtual int version() const = 0;
  virtual nccl::ResultCode init(std::uint64_t comm_id, int ranks, int rank,
                                nccl::DebugLogger logger) = 0;
  virtual nccl::ResultCode finalize() = 0;
  // An event is started only if the plugin's mask asks for it and its parent has been started.
  virtual void* start_collective(const CollectiveCall& call) = 0;
  virtual void* start_operation(void* collective, const nccl::ProfiledProxyOp& operation) = 0;
  virtual void* start_step(void* operation, int step) = 0;
  virtual void* start_kernel(void* collective, std::uint8_t channel) = 0;
  virtual void start_net_event(void* step, std::int64_t id, void* data) = 0;
  // An event that was not started (null) has no state and no end.
  virtual void record_state(void* event, int state) = 0;
  virtual void stop(void* event) = 0;

  bool events_wanted() const { return mask_ != 0; }

 protected:
  int mask_ = 0;
};

// A collective on one channel in one direction (NCCL's proxy operation).
class ProxyOperation {
 public:
  static constexpr int kChunkBytes = 4 << 20;  // of NCCL_BUFFSIZE's default

  // `chunk_bytes`: NCCL passes four times the size of a receive for a ring of the Simple protocol.
  // `pid`: that of another process if its proxy does the work (PXN).
  ProxyOperation(NcclPart& part, void* collective, int steps, bool sends,
                 int chunk_bytes = kChunkBytes, pid_t pid = getpid());
  ProxyOperation(const ProxyOperation&) = delete;
  ProxyOperation& operator=(const ProxyOperation&) = delete;

  // The operation's event ends with it.
  ~ProxyOperation();

  // Starts the step's event, again on each call, and returns the handle for isend or irecv.
  void* phandle(int step);
  // The plugin took the step's receive.
  void receive_posted(int step);
  // The step's message has arrived, or has been sent; its event ends.
  void finished(int step, bool receive);

  // The target of a phandle in NCCL 2.27 to 2.30; opaque to plugins.
  struct StepHandle {
    void* event = nullptr;
    ProxyOperation* operation = nullptr;  // null: of no operation; its events are ignored
  };

 private:
  friend class NcclPart;
  static constexpr int kStepsUnderWay = 8;  // NCCL_STEPS

  StepHandle& slot(int step) { return steps_[static_cast<std::size_t>(step % kStepsUnderWay)]; }

  NcclPart& part_;
  void* event_;
  std::array<StepHandle, kStepsUnderWay> steps_;
};

}  // namespace dlcp::cli
