// Ranks of one communicator in one process, set up and driven through the collective plugin's
// newest table as NCCL does it: connect in a thread of each rank, calls from one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nccl/abi/collnet.h"
#include "nccl/plugin.h"

namespace dlcp::test {

// The plugin in an environment with `settings`, and a rank of its net plugin, which NCCL
// initialises before the collective plugin. Messages so far are dropped from the log.
struct CollectivePlugin {
  explicit CollectivePlugin(const Settings& settings = {});
  std::unique_ptr<Plugin> plugin;
  std::unique_ptr<Rank> rank;
};

// Between -0.5 and 0.5, the same for the same seed.
std::vector<std::vector<float>> random_inputs(int ranks, std::size_t count, std::uint64_t seed);
// Added in rank order, as the plugin does.
std::vector<float> sum_of(const std::vector<std::vector<float>>& inputs);

class CollectiveGroup {
 public:
  struct Member {
    void* context = nullptr;
    void* listening = nullptr;
    void* group = nullptr;
    Handle handle{};
    ResultCode connected = ResultCode::kInternalError;
  };

  CollectiveGroup(const Plugin& plugin, int ranks, std::uint64_t comm_id = 7);
  ~CollectiveGroup();
  CollectiveGroup(const CollectiveGroup&) = delete;
  CollectiveGroup& operator=(const CollectiveGroup&) = delete;

  const nccl::CollNetV12& table() const { return *table_; }
  int ranks() const { return static_cast<int>(members_.size()); }
  Member& rank(int rank) { return members_[static_cast<std::size_t>(rank)]; }
  // On all ranks at the same time, except those in `without`.
  void connect(const std::vector<int>& without = {});
  void close(int rank);

  // A sum on one rank, of as many elements as the result has.
  ResultCode start(int rank, const std::vector<float>& input, std::vector<float>& result,
                   void** request);
  ResultCode finish(void* request);  // kTimeout: it is still pending after 10 s
  // Starts a call and waits for it on all ranks; returns the code of each rank's last call into the
  // plugin.
  std::vector<ResultCode> all_reduce(const std::vector<std::vector<float>>& inputs,
                                     std::vector<std::vector<float>>& results);

 private:
  const nccl::CollNetV12* table_;
  std::vector<Member> members_;
};

}  // namespace dlcp::test
