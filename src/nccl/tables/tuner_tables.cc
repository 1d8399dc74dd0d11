// NCCL's tuner interface, versions 3 to 6. Only version 5 and later identify the communicator.
#include "nccl/abi/tuner.h"
#include "nccl/net/properties.h"
#include "nccl/tuner/tuner.h"

namespace dlcp::nccl {
namespace {

ResultCode init_unnamed(std::size_t ranks, std::size_t nodes, DebugLogger logger,
                        void** context) noexcept {
  return tuner::init(context, 0, ranks, nodes, logger);
}

ResultCode init(void** context, std::uint64_t comm_id, std::size_t ranks, std::size_t nodes,
                DebugLogger logger, void*, void*) noexcept {
  return tuner::init(context, comm_id, ranks, nodes, logger);
}

ResultCode choose_v3(void* context, int function, std::size_t bytes, int, float** costs,
                     int algorithms, int protocols, int*) noexcept {
  return tuner::choose(context, function, bytes, costs, algorithms, protocols);
}

ResultCode choose(void* context, int function, std::size_t bytes, int, float** costs,
                  int algorithms, int protocols, int, int*) noexcept {
  return tuner::choose(context, function, bytes, costs, algorithms, protocols);
}

ResultCode choose_chunk(void* context, int function, std::size_t bytes, int algorithm, int,
                        int channels, std::size_t* chunk) noexcept {
  return tuner::choose_chunk(context, function, bytes, algorithm, channels, chunk);
}

}  // namespace
}  // namespace dlcp::nccl

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C" __attribute__((visibility("default"))) const dlcp::nccl::TunerV3 ncclTunerPlugin_v3 = {
    .name = dlcp::nccl::kPluginName,
    .init = dlcp::nccl::init_unnamed,
    .getCollInfo = dlcp::nccl::choose_v3,
    .destroy = dlcp::nccl::tuner::finalize,
};
extern "C" __attribute__((visibility("default"))) const dlcp::nccl::TunerV4 ncclTunerPlugin_v4 = {
    .name = dlcp::nccl::kPluginName,
    .init = dlcp::nccl::init_unnamed,
    .getCollInfo = dlcp::nccl::choose,
    .destroy = dlcp::nccl::tuner::finalize,
};
extern "C" __attribute__((visibility("default"))) const dlcp::nccl::TunerV5 ncclTunerPlugin_v5 = {
    .name = dlcp::nccl::kPluginName,
    .init = dlcp::nccl::init,
    .getCollInfo = dlcp::nccl::choose,
    .finalize = dlcp::nccl::tuner::finalize,
};
extern "C" __attribute__((visibility("default"))) const dlcp::nccl::TunerV6 ncclTunerPlugin_v6 = {
    .name = dlcp::nccl::kPluginName,
    .init = dlcp::nccl::init,
    .getCollInfo = dlcp::nccl::choose,
    .finalize = dlcp::nccl::tuner::finalize,
    .getChunkSize = dlcp::nccl::choose_chunk,
};
