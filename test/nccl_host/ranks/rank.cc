#include "rank.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "device/counts.h"

namespace nccl_host {

Rank::Rank(World& world, int rank, int ranks, int per_host)
    : world_(world), rank_(rank), ranks_(ranks) {
  const std::string host = "host" + std::to_string(rank / per_host);
  setenv("NCCL_HOSTID", host.c_str(), 1);
  cudaSetDevice(rank % per_host);
  stream_ = open_stream();
}

cudaStream_t Rank::open_stream() const {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

ncclComm_t Rank::open(int which) {
  if (rank_ == 0) {
    require(ncclGetUniqueId(&world_.ids[static_cast<std::size_t>(which)]), "ncclGetUniqueId");
    world_.ids_made = which + 1;
  }
  while (world_.ids_made <= which)
    usleep(1000);
  ncclComm_t comm = nullptr;
  require(ncclCommInitRank(&comm, ranks_, world_.ids[static_cast<std::size_t>(which)], rank_),
          "ncclCommInitRank");
  return comm;
}

void Rank::require(ncclResult_t result, const char* what, ncclComm_t comm) const {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "rank %d: %s: %s (%s)\n", rank_, what, ncclGetErrorString(result),
               ncclGetLastError(comm));
  _exit(kRefused);
}

void Rank::finish(ncclComm_t comm, cudaStream_t stream) const {
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    ncclResult_t failed = ncclSuccess;
    require(ncclCommGetAsyncError(comm, &failed), "ncclCommGetAsyncError", comm);
    if (failed != ncclSuccess) {
      std::fprintf(stderr, "rank %d: the communicator failed: %s\n", rank_,
                   ncclGetErrorString(failed));
      require(ncclCommAbort(comm), "ncclCommAbort");
      cudaStreamSynchronize(stream);
      _exit(kCommFailed);
    }
    usleep(50);
  }
}

void Rank::check(const Reduction& reduction, int group) {
  const Found found = reduction.check();
  count_wrong(found.wrong, reduction.shape().count, found.first);
  if (checks_ < kChecksMax)
    world_.digests[static_cast<std::size_t>(rank_)][static_cast<std::size_t>(checks_++)] = {
        found.digest, group};
}

void Rank::count_wrong(std::size_t wrong, std::size_t elements, const std::string& first) {
  if (wrong > 0 && wrong_ == 0) std::fprintf(stderr, "rank %d: %s\n", rank_, first.c_str());
  wrong_ += wrong;
  world_.wrong += static_cast<long>(wrong);
  world_.elements += static_cast<long>(elements);
  ++world_.results;
}

void Rank::close(ncclComm_t comm) const {
  require(ncclCommFinalize(comm), "ncclCommFinalize", comm);
  require(ncclCommDestroy(comm), "ncclCommDestroy");
}

int Rank::end(const std::vector<ncclComm_t>& comms) {
  for (ncclComm_t comm : comms)
    close(comm);
  const NcclHostCounts counts = nccl_host_counts();
  world_.chains += counts.chains;
  world_.rings += counts.rings;
  return wrong_ == 0 ? kDone : kWrong;
}

}  // namespace nccl_host
