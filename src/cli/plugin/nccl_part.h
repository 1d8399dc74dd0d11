// NCCL's part in the profiler interface: the events that it starts around each message, and the
// callback by which a net plugin adds its own. With setNetAttr that is all a plugin may know of a
// transfer, so what plays this part has no other way to get a licence to lose.
#pragma once

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "nccl/abi/types.h"

namespace dlcp::cli {

// A collective in the profiler's words.
struct CollectiveCall {
  const char* function = "AllReduce";
  const char* algorithm = "RING";
  const char* protocol = "SIMPLE";
  const char* datatype = "ncclFloat32";
  std::size_t count = 0;
  std::uint8_t channels = 1;
};

// The same in setNetAttr's bits; all ones where NCCL's number of a word is not known here.
struct AttributeBits {
  std::uint32_t function, algorithm, protocol;
};
AttributeBits bits_of(const CollectiveCall& call);

// One communicator's profiler, in one rank.
class NcclPart {
 public:
  // The plugin's table of that version, or its highest (0); null if it has none.
  static std::unique_ptr<NcclPart> open(void* library, int version = 0);
  // What the net plugin's init is given.
  static nccl::ResultCode callback(void** event, int type, void* phandle, std::int64_t id,
                                   void* data);
  virtual ~NcclPart() = default;

  virtual int version() const = 0;
  virtual nccl::ResultCode init(std::uint64_t comm_id, int ranks, int rank,
                                nccl::DebugLogger logger) = 0;
  virtual nccl::ResultCode finalize() = 0;
  // Events are started only while the plugin's mask asks for them, and only below started ones.
  virtual void* start_collective(const CollectiveCall& call) = 0;
  virtual void* start_operation(void* collective, int steps, int chunk_bytes, bool sends,
                                pid_t pid) = 0;
  virtual void* start_step(void* operation, int step) = 0;
  virtual void start_net_event(void* step, std::int64_t id, void* data) = 0;

  bool events_wanted() const { return mask_ != 0; }

 protected:
  int mask_ = 0;
};

// A collective on one channel in one direction (NCCL's proxy operation).
class ProxyOperation {
 public:
  static constexpr int kChunkBytes = 4 << 20;  // of NCCL_BUFFSIZE's default

  // `chunk_bytes`: as NCCL says it of a Simple ring, four times what receives are posted with.
  // `pid`: another process's, if that process's proxy does the work (PXN).
  ProxyOperation(NcclPart& part, void* collective, int steps, bool sends,
                 int chunk_bytes = kChunkBytes, pid_t pid = getpid());
  ProxyOperation(const ProxyOperation&) = delete;
  ProxyOperation& operator=(const ProxyOperation&) = delete;

  // Starts the step's event, again if asked again, and returns what isend or irecv gets.
  void* phandle(int step);

  // What a phandle points to, as NCCL 2.27 to 2.30 lay it out; plugins must not look.
  struct StepHandle {
    void* event = nullptr;
    ProxyOperation* operation = nullptr;  // null: of no operation, and nobody answers
  };

 private:
  friend class NcclPart;
  static constexpr int kStepsUnderWay = 8;  // NCCL_STEPS

  NcclPart& part_;
  void* event_;
  std::array<StepHandle, kStepsUnderWay> steps_;
};

}  // namespace dlcp::cli
