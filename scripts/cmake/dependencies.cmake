# Finds the dependencies; prints one line for each optional part: found, or which feature is missing.
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)

find_path(DLCP_IBVERBS_INCLUDE infiniband/verbs.h)
if(DLCP_IBVERBS_INCLUDE)
  message(STATUS "rdma-core: found (${DLCP_IBVERBS_INCLUDE})")
else()
  message(STATUS "rdma-core: not found; the RoCE (verbs) datapath will not be built, UDP only")
endif()

find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND)
  message(STATUS "CUDA Toolkit: found (${CUDAToolkit_VERSION})")
else()
  message(STATUS "CUDA Toolkit: not found; the GPU part of scripts/demo will not be built")
endif()
