// Registrations of GPU memory that fail or have ended. The memory is mapped without any access, so
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
  // Sends an ordinary packet with that payload.
  void send(std::span<const std::byte> payload) {
    wire::TxPacket packet;
    packet.header_bytes = 44;
    packet.payload = payload;
    packet.destination = &b.datapath->local_address();
    CHECK(a.datapath->send(std::span(&packet, 1)) == 1);
  }
};

TEST_CASE(
    "a packet whose GPU memory is not registered any more loses its payload and fails the device") {
  GpuPair pair;
  GpuBuffer buffer(kBytes);
  const std::size_t bytes = GENERATE(64, 900);  // with and without a copy for host memory
  const auto payload = buffer.bytes().subspan(100, bytes);
  REQUIRE(pair.a.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  pair.send(payload);
  pair.a.datapath->release_memory(buffer.bytes());
  CHECK_FALSE(pair.a.datapath->failure());
  pair.send(payload);
  REQUIRE(pair.a.datapath->failure());
  CHECK_THAT(pair.a.datapath->failure()->what, Contains("GPU memory that is not registered"));
}

TEST_CASE("memory that is registered where GPU memory was is sent again") {
  GpuPair pair;
  std::vector<std::byte> memory(kBytes);
  REQUIRE(pair.a.placer().register_gpu_memory({memory}).ok());
  pair.a.datapath->release_memory(memory);
  const auto half = std::span(memory).first(kBytes / 2);
  REQUIRE(pair.a.datapath->register_memory(half).ok());
  pair.a.datapath->release_memory(half);
  pair.send(std::span(memory).subspan(3000, 900));
  CHECK_FALSE(pair.a.datapath->failure());
}

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
