// The terms of this process's direct-exchange groups, for the tuner. They are found by NCCL's ID of
// the communicator, whose group is set up before its calls are tuned.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace dlcp::nccl {

// These are the same on all ranks of the group.
struct DirectTerms {
  std::uint32_t ranks = 0;       // of the group, which are NCCL's nodes
  std::uint32_t speed_mbps = 0;  // of the slowest rank's devices
  bool always = false;           // DLCP_COLLNET=on, DLCP_PLAN or DLCP_COLLNET_SWITCH
  std::uint32_t hubs = 0;        // number of hubs, which own all blocks; 0: the ranks own them
  std::uint32_t loss_ppm = 0;    // share of contributions that may be lost
};

class DirectGroups {
 public:
  // Never destroyed, because NCCL's threads may outlive exit().
  static DirectGroups& of_process();

  // A child communicator with its parent's connections (splitShare) adds its group under the
  // parent's ID, after the parent. The parent's terms stay, because the parent's ranks may be in
  // children of different terms.
  void add(std::uint64_t comm_id, const DirectTerms& terms);
  void remove(std::uint64_t comm_id);
  std::optional<DirectTerms> find(std::uint64_t comm_id);

 private:
  struct Entry {
    DirectTerms terms;
    int groups = 0;  // several if ranks of a communicator share the process, or with splitShare
  };
  std::mutex mutex_;
  std::map<std::uint64_t, Entry> entries_;
};

}  // namespace dlcp::nccl
