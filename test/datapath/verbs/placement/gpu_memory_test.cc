// GPU memory over a fake card: registration as dma-buf or by address, permissions in it, flushes,
// and the probe at start. The memory is a file that is mapped without any access, so that a test
// ends if the processor touches it.
#include <filesystem>
#include <fstream>

#include "datapath/verbs/device/gpu_probe.h"
#include "gpu_buffer.h"
#include "placer_pair.h"

namespace dlcp::datapath::test {
namespace {

using Kind = PermissionEvent::Kind;

constexpr std::size_t kBytes = std::size_t{16} * 4096;

struct FakeGpuBuffer : GpuBuffer {
  FakeGpuBuffer() : GpuBuffer(kBytes) {}
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
  for (int release = 0; release < 2; ++release) {  // of the failed one, and of the first
    pair.b.datapath->release_memory(buffer.bytes());
    CHECK(pair.b.placer().can_place_from(buffer.bytes()));
  }
  pair.b.datapath->release_memory(buffer.bytes());
  CHECK_FALSE(pair.b.placer().can_place_from(buffer.bytes()));
  CHECK(pair.card->regions.size() == before + 2);  // for flushes and for writes
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

TEST_CASE("without regions there are permissions in GPU memory by address, not in a dma-buf") {
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
  pair.card->holds_reads = false;
  CHECK(pair.flushed() == 1);
  CHECK(pair.flushed() == 1);
  pair.b.datapath->release_memory(kept.bytes());
}

TEST_CASE("the end of one of two registrations of a memory does not end its flushes") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  REQUIRE(pair.b.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  REQUIRE(pair.b.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  pair.card->holds_reads = true;
  CHECK(pair.b.placer().flush(buffer.bytes()));
  pair.b.datapath->release_memory(buffer.bytes());
  pair.card->holds_reads = false;
  CHECK(pair.flushed() == 0);
  CHECK(pair.flushed() == 1);
  CHECK(pair.card->reads == 2);
  pair.b.datapath->release_memory(buffer.bytes());
}

TEST_CASE("flushes that always fail are given up, and the device has failed for GPU memory") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  REQUIRE(pair.b.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  pair.card->fails_reads = true;
  CHECK(pair.b.placer().flush(buffer.bytes()));
  for (int i = 0; i < 20; ++i)
    CHECK(pair.flushed() == 0);
  CHECK_FALSE(pair.b.placer().awaits_poll());
  CHECK(pair.b.placer().flush(buffer.bytes()));  // must not count as done
  CHECK(pair.flushed() == 0);
  const auto failure = pair.b.datapath->failure();
  REQUIRE(failure);
  CHECK_THAT(failure->message(), Contains("cannot read GPU memory"));
  CHECK_FALSE(pair.b.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  pair.b.datapath->release_memory(buffer.bytes());
}

std::vector<std::byte> random_bytes(std::size_t count) {
  Rng rng(count);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(rng.next());
  return bytes;
}

TEST_CASE("bytes and zeros of the host are written to GPU memory by the card") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  auto& placer = pair.b.placer();
  const auto bytes = random_bytes(10'000);
  CHECK_FALSE(placer.write(buffer.bytes().first(100), std::span(bytes).first(100)));
  REQUIRE(placer.register_gpu_memory(buffer.as_dma_buf()).ok());
  pair.card->holds_reads = true;
  {
    auto passed = bytes;  // not used after the call
    CHECK(placer.write(buffer.bytes().subspan(5, passed.size()), passed));
  }
  CHECK(placer.write(buffer.bytes().subspan(1000, 5000), {}));
  CHECK(placer.writes(buffer.bytes()));
  CHECK(placer.awaits_poll());
  CHECK(placer.written(pair.now) == 0);
  pair.card->release_binds();
  CHECK(placer.written(pair.now) == 2);
  CHECK_FALSE(placer.writes(buffer.bytes()));
  CHECK_FALSE(placer.awaits_poll());
  auto expected = bytes;
  std::fill(expected.begin() + 995, expected.begin() + 5995, std::byte{0});
  CHECK(buffer.content(5, expected.size()) == expected);
  pair.b.datapath->release_memory(buffer.bytes());
}

TEST_CASE("more writes than the card takes at once finish in order") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  auto& placer = pair.b.placer();
  REQUIRE(placer.register_gpu_memory(buffer.as_dma_buf()).ok());
  pair.card->holds_reads = true;
  const auto bytes = random_bytes(600 * 50);
  for (std::size_t i = 0; i < 600; ++i)
    CHECK(placer.write(buffer.bytes().subspan(i * 50, 50), std::span(bytes).subspan(i * 50, 50)));
  pair.card->release_binds();
  CHECK(placer.written(pair.now) == 256);
  pair.card->release_binds();
  CHECK(placer.written(pair.now) == 256);
  pair.card->release_binds();
  CHECK(placer.written(pair.now) == 88);
  CHECK(buffer.content(0, bytes.size()) == bytes);
  pair.b.datapath->release_memory(buffer.bytes());
}

TEST_CASE("a write whose queue pair breaks is repeated; a card that fails is given up") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  auto& placer = pair.b.placer();
  const auto before = pair.card->connected_numbers();
  REQUIRE(placer.register_gpu_memory(buffer.as_dma_buf()).ok());
  const auto break_new = [&] {
    for (const std::uint32_t number : pair.card->connected_numbers())
      if (!before.contains(number)) pair.card->break_queue_pair(number);
  };
  const auto bytes = random_bytes(9'000);
  break_new();
  CHECK(placer.write(buffer.bytes().first(bytes.size()), bytes));
  CHECK(placer.written(pair.now += 200ms) == 0);  // opens another queue and posts again
  CHECK(placer.written(pair.now += 200ms) == 1);
  CHECK(buffer.content(0, bytes.size()) == bytes);
  pair.card->fails_reads = true;
  CHECK(placer.write(buffer.bytes().first(bytes.size()), bytes));
  CHECK(placer.writes(buffer.bytes()));
  for (int i = 0; i < 20; ++i)
    CHECK(placer.written(pair.now += 200ms) == 0);
  CHECK_FALSE(placer.write(buffer.bytes().first(bytes.size()), bytes));
  CHECK_FALSE(placer.writes(buffer.bytes()));
  const auto failure = pair.b.datapath->failure();
  REQUIRE(failure);
  CHECK_THAT(failure->message(), Contains("cannot write received data to GPU memory"));
  CHECK_FALSE(placer.register_gpu_memory(buffer.as_dma_buf()).ok());
  pair.b.datapath->release_memory(buffer.bytes());
}

TEST_CASE("writes and flushes whose requests the card refuses begin again with another queue") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  auto& placer = pair.b.placer();
  REQUIRE(placer.register_gpu_memory(buffer.as_dma_buf()).ok());
  const auto bytes = random_bytes(9'000);
  pair.card->refuses_posts = true;
  CHECK(placer.write(buffer.bytes().first(bytes.size()), bytes));
  CHECK(placer.flush(buffer.bytes()));
  pair.card->refuses_posts = false;
  CHECK(placer.written(pair.now += 200ms) == 0);
  CHECK(placer.written(pair.now += 200ms) == 1);
  CHECK(buffer.content(0, bytes.size()) == bytes);
  CHECK(pair.flushed() == 0);
  CHECK(pair.flushed() == 1);
  pair.b.datapath->release_memory(buffer.bytes());
}

TEST_CASE("writes that are stopped count as finished, and the card does not make them later") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  auto& placer = pair.b.placer();
  REQUIRE(placer.register_gpu_memory(buffer.as_dma_buf()).ok());
  const auto bytes = random_bytes(9'000);
  const auto stopped = buffer.bytes().first(bytes.size());
  const auto kept = buffer.bytes().subspan(20'000, bytes.size());
  for (int i = 0; i < 20; ++i) {  // more often than a card may fail
    pair.card->holds_reads = true;
    CHECK(placer.write(stopped, bytes));
    CHECK(placer.write(kept, bytes));
    placer.stop_writes(stopped);
    CHECK_FALSE(placer.writes(stopped));
    CHECK(placer.writes(kept));
    buffer.fill(std::vector<std::byte>(kBytes));
    pair.card->holds_reads = false;
    CHECK(placer.written(pair.now += 200ms) == 1);
    CHECK(placer.written(pair.now += 200ms) == 1);
    CHECK(buffer.content(0, bytes.size()) == std::vector<std::byte>(bytes.size()));
    CHECK(buffer.content(20'000, bytes.size()) == bytes);
  }
  pair.b.datapath->release_memory(buffer.bytes());
}

TEST_CASE("the end of a registration ends writes to its memory, and others go on") {
  GpuPair pair;
  FakeGpuBuffer released, kept;
  auto& placer = pair.b.placer();
  REQUIRE(placer.register_gpu_memory(released.as_dma_buf()).ok());
  REQUIRE(placer.register_gpu_memory(kept.as_dma_buf()).ok());
  pair.card->holds_reads = true;
  const auto bytes = random_bytes(9'000);
  CHECK(placer.write(released.bytes().first(bytes.size()), bytes));
  CHECK(placer.write(kept.bytes().first(bytes.size()), bytes));
  pair.b.datapath->release_memory(released.bytes());
  CHECK(placer.writes(kept.bytes()));
  pair.card->holds_reads = false;
  CHECK(placer.written(pair.now += 200ms) == 1);
  CHECK(placer.written(pair.now += 200ms) == 1);
  CHECK(kept.content(0, bytes.size()) == bytes);
  pair.b.datapath->release_memory(kept.bytes());
}

TEST_CASE("ordinary packets are gathered from GPU memory by the card, short ones too") {
  GpuPair pair;
  FakeGpuBuffer buffer;
  const auto data = random_bytes(kPacketBytes);
  REQUIRE(pwrite(buffer.file.get(), data.data(), data.size(), 4096) == kPacketBytes);
  REQUIRE(pair.a.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
  for (const std::size_t bytes : {1u, 100u, 900u}) {
    wire::TxPacket packet;
    packet.header_bytes = 44;
    packet.payload = buffer.bytes().first(bytes);
    packet.destination = &pair.b.datapath->local_address();
    CHECK(pair.a.datapath->send(std::span(&packet, 1)) == 1);
    std::array<wire::RxPacket, 4> received;
    REQUIRE(pair.b.datapath->receive(pair.now, received) == 1);
    CHECK(std::ranges::equal(received[0].bytes.subspan(44), std::span(data).first(bytes)));
  }
  pair.a.datapath->release_memory(buffer.bytes());
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

}  // namespace
}  // namespace dlcp::datapath::test
