// Two neighbours in a ring of NCCL ranks, and the messages from the first to the second. The plugin
// is opened, and informed about every message, exactly as by NCCL. All bytes sent differ from zero,
// so lost bytes can be counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/plugin/net_plugin.h"

namespace dlcp::test {

struct HopOptions {
  int net_version = 12;
  int profiler_version = 6;             // 0: NCCL has not loaded DLCP's profiler
  int ranks = 4;                        // of the communicator
  std::uint64_t profiled_comm_id = 77;  // 77 is the network's; another: a child of ncclCommSplit
  int communicator_class = -1;
  std::optional<int> receiver_communicator_class = std::nullopt;  // if different from the sender's
  bool tuner_is_first = false;  // take_tuner() before the connections are made
  bool child_is_first = false;  // a child begins before they are made (as they are at first use)
};

struct HopRun {
  cli::CollectiveCall call;
  int steps = 0;                 // messages of the operation
  std::size_t bytes = 0;         // of each message
  std::size_t posted_bytes = 0;  // the size of its receive
  int chunk_bytes = 0;           // as NCCL states it
  // Deviations from NCCL's usual behaviour, or its special cases.
  bool tells_attributes = true;
  std::optional<cli::AttributeBits> attributes = std::nullopt;
  bool proxy_of_other_process = false;
  bool of_child = false;  // of another communicator, which shares the connections (splitShare)
  void* collective[2] = {nullptr, nullptr};  // captured earlier (CUDA graph)
};

class RingHop {
 public:
  explicit RingHop(const HopOptions& options);
  ~RingHop();
  RingHop(const RingHop&) = delete;
  RingHop& operator=(const RingHop&) = delete;

  // Runs an operation and returns the bytes lost of each message. Any other error fails the test.
  std::vector<std::size_t> run(const HopRun& run);
  // Sends one message of the operation from the second rank to the first, as in a ring of two.
  void run_back(const HopRun& run);
  // Records the collective's event at both ends, for HopRun::collective.
  void capture(HopRun& run);
  bool events_wanted() const;
  // NCCL loads DLCP's tuner for a communicator of `ranks` ranks (the network's id is 77); 0 unloads
  // those loaded.
  void take_tuner(std::uint64_t comm_id, std::size_t ranks);
  void drop_tuners();

 private:
  struct Side {
    explicit Side(cli::LoadedPlugin loaded) : plugin(std::move(loaded)) {}
    cli::NetPlugin& net() { return plugin.net(); }
    cli::LoadedPlugin plugin;
    std::unique_ptr<cli::NcclPart> part;
    std::unique_ptr<cli::NcclPart> child;  // once it has begun
    void* comm = nullptr;
    void* back = nullptr;  // connection in the other direction
    std::vector<std::byte> memory;
    void* registration = nullptr;
  };
  void connect(Side& from, Side& to, void** send, void** recv, void** listener);
  void tell(Side& side, const HopRun& run);
  void begin_child(int side);
  std::unique_ptr<cli::ProxyOperation> start(int side, const HopRun& run);
  void move(const HopRun& run, cli::ProxyOperation* from, cli::ProxyOperation* to);

  std::vector<std::unique_ptr<Side>> sides_;  // sender, receiver
  void* listeners_[2] = {nullptr, nullptr};
  std::vector<void*> tuners_;  // contexts
  std::uint64_t seed_ = 1;
};

std::size_t total(const std::vector<std::size_t>& lost);

}  // namespace dlcp::test
