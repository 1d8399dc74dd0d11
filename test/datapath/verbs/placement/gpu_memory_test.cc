// GPU memory over a fake card: registration as dma-buf or by address, permissions in it, flushes,
// and the probe at start. The memory is a file that is mapped without any access, so that a test
// ends if the processor touches it.
#include <sys/mman.h>

#include <filesystem>
#include <fstream>

#include "datapath/verbs/gpu_probe.h"
#include "placer_pair.h"

namespace dlcp::datapath::test {
namespace {

using Kind = PermissionEvent::Kind;

constexpr std::size_t kPages = 16;
constexpr std::size_t kBytes = kPages * 4096;

// A buffer that begins at the second page of its dma-buf.
struct FakeGpuBuffer {
  FakeGpuBuffer() : file(memfd_create("gpu", MFD_CLOEXEC)) {
    REQUIRE(ftruncate(file.get(), kBytes + 4096) == 0);
    at = static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_NONE, MAP_SHARED, file.get(), 4096));
  }
  ~FakeGpuBuffer() { munmap(at, kBytes); }
  std::span<std::byte> bytes() const { return {at, kBytes}; }
  GpuMemory as_dma_buf() const { return {bytes(), file.get(), 4096}; }
  std::vector<std::byte> content(std::size_t offset, std::size_t count) const {
    std::vector<std::byte> copy(count);
    CHECK(pread(file.get(), copy.data(), count, static_cast<off_t>(4096 + offset)) ==
          static_cast<ssize_t>(count));
    return copy;
  }

  Fd file;
  std::byte* at = nullptr;
};

struct GpuPair : Pair {
  explicit GpuPair(PermissionKind permissions = PermissionKind::kRegion) : Pair(permissions) {
    card->has_dma_buf = true;
    connect(1);
  }
  std::size_t flushed() { return b.placer().flushed(now += 200ms); }
};

TEST_CASE("packets are placed in GPU memory that only the card can reach") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  {
    // The registration has a descriptor of its own, as NCCL closes the one that it passes.
    const Fd passed(dup(buffer.file.get()));
    REQUIRE(pair.b.placer().register_gpu_memory({buffer.bytes(), passed.get(), 4096}).ok());
  }
  PermissionId id{};
  const auto segment = buffer.bytes().subspan(3 * kPacketBytes, 8 * kPacketBytes);
  const Permission to = pair.permit(segment, &id);
  CHECK(to.address == reinterpret_cast<std::uintptr_t>(segment.data()));
  CHECK(pair.place(to, 0, 8) == 8);
  CHECK(pair.placed().front().packets == 8);
  const auto sent = pair.a.piece(0, 8);
  CHECK(buffer.content(3 * kPacketBytes, 8 * kPacketBytes) ==
        std::vector<std::byte>(sent.begin(), sent.end()));
  pair.b.placer().revoke(id);
  CHECK(pair.events().front().kind == Kind::kRevoked);
  CHECK(pair.place(to, 0, 1) == 1);
  CHECK(pair.card->dead_keys == 1);
  pair.b.datapath->release_memory(buffer.bytes());
}

TEST_CASE("packets are sent from GPU memory") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  const std::vector<std::byte> data(kPacketBytes, std::byte{0x5a});
  REQUIRE(pwrite(buffer.file.get(), data.data(), data.size(), 4096) == kPacketBytes);
  REQUIRE(pair.a.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  CHECK(pair.a.placer().can_place_from(buffer.bytes()));
  PlacedPacket packet = pair.packet(pair.permit(pair.b.piece(0, 1)), 0);
  packet.payload = buffer.bytes().first(kPacketBytes);
  CHECK(pair.a.placer().place(std::span(&packet, 1)) == 1);
  CHECK(pair.placed().size() == 1);
  CHECK(std::ranges::equal(pair.b.piece(0, 1), data));
  pair.a.datapath->release_memory(buffer.bytes());
}

TEST_CASE("equal ranges share a registration until the last release") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  const std::size_t before = pair.card->regions.size();
  REQUIRE(pair.b.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  const std::size_t with = pair.card->regions.size();
  REQUIRE(pair.b.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  CHECK(pair.card->regions.size() == with);
  const auto as_host = pair.b.datapath->register_memory(buffer.bytes());
  REQUIRE_FALSE(as_host.ok());
  CHECK_THAT(as_host.error().what, Contains("registered as GPU memory already"));
  const auto by_address = pair.b.placer().register_gpu_memory({buffer.bytes()});
  REQUIRE_FALSE(by_address.ok());
  CHECK_THAT(by_address.error().what, Contains("memory of another kind"));
  pair.b.datapath->release_memory(buffer.bytes());
  CHECK(pair.b.placer().can_place_from(buffer.bytes()));
  pair.b.datapath->release_memory(buffer.bytes());
  CHECK_FALSE(pair.b.placer().can_place_from(buffer.bytes()));
  CHECK(pair.card->regions.size() == before + 1);  // where flushes put their byte
}

TEST_CASE("a registration that the card refuses says what to do") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  pair.card->has_dma_buf = false;
  const auto without = pair.b.placer().register_gpu_memory(buffer.as_dma_buf());
  REQUIRE_FALSE(without.ok());
  CHECK_THAT(without.error().message(), Contains("cannot register GPU memory as dma-buf on fake"));
  CHECK_THAT(without.error().message(), Contains("nvidia-peermem"));
  CHECK_THAT(without.error().message(), Contains("NCCL_NET_GDR_LEVEL=LOC"));
  pair.card->has_dma_buf = true;
  GpuMemory shifted = buffer.as_dma_buf();
  shifted.offset += 100;
  const auto refused = pair.b.placer().register_gpu_memory(shifted);
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message(), Contains("its offset in the dma-buf is 0x1064"));
  CHECK_FALSE(pair.b.placer().can_place_from(buffer.bytes()));
}

