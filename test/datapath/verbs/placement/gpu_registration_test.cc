// Registrations of GPU memory that fail. The memory is mapped without any access, so
// that a test ends if the processor touches it.
#include <sys/resource.h>

#include "gpu_buffer.h"
#include "placer_pair.h"

namespace dlcp::datapath::test {
namespace {

constexpr std::size_t kBytes = std::size_t{16} * 4096;

struct GpuPair : Pair {
  GpuPair() {
    card->has_dma_buf = true;
    connect(1);
  }
};

TEST_CASE("without a free descriptor, the registration of a dma-buf names this reason") {
  GpuPair pair;
  GpuBuffer buffer(kBytes);
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  rlimit none = limit;
  none.rlim_cur = 0;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto refused = pair.b.placer().register_gpu_memory(buffer.as_dma_buf());
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().what, Contains("cannot duplicate descriptor"));
  CHECK_THAT(refused.error().message(), Contains("ulimit -n"));
  REQUIRE(pair.b.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  pair.b.datapath->release_memory(buffer.bytes());
}

}  // namespace
}  // namespace dlcp::datapath::test
