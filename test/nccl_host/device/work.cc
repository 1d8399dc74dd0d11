// The work of NCCL's kernels on a GPU, done by one thread per channel: reads the batches of a
// launch and runs the algorithm of each. Layouts come from the headers of the NCCL version that is
// built.
#include <time.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "algorithms.h"
#include "alloc.h"
#include "bitops.h"
#include "collectives.h"
#include "comm.h"
#include "counts.h"
#include "device.h"
#include "sym_kernels.h"

namespace {

using namespace nccl_host;

std::atomic<long> chains;
std::atomic<long> rings;

// The meaning of a function's number: the inverse of ncclDevFuncId().
struct Function {
  int collective = -1;
  int operation = 0;
  int type = 0;
  int algorithm = 0;
};

std::vector<Function> make_functions() {
  std::vector<Function> functions;
  const auto put = [&](Function function) {
    const int id = ncclDevFuncId(function.collective, function.operation, function.type,
                                 function.algorithm, NCCL_PROTO_SIMPLE);
    if (id < 0) return;
    if (static_cast<std::size_t>(id) >= functions.size())
      functions.resize(static_cast<std::size_t>(id) + 1);
    if (functions[id].collective < 0) functions[id] = function;
  };
  put({ncclFuncAllGather, 0, 0, NCCL_ALGO_RING});
  for (int operation = 0; operation < ncclNumDevRedOps; ++operation) {
    for (const int type : {ncclUint8, ncclUint32, ncclUint64, ncclFloat16, ncclFloat32, ncclFloat64,
                           ncclBfloat16}) {  // signed integers use the unsigned functions
      put({ncclFuncAllReduce, operation, type, NCCL_ALGO_RING});
      put({ncclFuncAllReduce, operation, type, NCCL_ALGO_COLLNET_CHAIN});
      put({ncclFuncReduceScatter, operation, type, NCCL_ALGO_RING});
    }
  }
  return functions;
}

template <class T>
void reduce(Channel& channel, const Function& function, ncclDevWorkColl* work) {
  std::uint64_t argument = work->redOpArg;
  if (work->redOpArgIsPtr != 0) {
    const void* const place = reinterpret_cast<const void*>(argument);
    argument = 0;
    std::memcpy(&argument, place, sizeof(T));
  }
  const Operation<T> operation(function.operation, argument);
  if (function.collective == ncclFuncReduceScatter) {
    reduce_scatter_ring<T>(channel, work, operation);
  } else if (function.algorithm == NCCL_ALGO_COLLNET_CHAIN) {
    ++chains;
    all_reduce_chain<T>(channel, work, operation);
  } else {
    ++rings;
    all_reduce_ring<T>(channel, work, operation);
  }
}

void run(Channel& channel, const Function& function, ncclDevWorkColl* work) {
  if (work->regUsed != 0) die("a collective over memory of other processes", work->regUsed);
  if (function.collective == ncclFuncAllGather) return all_gather_ring(channel, work);
  switch (function.type) {
    case ncclUint8:
      return reduce<std::uint8_t>(channel, function, work);
    case ncclUint32:
      return reduce<std::uint32_t>(channel, function, work);
    case ncclUint64:
      return reduce<std::uint64_t>(channel, function, work);
    case ncclFloat16:
      return reduce<__half>(channel, function, work);
    case ncclFloat32:
      return reduce<float>(channel, function, work);
    case ncclFloat64:
      return reduce<double>(channel, function, work);
    case ncclBfloat16:
      return reduce<__nv_bfloat16>(channel, function, work);
    default:
      die("data type", function.type);
  }
}

// Records for the profiler when a kernel began and ended.
void note(ncclDevProfiler* records, const Channel& channel, std::uint64_t counter) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  auto& record = records[channel.id()].data[counter % MAX_PROFILER_EVENTS_PER_CHANNEL];
  record.timestamp = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                     static_cast<std::uint64_t>(now.tv_nsec);
  write_counter(&record.counter, counter);
}

