// One rank of a case: its number, its stream, and its handling of NCCL's errors.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <string>
#include <vector>

#include "reduction.h"
#include "world.h"

namespace nccl_host {

// Exit statuses of a rank.
inline constexpr int kDone = 0;
inline constexpr int kWrong = 1;       // a wrong result
inline constexpr int kRefused = 2;     // an NCCL call failed
inline constexpr int kCommFailed = 3;  // the communicator failed and was aborted cleanly

class Rank {
 public:
  Rank(World& world, int rank, int ranks, int per_host);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  cudaStream_t stream() const { return stream_; }

  ncclComm_t open(
      int which = 0);  // a communicator of all ranks; `which` counts from 0 to kCommsMax - 1
  cudaStream_t open_stream() const;
  void require(ncclResult_t result, const char* what, ncclComm_t comm = nullptr) const;

  // Waits until the stream is empty. An error of the communicator ends the process, as in a
  // framework.
  void finish(ncclComm_t comm, cudaStream_t stream) const;

  // Counts errors. `group`: the ranks that have the same result.
  void check(const Reduction& reduction, int group = 0);
  void count_wrong(std::size_t wrong, std::size_t elements, const std::string& first);

  void close(ncclComm_t comm) const;
  int end(const std::vector<ncclComm_t>& comms);  // the exit status

 private:
  World& world_;
  int rank_;
  int ranks_;
  cudaStream_t stream_ = nullptr;
  int checks_ = 0;
  std::size_t wrong_ = 0;
};

using Case = void (*)(Rank& me, std::vector<ncclComm_t>& comms);
Case case_named(const std::string& name);  // null: there is none
std::string case_names();

}  // namespace nccl_host
