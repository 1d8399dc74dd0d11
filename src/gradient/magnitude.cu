// The kernels that compute the magnitude of each packet of a message in GPU memory, one for each
// element type. gpu/magnitude_kernel.h launches them; magnitude_lanes.h has the arithmetic. They
// are compiled without fused or approximate operations, which would change the last bits.
#include "gradient/magnitude_lanes.h"

namespace dlcp::gradient {
namespace {

template <ElementType type>
__device__ void write_means(const CutMessage& cut, float* means) {
  __shared__ float parts[kPacketsPerBlock][kSums];
  const unsigned in_block = threadIdx.x / kSums;
  const unsigned lane = threadIdx.x % kSums;
  const std::uint64_t packet = std::uint64_t{blockIdx.x} * kPacketsPerBlock + in_block;
  if (packet < cut.packets()) parts[in_block][lane] = lane_sum<type>(cut, packet, lane);
  __syncthreads();
  if (lane == 0 && packet < cut.packets())
    means[packet] = mean_of_lanes<type>(cut, packet, parts[in_block]);
}

}  // namespace
}  // namespace dlcp::gradient

using dlcp::gradient::CutMessage;
using dlcp::gradient::ElementType;

extern "C" __global__ void dlcp_means_of_float32(CutMessage cut, float* means) {
  dlcp::gradient::write_means<ElementType::kFloat32>(cut, means);
}

extern "C" __global__ void dlcp_means_of_float16(CutMessage cut, float* means) {
  dlcp::gradient::write_means<ElementType::kFloat16>(cut, means);
}

extern "C" __global__ void dlcp_means_of_bfloat16(CutMessage cut, float* means) {
  dlcp::gradient::write_means<ElementType::kBfloat16>(cut, means);
}
