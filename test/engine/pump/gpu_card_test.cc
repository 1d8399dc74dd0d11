// Messages from and to GPU memory, of two engines over a fake RDMA card. The memory is mapped
// without any access, so a test ends if the processor touches it.
#include <algorithm>
#include <memory>
#include <optional>

#include "card_side.h"
#include "catch.h"
#include "datapath/verbs/placement/gpu_buffer.h"
#include "engine/host/clock.h"
#include "engine/pump/card_placer.h"

using namespace dlcp;
using namespace dlcp::engine;
using Catch::Matchers::Contains;
using core::Counter;
using core::MemoryKind;
using datapath::GpuAccess;
using datapath::PermissionKind;
using datapath::test::GpuBuffer;
using dlcp::test::CardPair;
using dlcp::test::Side;
using dlcp::test::wide_card;

namespace {

constexpr std::size_t kMessageBytes = 100'000;
constexpr std::byte kCanary{0xc5};
constexpr GpuAccess kDmaBuf{.dma_buf = true, .peer_memory = false};

// A buffer of the host or of a GPU.
struct Buffer {
  explicit Buffer(MemoryKind of) : kind(of), host(kMessageBytes), gpu(kMessageBytes) {}
  Memory memory(std::size_t bytes = kMessageBytes) {
    return {kind == MemoryKind::kDevice ? gpu.at : host.data(), bytes, this, kind};
  }
  void enter(Side& side, Connection& connection) {
    if (kind == MemoryKind::kDevice)
      REQUIRE(side.engine->register_gpu_memory(connection, gpu.as_dma_buf()).ok());
    else
      side.engine->register_memory(connection, memory());
  }
  void fill(std::span<const std::byte> with) {
    gpu.fill(with);
    std::ranges::copy(with, host.begin());
  }
  std::vector<std::byte> content() const {
    return kind == MemoryKind::kDevice ? gpu.content(0, kMessageBytes) : host;
  }

  const MemoryKind kind;
  std::vector<std::byte> host;
  GpuBuffer gpu;
};

struct Pair : CardPair {
  explicit Pair(MemoryKind from = MemoryKind::kDevice, MemoryKind to = MemoryKind::kDevice,
                PermissionKind sender = PermissionKind::kRegion,
                PermissionKind receiver = PermissionKind::kRegion)
      : CardPair(sender, receiver, kDmaBuf), out(from), in(to) {
    out.enter(a, *sends);
    in.enter(b, *receives);
    in.fill(std::vector<std::byte>(kMessageBytes, kCanary));
  }
  Request* post_receive(const core::Licence& licence = {}) {
    return b.engine->receive(*receives, in.memory(), licence).value();
  }
  Request* post_send(std::size_t bytes, const core::Licence& licence = {}) {
    content = std::vector<std::byte>(kMessageBytes);
    for (std::byte& byte : content)
      byte = static_cast<std::byte>(rng.next());
    out.fill(content);
    return a.engine->send(*sends, out.memory(bytes), licence).value();
  }
  // Returns when both ends are done, with the outcome of the receive. Then only zeros may have
  // replaced bytes, and the application uses the buffer again.
  Request::Outcome finish(Request* receiving, Request* sending) {
    return finish(receiving, sending, in);
  }
  Request::Outcome finish(Request* receiving, Request* sending, Buffer& received_in) {
    Request::Outcome outcome, of_send;
    auto received = Request::State::kPending;
    auto sent = Request::State::kPending;
    for (const Time end = steady_now() + 20s;
         (received == Request::State::kPending || sent == Request::State::kPending) &&
         steady_now() < end;) {
      step();
      if (received == Request::State::kPending &&
          (received = b.engine->test(*receiving, outcome)) == Request::State::kDone) {
        auto expected = content;
        std::fill(expected.begin() + static_cast<std::ptrdiff_t>(outcome.bytes), expected.end(),
                  kCanary);
        for (const ByteRange& hole : outcome.holes)
          std::fill(expected.begin() + static_cast<std::ptrdiff_t>(hole.begin),
                    expected.begin() + static_cast<std::ptrdiff_t>(hole.end), std::byte{0});
        REQUIRE(received_in.content() == expected);
        received_in.fill(std::vector<std::byte>(kMessageBytes, kCanary));
      }
      if (sent == Request::State::kPending) sent = a.engine->test(*sending, of_send);
    }
    REQUIRE(received == Request::State::kDone);
    REQUIRE(sent == Request::State::kDone);
    return outcome;
  }
  void check_canary() {
    REQUIRE(std::ranges::all_of(
        in.content(), [](std::byte byte) { return byte == kCanary; }));
  }
  void transfer(std::size_t bytes = kMessageBytes) {
    Request* const receiving = post_receive();
    run_for(2ms);
    finish(receiving, post_send(bytes));
  }
  std::uint64_t copied() const { return b.count_of("gpu_bytes_copied"); }

