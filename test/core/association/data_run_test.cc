// Packets that arrive together are handled as runs: the result is the same as one by one.
#include "core/association/data_run.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "catch.h"
#include "core/endpoint.h"
#include "core/endpoint_addresses.h"
#include "secrets.h"
#include "util/rng.h"

using namespace dlcp;
using namespace dlcp::core;
using dlcp::test::address_of;

namespace {

using Datagram = std::vector<std::byte>;

Config roomy() {
  Config config;
  config.receive_capacity_bytes = std::size_t{16} << 20;  // for many packets before the first ACK
  return config;
}

// A sender and a receiver; the test decides which packets arrive together.
struct Pair {
  Endpoint a{roomy(), address_of(0), test::secrets_of(1)};
  Endpoint b{roomy(), address_of(1), test::secrets_of(2)};
  Time now = time_from_ns(1'000'000'000);

  std::vector<Datagram> sent_by(Endpoint& from) {
    std::vector<Datagram> datagrams;
    std::array<wire::TxPacket, 64> packets;
    const std::size_t count = from.poll_transmit(now, packets);
    for (const wire::TxPacket& packet : std::span(packets).first(count)) {
      Datagram& bytes = datagrams.emplace_back(packet.header.begin(),
                                               packet.header.begin() + packet.header_bytes);
      bytes.insert(bytes.end(), packet.payload.begin(), packet.payload.end());
    }
    return datagrams;
  }

  // The data packets that it sends in 1 ms without an answer.
  std::vector<Datagram> sent_in_a_while(Endpoint& from) {
    std::vector<Datagram> all;
    for (int i = 0; i < 100; ++i, now += 10us)
      for (Datagram& bytes : sent_by(from))
        if (wire::decode_data(bytes)) all.push_back(std::move(bytes));
    return all;
  }

  // Hands all packets over together. Returns in how many runs they were handled.
  std::size_t deliver(Endpoint& to, const std::vector<Datagram>& datagrams) {
    std::vector<wire::RxPacket> packets;
    for (const Datagram& bytes : datagrams)
      packets.push_back({.bytes = bytes, .arrived_at = now, .source = {}});
    std::size_t runs = 0;
    for (std::span<const wire::RxPacket> rest(packets); !rest.empty(); ++runs) {
      rest = rest.subspan(to.on_packets(now, rest));
      for (const Placement& placed : to.placements())
        if (!placed.payload.empty())
          std::memcpy(placed.destination, placed.payload.data(), placed.payload.size());
    }
    return runs;
  }

  void run(Duration duration) {
    for (const Time until = now + duration; now < until; now += 50us) {
      a.on_timeout(now);
      b.on_timeout(now);
      for (bool moved = true; moved;) {
        const auto forth = sent_by(a);
        deliver(b, forth);
        const auto back = sent_by(b);
        deliver(a, back);
        moved = !forth.empty() || !back.empty();
      }
    }
  }

  struct Stream {
    ConnectionId sending = 0;
    ConnectionId receiving = 0;
    Datagram message;
    Datagram buffer;
  };
  // A stream with one message that is posted on both sides.
  Stream open(std::uint32_t number, std::size_t bytes) {
    const auto listening = b.listen(number, number);
    Stream stream;
    stream.sending = a.connect(now, number, listening.invitation, address_of(1));
    run(200ms);
    stream.receiving = b.accept(listening.id).value();
    stream.message.resize(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      stream.message[i] = static_cast<std::byte>(i * number + i / 251);
    stream.buffer.resize(bytes);
    return stream;
  }
  void post(Stream& stream) {
    REQUIRE(b.post_receive(now, stream.receiving, 1, stream.buffer));
    run(1ms);  // so that the sender knows
    REQUIRE(a.post_send(now, stream.sending, 2, stream.message));
  }
};

}  // namespace

TEST_CASE("the packets of a message that arrive together are one run") {
  Pair pair;
  auto stream = pair.open(1, 9000);
  pair.post(stream);
  const auto sent = pair.sent_in_a_while(pair.a);
  REQUIRE(sent.size() >= 5);
  CHECK(pair.deliver(pair.b, sent) == 1);
  pair.run(10ms);
  CHECK(stream.buffer == stream.message);
  CHECK(pair.a.counters()[Counter::kPacketsSent] == pair.b.counters()[Counter::kPacketsReceived]);
  CHECK(pair.b.counters()[Counter::kBytesReceived] == 9000);
}

TEST_CASE("the ACK of a message that its sender has copied takes longer: no caller waits for it") {
  for (const MemoryKind kind : {MemoryKind::kHost, MemoryKind::kCopy}) {
    Pair pair;
    auto stream = pair.open(1, 1000);
    REQUIRE(pair.b.post_receive(pair.now, stream.receiving, 1, stream.buffer));
    REQUIRE(pair.b.post_receive(pair.now, stream.receiving, 2, stream.buffer));
    pair.run(5ms);
    REQUIRE(pair.a.post_send(pair.now, stream.sending, 2, stream.message, {}, kind));
    pair.deliver(pair.b, pair.sent_by(pair.a));
    CHECK(pair.sent_by(pair.b).empty());
    pair.now += 6us;
    pair.b.on_timeout(pair.now);
    CHECK(pair.sent_by(pair.b).empty() == (kind == MemoryKind::kCopy));
    pair.now += 45us;
    pair.b.on_timeout(pair.now);
    CHECK(pair.sent_by(pair.b).empty() == (kind == MemoryKind::kHost));
  }
}

TEST_CASE("forged, repeated and damaged packets within a run do not hurt the others") {
  for (std::size_t at = 0; at < 5; ++at) {
    Pair pair;
    auto stream = pair.open(1, 9000);
    pair.post(stream);
    auto sent = pair.sent_in_a_while(pair.a);
    REQUIRE(sent.size() >= 5);
    Datagram forged = sent[at];
    forged[20] ^= std::byte{1};  // within the offset
    const auto place = sent.begin() + static_cast<std::ptrdiff_t>(at);
    const Datagram repeated = sent[at];
    sent.insert(place, {forged, repeated, Datagram(44, std::byte{0xd1}), Datagram{}});
    pair.deliver(pair.b, sent);
    INFO("before packet " << at);
    CHECK(pair.b.counters()[Counter::kDroppedUnauthentic] == 1);
    CHECK(pair.b.counters()[Counter::kDroppedReplayed] == 1);
    CHECK(pair.b.counters()[Counter::kDroppedMalformed] == 2);
    CHECK(pair.b.counters()[Counter::kPacketsReceived] == sent.size() - 4);
    pair.run(10ms);
    CHECK(stream.buffer == stream.message);
    CHECK(pair.a.counters()[Counter::kPacketsRetransmitted] == 0);
  }
}

TEST_CASE("packets in batches of any size are taken as they would be one by one") {
  // The same packets, some of them swapped, repeated, lost or damaged.
  const auto arrivals = [](std::vector<Datagram> sent, std::uint64_t seed) {
    Rng rng(seed);
    const double rate = rng.chance(0.5) ? 0.02 : 0.3;
    std::vector<Datagram> arrived;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      if (i > 0 && rng.chance(rate)) std::swap(sent[i], sent[i - 1]);
      if (rng.chance(rate / 2)) continue;
      arrived.push_back(sent[i]);
      if (rng.chance(rate)) arrived.push_back(sent[rng.below(i + 1)]);
      if (rng.chance(rate / 2)) arrived.back()[rng.below(44)] ^= std::byte{1} << rng.below(8);
    }
    return arrived;
  };
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Pair together, apart;
    for (Pair* pair : {&together, &apart}) {
      auto stream = pair->open(1, 70'000);
      pair->post(stream);
      const auto arrived = arrivals(pair->sent_in_a_while(pair->a), seed);
      Rng rng(seed);
      for (std::size_t begin = 0; begin < arrived.size();) {
        const std::size_t most = pair == &apart ? 1 : 1 + rng.below(64);
        const auto first = arrived.begin() + static_cast<std::ptrdiff_t>(begin);
        const std::size_t count = std::min(most, arrived.size() - begin);
        const std::vector<Datagram> batch(first, first + static_cast<std::ptrdiff_t>(count));
        pair->deliver(pair->b, batch);
        begin += count;
      }
      pair->run(50ms);
      REQUIRE(stream.buffer == stream.message);
    }
    INFO("seed " << seed);
    for (const Counter counter :
         {Counter::kPacketsReceived, Counter::kBytesReceived, Counter::kDuplicates,
          Counter::kDroppedReplayed, Counter::kDroppedUnauthentic, Counter::kDroppedMalformed,
          Counter::kDroppedUnknownToken, Counter::kDroppedOutOfWindow})
      CHECK(together.b.counters()[counter] == apart.b.counters()[counter]);
  }
}

TEST_CASE("packets of two streams that arrive in turn reach their own messages") {
  Pair pair;
  auto first = pair.open(1, 9000);
  auto second = pair.open(2, 9000);
  pair.post(first);
  const auto of_first = pair.sent_in_a_while(pair.a);
  pair.post(second);
  auto of_second = pair.sent_in_a_while(pair.a);
  std::vector<Datagram> mixed;
  for (std::size_t i = 0; i < std::max(of_first.size(), of_second.size()); ++i) {
    if (i < of_first.size()) mixed.push_back(of_first[i]);
    if (i < of_second.size()) mixed.push_back(of_second[i]);
  }
  pair.deliver(pair.b, mixed);
  pair.run(20ms);
  CHECK(first.buffer == first.message);
  CHECK(second.buffer == second.message);
}

TEST_CASE("a stream that fails within a run leaves no copies to memory that it has freed") {
  Pair pair;
  auto stream = pair.open(1, 2000);
  std::vector<std::byte> small(1000);
  REQUIRE(pair.b.post_receive(pair.now, stream.receiving, 1, small));
  pair.run(1ms);
  REQUIRE(pair.a.post_send(pair.now, stream.sending, 2, stream.message));  // too long
  const std::vector<std::byte> unexpected(500, std::byte{7});
  REQUIRE(pair.a.post_send(pair.now, stream.sending, 3, unexpected));
  auto sent = pair.sent_in_a_while(pair.a);
  REQUIRE(sent.size() == 3);
  std::reverse(sent.begin(), sent.end());  // the second message is kept, then the first one fails
  pair.deliver(pair.b, sent);
  const auto closed = pair.b.poll_event();
  REQUIRE(closed);
  CHECK(closed->kind == Event::Kind::kClosed);
  CHECK(closed->error.code == ErrorCode::kInvalidUsage);
}

TEST_CASE("the end of a message within a run decides when the run is acknowledged") {
  std::vector<Placement> placements;
  DataRun run{.placements = placements};
  wire::DataHeader header;
  header.message_bytes = 64;
  header.window_epoch = 0xffff;
  run.add(header, 64);
  header.message_bytes = 1 << 20;
  header.window_epoch = 0;
  run.add(header, 1408);
  header.window_epoch = 0xfffe;  // of an older packet
  run.add(header, 1408);
  CHECK(run.packets == 3);
  CHECK(run.ends_message);
  CHECK(run.message_bytes == 64);
  CHECK(run.window_epoch == 0);
}
