// Functions that NCCL links but never calls here: no graph is captured, no memory is exported to
// another process, and there are no arrays. Without CUDA's header, because no argument is used.
#include <cstdio>

#define DLCP_UNSUPPORTED(NAME)                                      \
  extern "C" __attribute__((visibility("default"))) int NAME() {    \
    std::fprintf(stderr, "softcuda: " #NAME " is not supported\n"); \
    return 801; /* cudaErrorNotSupported */                         \
  }
DLCP_UNSUPPORTED(cudaArrayGetInfo)
DLCP_UNSUPPORTED(cudaGraphAddDependencies)
DLCP_UNSUPPORTED(cudaGraphAddEventRecordNode)
DLCP_UNSUPPORTED(cudaGraphAddEventWaitNode)
DLCP_UNSUPPORTED(cudaGraphAddHostNode)
DLCP_UNSUPPORTED(cudaGraphRetainUserObject)
DLCP_UNSUPPORTED(cudaIpcCloseMemHandle)
DLCP_UNSUPPORTED(cudaIpcGetMemHandle)
DLCP_UNSUPPORTED(cudaIpcOpenMemHandle)
DLCP_UNSUPPORTED(cudaStreamUpdateCaptureDependencies)
DLCP_UNSUPPORTED(cudaUserObjectCreate)