TEST_CASE("windows are bound in GPU memory that is registered by address, not in a dma-buf") {
  GpuPair pair(PermissionKind::kWindow);
  FakeGpuBuffer buffer;
  REQUIRE(pair.b.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  pair.b.placer().permit(pair.b.link, buffer.bytes().first(kPacketBytes));
  CHECK(pair.events().front().kind == Kind::kRefused);
  pair.b.datapath->release_memory(buffer.bytes());
  std::vector<std::byte> by_address(4 * kPacketBytes);
  REQUIRE(pair.b.placer().register_gpu_memory({by_address}).ok());
  pair.permit(by_address);
  pair.b.datapath->release_memory(by_address);
}

TEST_CASE("a flush reads a byte of the memory and finishes when the card has answered") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  CHECK_FALSE(pair.b.placer().flush(buffer.bytes()));  // not registered
  REQUIRE(pair.b.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  CHECK_FALSE(pair.b.placer().flush(pair.b.piece(0, 1)));  // memory of the host
  pair.card->holds_reads = true;
  CHECK(pair.b.placer().flush(buffer.bytes().subspan(100, 50)));
  CHECK(pair.b.placer().flush(buffer.bytes()));
  CHECK(pair.flushed() == 0);
  pair.card->release_binds();
  CHECK(pair.flushed() == 2);
  CHECK(pair.flushed() == 0);
  CHECK(pair.card->reads == 2);
  pair.b.datapath->release_memory(buffer.bytes());
}

TEST_CASE("a flush whose queue pair breaks is repeated") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  const auto before = pair.card->connected_numbers();
  REQUIRE(pair.b.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  for (const std::uint32_t number : pair.card->connected_numbers())
    if (!before.contains(number)) pair.card->break_queue_pair(number);
  CHECK(pair.b.placer().flush(buffer.bytes()));
  CHECK(pair.flushed() == 0);  // opens another queue and posts again
  CHECK(pair.flushed() == 1);
  CHECK(pair.card->reads == 2);
  pair.b.datapath->release_memory(buffer.bytes());
}

TEST_CASE("flushes of released memory are finished, and others go on") {
  GpuPair pair;
  FakeGpuBuffer released, kept;
  REQUIRE(pair.b.placer().register_gpu_memory(released.as_dma_buf()).ok());
  REQUIRE(pair.b.placer().register_gpu_memory(kept.as_dma_buf()).ok());
  pair.card->holds_reads = true;
  CHECK(pair.b.placer().flush(released.bytes()));
  CHECK(pair.b.placer().flush(kept.bytes()));
  pair.b.datapath->release_memory(released.bytes());
  CHECK(pair.flushed() == 1);
  pair.card->release_binds();
  CHECK(pair.flushed() == 1);
  pair.b.datapath->release_memory(kept.bytes());
}

TEST_CASE("the probe at start finds out which GPU memory a device can access") {
  namespace fs = std::filesystem;
  const fs::path sys = fs::temp_directory_path() / ("dlcp_gpu_probe." + std::to_string(getpid()));
  fs::create_directories(sys);
  FakeWriteCard card;
  RocePort port;
  port.driver = "mlx5_core";
  const auto probe = [&] { return probe_gpu_access(card, nullptr, port, sys.string()); };
  CHECK_FALSE(probe().dma_buf);
  CHECK_FALSE(probe().peer_memory);
  card.has_dma_buf = true;
  CHECK(probe().dma_buf);
  fs::create_directories(sys / "module/nvidia_peermem");
  std::ofstream(sys / "module/nvidia_peermem/version") << "580.1\n";
  CHECK(probe().peer_memory);
  port.driver = "rdma_rxe";
  CHECK_FALSE(probe().dma_buf);
  CHECK_FALSE(probe().peer_memory);
  fs::remove_all(sys);
}

TEST_CASE("a device places packets in a dma-buf only if its permissions are regions") {
  PlacementAbility ability;
  ability.gpu = {true, true};
  CHECK_FALSE(ability.places_in_gpus().peer_memory);
  ability.transport = PlacementTransport::kUc;
  ability.permissions = PermissionKind::kWindow;
  CHECK_FALSE(ability.places_in_gpus().dma_buf);
  CHECK(ability.places_in_gpus().peer_memory);
  CHECK(to_string(ability) ==
        "UC, permissions by memory windows, drivers for GPU memory by nvidia-peermem");
  ability.permissions = PermissionKind::kRegion;
  CHECK(ability.places_in_gpus().dma_buf);
}

}  // namespace
}  // namespace dlcp::datapath::test