  Rng rng{7};
  Buffer out, in;
  std::vector<std::byte> content;
};

void worsen(dlcp::test::FakeWriteCard& card) {
  card.loss = 0.02;
  card.doubled = 0.05;
  card.late = 0.05;
  card.reordering = 20;
  card.copy_steps = 5;
}

}  // namespace

TEST_CASE("the card moves messages between GPU memories, without a copy") {
  Pair pair;
  for (int i = 0; i < 3; ++i)
    pair.transfer();
  const std::uint64_t before = pair.copied();
  for (int i = 0; i < 10; ++i)
    pair.transfer();
  CHECK(pair.copied() == before);
  CHECK(pair.b.count_of("bytes_placed_by_nic") >= 10 * kMessageBytes);
}

TEST_CASE(
    "messages of all lengths between both kinds of memory arrive, whatever the network does") {
  const auto [from, to] = GENERATE(std::pair(MemoryKind::kDevice, MemoryKind::kDevice),
                                   std::pair(MemoryKind::kDevice, MemoryKind::kHost),
                                   std::pair(MemoryKind::kHost, MemoryKind::kDevice));
  // With windows, permissions in GPU memory are regions nevertheless.
  const auto kind = GENERATE(PermissionKind::kRegion, PermissionKind::kWindow);
  Pair pair(from, to, kind, kind);
  worsen(*pair.card);
  for (const std::size_t bytes : {0u, 1u, 100u, 3969u, 20'000u, 99'999u, 100'000u, 100'000u})
    for (int i = 0; i < 3; ++i) {
      pair.transfer(bytes);
      pair.run_for(pair.rng.chance(0.5) ? 1ms : 0ms);  // late packets arrive
      pair.check_canary();
    }
  CHECK(pair.card->dead_keys > 0);
}

TEST_CASE("a message for GPU memory that arrives before its receive is posted is not lost") {
  Pair pair;
  for (const std::size_t bytes : {1u, 5'000u, 100'000u}) {
    Request* const sending = pair.post_send(bytes);
    pair.run_for(3ms);
    pair.check_canary();
    pair.finish(pair.post_receive(), sending);
  }
}

TEST_CASE("a peer that cannot place sends to GPU memory; its packets are copied once") {
  Pair pair(MemoryKind::kHost, MemoryKind::kDevice, PermissionKind::kNone);
  for (int i = 0; i < 5; ++i)
    pair.transfer();
  CHECK(pair.copied() == 5 * kMessageBytes);
  CHECK(pair.card->written == 0);
}

TEST_CASE("one connection receives in memory of the host by windows, of a GPU by regions") {
  Pair pair(MemoryKind::kDevice, MemoryKind::kDevice, PermissionKind::kWindow,
            PermissionKind::kWindow);
  worsen(*pair.card);
  Buffer host(MemoryKind::kHost);
  host.enter(pair.b, *pair.receives);
  pair.transfer();
  // How many keys of regions have permitted writes; those of windows have the top bit.
  const auto regions_written = [&] {
    return std::ranges::count_if(pair.card->writable,
                                 [](const auto& key) { return key.first < 0x80000000u; });
  };
  for (int i = 0; i < 20; ++i) {
    const bool on_gpu = i % 2 == 0;
    const std::size_t binds = pair.card->binds;
    const auto regions = regions_written();
    Request* const receiving =
        on_gpu ? pair.post_receive()
               : pair.b.engine->receive(*pair.receives, host.memory(), {}).value();
    Request* const sending = pair.post_send(kMessageBytes);
    if (on_gpu) {
      pair.finish(receiving, sending);
      CHECK(pair.card->binds == binds);
      CHECK(regions_written() > regions);
      continue;
    }
    pair.finish(receiving, sending, host);
    CHECK(pair.card->binds > binds);
    CHECK(regions_written() == regions);
  }
  CHECK(pair.b.count_of("bytes_placed_by_nic") > 0);
}

