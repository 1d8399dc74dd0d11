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

# DLCP_NVCC: the compiler for the GPU kernels; empty if there is none that works. They are code for the GPUs A100 and H100
# (sm_80, sm_90), and PTX, which drivers translate for newer GPUs. C++20 requires CUDA 12. Fused and approximate operations
# would change the last bits of the results.
set(DLCP_NVCC "")
set(DLCP_NVCC_FLAGS -std=c++20 -O3 --expt-relaxed-constexpr --fmad=false --ftz=false --prec-div=true
  -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90])
if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE)
  if(NOT DEFINED CACHE{DLCP_NVCC_FAILS})
    set(source ${CMAKE_BINARY_DIR}/generated/nvcc_check.cu)
    file(WRITE ${source} "#include <bit>\n__global__ void kernel(float* at) { *at = std::bit_cast<float>(1); }\n")
    execute_process(COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} ${DLCP_NVCC_FLAGS} -fatbin -o ${source}.fatbin ${source}
                    RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    set(DLCP_NVCC_FAILS "${result}" CACHE INTERNAL "Exit code of nvcc for a small kernel")
  endif()
  if(DLCP_NVCC_FAILS STREQUAL "0")
    set(DLCP_NVCC ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
endif()
if(NOT DLCP_NVCC)
  message(STATUS "nvcc 12 or newer: not found; the GPU kernels will not be built")
endif()