// The works of the batch at `index` and of the batches that extend it; moves `index` to the last of
// them.
std::vector<ncclDevWorkColl*> works_of(const ncclDevKernelArgs* arguments, int& index) {
  const auto* const batches = reinterpret_cast<const ncclDevWorkBatch*>(arguments + 1);
  std::vector<ncclDevWorkColl*> works;
  for (;; index += batches[index].nextJump) {
    const ncclDevWorkBatch batch = batches[index];
    if (batch.workType != ncclDevWorkTypeColl) die("work of type", batch.workType);
    const std::size_t size = ncclDevWorkSize(ncclDevWorkTypeColl);
    for (std::uint64_t bits = batch.offsetBitset; bits != 0; bits &= bits - 1) {
      const std::size_t offset = batch.offsetBase + __builtin_ctzll(bits) * size;
      char* const place =
          arguments->workStorageType == ncclDevWorkStorageTypeArgs
              ? reinterpret_cast<char*>(const_cast<ncclDevKernelArgs*>(arguments)) + offset
              : static_cast<char*>(arguments->workBuf) + (offset & arguments->workMask);
      works.push_back(reinterpret_cast<ncclDevWorkColl*>(place));
    }
    if (!batch.nextExtends) return works;
  }
}

void run_channel(const ncclDevKernelArgs* arguments, int first_batch, int id) {
  static const std::vector<Function> functions = make_functions();
  const auto* const batches = reinterpret_cast<const ncclDevWorkBatch*>(arguments + 1);
  auto* const all = reinterpret_cast<ncclKernelCommAndChannels*>(arguments->comm);
  Channel channel(all, id);
  for (int index = first_batch; !channel.is_aborted();) {
    const std::vector<ncclDevWorkColl*> works = works_of(arguments, index);
    const ncclDevWorkBatch& batch = batches[index];
    if (batch.funcId >= functions.size() || functions[batch.funcId].collective < 0)
      die("function (NCCL_ALGO and NCCL_PROTO must keep to what is done here)", batch.funcId);
    const auto note_all = [&](ncclDevProfiler* records) {
      for (std::size_t i = 0; i < works.size(); ++i)
        if (works[i]->profilerEnabled) note(records, channel, channel.device().workCounter + 1 + i);
    };
    note_all(channel.comm().workStarted);
    for (ncclDevWorkColl* work : works)
      if (!channel.is_aborted()) run(channel, functions[batch.funcId], work);
    note_all(channel.comm().workCompleted);
    channel.device().workCounter += works.size();
    if (batch.nextJump == 0) return;
    index += batch.nextJump;
  }
}

// Each channel of the mask has a first batch.
void run_kernel(const void* packed) {
  const auto* const arguments = static_cast<const ncclDevKernelArgs*>(packed);
  std::vector<std::thread> threads;
  int batch = 0;
  for (std::uint64_t mask = arguments->channelMask; mask != 0; mask &= mask - 1)
    threads.emplace_back(run_channel, arguments, batch++, __builtin_ctzll(mask));
  for (auto& thread : threads)
    thread.join();
}

void run_symmetric(const void*) {
  die("a kernel over symmetric memory", 0);
}

using Kernel = void (*)(const void* arguments);
extern "C" void softcuda_register_kernel(const void* symbol, std::size_t bytes, Kernel kernel);

__attribute__((constructor)) void register_kernels() {
  for (int i = 0; i < ncclDevKernelCount; ++i)
    softcuda_register_kernel(ncclDevKernelList[i], 0, run_kernel);
  for (int i = 0; i < ncclSymkKernelCount; ++i)
    softcuda_register_kernel(ncclSymkKernelList[i], 0, run_symmetric);
}

}  // namespace

__attribute__((visibility("default"))) NcclHostCounts nccl_host_counts() {
  return {chains, rings};
}

// NCCL itself handles communicators of one rank; no case has one.
ncclResult_t ncclLaunchOneRank(void*, const void*, std::size_t, struct ncclDevRedOpFull,
                               ncclDataType_t, cudaStream_t) {
  std::fprintf(stderr, "nccl_host: communicators of one rank are not done here\n");
  return ncclInternalError;
}
