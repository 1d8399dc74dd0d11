// NCCL's tuner interface, versions 3 (NCCL 2.22) to 6 (2.30). The cost table is in fact a
// float[numAlgo][numProto] in microseconds; kNotAllowed marks combinations that cannot be used. The
// smallest cost wins. Declarations only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nccl/abi/types.h"

namespace dlcp::nccl {

inline constexpr float kNotAllowed = -1.0F;

struct TunerV3 {
  const char* name;
  ResultCode (*init)(std::size_t nRanks, std::size_t nNodes, DebugLogger logger, void** context);
  ResultCode (*getCollInfo)(void* context, int collType, std::size_t nBytes, int numPipeOps,
                            float** collCostTable, int numAlgo, int numProto, int* nChannels);
  ResultCode (*destroy)(void* context);
};

struct TunerV4 {  // version 3's calls, and whether the buffers can be registered
  const char* name;
  ResultCode (*init)(std::size_t nRanks, std::size_t nNodes, DebugLogger logger, void** context);
  ResultCode (*getCollInfo)(void* context, int collType, std::size_t nBytes, int numPipeOps,
                            float** collCostTable, int numAlgo, int numProto, int regBuff,
                            int* nChannels);
  ResultCode (*destroy)(void* context);
};

// Version 5 (NCCL 2.28) identifies the communicator. DLCP does not use its description of NVLink
// domains or the constants of NCCL's cost model.
struct TunerV5 {
  const char* name;
  ResultCode (*init)(void** ctx, std::uint64_t commId, std::size_t nRanks, std::size_t nNodes,
                     DebugLogger logger, void* nvlDomainInfo, void* constants);
  ResultCode (*getCollInfo)(void* context, int collType, std::size_t nBytes, int numPipeOps,
                            float** collCostTable, int numAlgo, int numProto, int regBuff,
                            int* nChannels);
  ResultCode (*finalize)(void* context);
};

struct TunerV6 {
  const char* name;
  ResultCode (*init)(void** ctx, std::uint64_t commId, std::size_t nRanks, std::size_t nNodes,
                     DebugLogger logger, void* nvlDomainInfo, void* constants);
  ResultCode (*getCollInfo)(void* context, int collType, std::size_t nBytes, int numPipeOps,
                            float** collCostTable, int numAlgo, int numProto, int regBuff,
                            int* nChannels);
  ResultCode (*finalize)(void* context);
  ResultCode (*getChunkSize)(void* context, int collType, std::size_t nBytes, int algo, int proto,
                             int nChannels, std::size_t* chunkSize);  // may be null
};

inline constexpr const char* kTunerSymbolV3 = "ncclTunerPlugin_v3";
inline constexpr const char* kTunerSymbolV4 = "ncclTunerPlugin_v4";
inline constexpr const char* kTunerSymbolV5 = "ncclTunerPlugin_v5";
inline constexpr const char* kTunerSymbolV6 = "ncclTunerPlugin_v6";

}  // namespace dlcp::nccl
