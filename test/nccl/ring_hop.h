// Two neighbours in a ring of NCCL ranks, and the messages from the first to the second: the plugin
// opened as NCCL opens it, told about every message as NCCL tells it, and nothing else. All bytes
// that are sent differ from zero, so what was lost can be counted.
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
  int profiler_version = 6;             // 0: NCCL has not taken our profiler
  int ranks = 4;                        // of the communicator
  std::uint64_t profiled_comm_id = 77;  // 77 is the network's; another one: a child of a split
  int communicator_class = -1;
  std::optional<int> receiver_communicator_class = std::nullopt;  // if not the same
};

struct HopRun {
  cli::CollectiveCall call;
  int steps = 0;                 // messages of the operation
  std::size_t bytes = 0;         // of each message
  std::size_t posted_bytes = 0;  // that its receive has room for
  int chunk_bytes = 0;           // as NCCL says it
  // Deviations from what NCCL does, or does in special cases.
  bool tells_attributes = true;
  std::optional<cli::AttributeBits> attributes = std::nullopt;
  bool proxy_of_other_process = false;
  void* collective[2] = {nullptr, nullptr};  // captured earlier (CUDA graph)
};

class RingHop {
 public:
  explicit RingHop(const HopOptions& options);
  ~RingHop();
  RingHop(const RingHop&) = delete;
  RingHop& operator=(const RingHop&) = delete;

  // Runs an operation: bytes lost of each of its messages. Anything else that is wrong fails the
  // test.
  std::vector<std::size_t> run(const HopRun& run);
  // A message of the operation from the second rank to the first, as in a ring of two.
  void run_back(const HopRun& run);
  // The collective's event at both ends, for HopRun::collective.
  void capture(HopRun& run);
  bool events_wanted() const;
  // NCCL takes our tuner for a communicator of so many ranks (the network's is 77), or lets go of
  // what it took.
  void take_tuner(std::uint64_t comm_id, std::size_t ranks);
  void drop_tuners();

 private:
  struct Side {
    explicit Side(cli::LoadedPlugin loaded) : plugin(std::move(loaded)) {}
    cli::NetPlugin& net() { return plugin.net(); }
    cli::LoadedPlugin plugin;
    std::unique_ptr<cli::NcclPart> part;
    void* comm = nullptr;
    void* back = nullptr;  // the other way
    std::vector<std::byte> memory;
    void* registration = nullptr;
  };
  void connect(Side& from, Side& to, void** send, void** recv, void** listener);
  void tell(Side& side, const HopRun& run);
  std::unique_ptr<cli::ProxyOperation> start(int side, const HopRun& run);
  void move(const HopRun& run, cli::ProxyOperation* from, cli::ProxyOperation* to);

  std::vector<std::unique_ptr<Side>> sides_;  // sender, receiver
  void* listeners_[2] = {nullptr, nullptr};
  std::vector<void*> tuners_;  // contexts
  std::uint64_t seed_ = 1;
};

std::size_t total(const std::vector<std::size_t>& lost);

}  // namespace dlcp::test
