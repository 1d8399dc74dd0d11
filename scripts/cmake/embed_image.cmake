# Writes SOURCE, which contains the bytes of the file IMAGE: the GPU kernels.
file(READ ${IMAGE} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${SOURCE} "// The kernels of src/gradient/magnitude.cu, compiled by nvcc.
#include \"gpu/magnitude_kernel.h\"

namespace dlcp::gpu {

std::span<const std::byte> magnitude_image() {
  alignas(16) static constexpr unsigned char kImage[] = {
${bytes}};
  return std::as_bytes(std::span(kImage));
}

}  // namespace dlcp::gpu
")
