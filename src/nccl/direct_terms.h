// What the groups of direct exchange in this process have agreed on, for the tuner: by NCCL's
// number of the communicator, which is set up before anything of it is tuned.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace dlcp::nccl {

// The same on all ranks of the group.
struct DirectTerms {
  std::uint32_t ranks = 0;       // of the group: of NCCL's nodes
  std::uint32_t speed_mbps = 0;  // of the slowest rank's devices
  bool always = false;           // DLCP_COLLNET=on
  std::uint32_t hubs = 0;        // that own all blocks; 0: the ranks do
  std::uint32_t loss_ppm = 0;    // of contributions that may be lost
};

class DirectGroups {
 public:
  // Never destroyed: NCCL's threads may outlive exit.
  static DirectGroups& of_process();

  void add(std::uint64_t comm_id, const DirectTerms& terms);
  void remove(std::uint64_t comm_id);
  std::optional<DirectTerms> find(std::uint64_t comm_id);

 private:
  struct Entry {
    DirectTerms terms;
    int groups = 0;  // several ranks of a communicator in one process
  };
  std::mutex mutex_;
  std::map<std::uint64_t, Entry> entries_;
};

}  // namespace dlcp::nccl