TEST_CASE("the card fills what a licensed message has lost in GPU memory with zeros") {
  const auto kind = GENERATE(PermissionKind::kRegion, PermissionKind::kWindow);
  Pair pair(MemoryKind::kDevice, MemoryKind::kDevice, kind, kind);
  for (int i = 0; i < 3; ++i)
    pair.transfer();
  worsen(*pair.card);
  std::size_t lost = 0;
  for (std::uint64_t collective = 1; collective <= 40; ++collective) {
    const core::Licence licence{collective, 0, 4, 4, 0, 250'000, gradient::ElementType::kFloat32};
    Request* const receiving = pair.post_receive(licence);
    pair.run_for(2ms);
    lost += pair.finish(receiving, pair.post_send(kMessageBytes, licence)).lost;
    pair.check_canary();
  }
  CHECK(lost > 0);
}

TEST_CASE("the end of a registration or connection stops the card's writes to GPU memory") {
  const bool close = GENERATE(false, true);
  const auto kind = GENERATE(PermissionKind::kRegion, PermissionKind::kWindow);
  Pair pair(MemoryKind::kDevice, MemoryKind::kDevice, kind, kind);
  pair.transfer();
  pair.card->late = 0.5;
  pair.post_receive();
  pair.run_for(2ms);
  const std::size_t before = pair.card->in_network();
  pair.post_send(kMessageBytes);
  while (pair.card->in_network() == before)
    pair.step();
  if (close)
    pair.b.engine->close(pair.receives);
  else
    pair.b.engine->release_memory(*pair.receives, pair.in.memory());
  CHECK(pair.card->in_network() > 0);
  pair.in.fill(std::vector<std::byte>(kMessageBytes, kCanary));
  for (std::uint64_t i = 0; i < 2 * pair.card->lateness; ++i)
    pair.card->step();
  CHECK(pair.card->in_network() == 0);
  pair.run_for(5ms);
  pair.check_canary();
}

TEST_CASE("a flush is a request that ends when the card has read from the memory") {
  Pair pair;
  pair.transfer();
  Request* const request = pair.b.engine->flush_gpu(*pair.receives, pair.in.memory(100)).value();
  REQUIRE(request != nullptr);
  Request::Outcome outcome;
  auto state = Request::State::kPending;
  for (int i = 0; i < 1000 && state == Request::State::kPending; ++i)
    state = pair.b.engine->test(*request, outcome);
  CHECK(state == Request::State::kDone);
  std::vector<std::byte> host(100);
  CHECK(pair.b.engine->flush_gpu(*pair.receives, {host.data(), host.size()}).value() == nullptr);
}

TEST_CASE("GPU memory is refused if the card cannot place in it, with what to do") {
  Pair pair;
  const auto by_address =
      pair.a.engine->register_gpu_memory(*pair.sends, {pair.out.gpu.bytes(), -1, 0});
  REQUIRE_FALSE(by_address.ok());
  CHECK_THAT(by_address.error().message(), Contains("cannot access GPU memory by its address"));
  CHECK_THAT(by_address.error().message(), Contains("NCCL_NET_GDR_LEVEL=LOC"));
}

TEST_CASE("a card that cannot write to GPU memory fails its connections, and is not used again") {
  Pair pair(MemoryKind::kHost, MemoryKind::kDevice, PermissionKind::kNone);
  pair.card->fails_reads = true;
  Request* const receiving = pair.post_receive();
  pair.post_send(kMessageBytes);
  Request::Outcome outcome;
  auto state = Request::State::kPending;
  for (const Time end = steady_now() + 20s;
       state == Request::State::kPending && steady_now() < end;) {
    pair.step();
    state = pair.b.engine->test(*receiving, outcome);
  }
  REQUIRE(state == Request::State::kFailed);
  CHECK_THAT(pair.receives->error.message(), Contains("cannot write received data to GPU memory"));
  CHECK_FALSE(pair.b.engine->register_gpu_memory(*pair.receives, pair.in.gpu.as_dma_buf()).ok());
}

TEST_CASE("the end of a registration or connection does not wait for a card that never answers") {
  const bool close = GENERATE(false, true);
  Pair pair(MemoryKind::kHost, MemoryKind::kDevice, PermissionKind::kNone);
  pair.card->holds_reads = true;
  pair.post_receive();
  pair.post_send(kMessageBytes);
  pair.run_for(2ms);
  const Time begin = steady_now();
  if (close)
    CHECK(pair.b.engine->close(pair.receives));
  else
    pair.b.engine->release_memory(*pair.receives, pair.in.memory());
  CHECK(steady_now() - begin < 5s);  // 10 ms on an idle machine
  CHECK_FALSE(pair.b.datapath->placer()->writes(pair.in.gpu.bytes()));
}

TEST_CASE(
    "at most 16 MiB and a batch of packets wait for a card; unregistered memory is reported") {
  Pair pair;
  CardPlacer placer(*pair.b.datapath->placer());
  const std::vector<std::byte> payload(kMessageBytes);
  pair.card->holds_reads = true;
  std::size_t count = 0;
  for (; !placer.is_full(); ++count)
    placer.place({pair.in.gpu.at, payload, 0, {1, count}});
  CHECK(count == (std::size_t{16} << 20) / kMessageBytes + 1);
  pair.card->holds_reads = false;
  pair.card->release_binds();
  for (std::size_t i = 0; i < count;)
    if (const auto name = placer.poll_placed(steady_now())) CHECK(name->message == i++);
  CHECK_FALSE(placer.is_full());
  CHECK_FALSE(placer.poll_failed());
  std::vector<std::byte> host(100);
  placer.place({host.data(), std::span(payload).first(100), 0, {1, count}});
  CHECK(placer.poll_failed() == core::PlacementName{1, count});
}
