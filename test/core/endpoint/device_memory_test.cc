// Memory that the processor cannot read or write, as a GPU's: the core passes its addresses on and
// never dereferences them. The caller scores magnitudes and places received data there.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
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

// Addresses that fault when touched; a vector beside them has their contents.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : content_(bytes) {
    base_ = static_cast<std::byte*>(
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
  }
  ~DeviceMemory() { munmap(base_, content_.size()); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::span<std::byte> addresses() const { return {base_, content_.size()}; }
  std::vector<std::byte>& content() { return content_; }
  bool holds(const std::byte* at) const { return at >= base_ && at < base_ + content_.size(); }
  std::span<std::byte> reach(const std::byte* at, std::size_t bytes) {
    return std::span(content_).subspan(static_cast<std::size_t>(at - base_), bytes);
  }
  // The contents of those addresses, or of host memory.
  std::span<const std::byte> read(std::span<const std::byte> from) {
    return !from.empty() && holds(from.data()) ? reach(from.data(), from.size()) : from;
  }

 private:
  std::byte* base_ = nullptr;
  std::vector<std::byte> content_;
};

struct DeviceWorth final : gradient::WorthSource {
  explicit DeviceWorth(DeviceMemory& from) : memory(from) {}
  float magnitude(gradient::ElementType type, std::span<const std::byte> payload) const override {
    ++asked;
    return gradient::mean_magnitude(type, memory.read(payload));
  }
  DeviceMemory& memory;
  mutable std::size_t asked = 0;
};

constexpr std::size_t kMessageBytes = std::size_t{1} << 20;

// A sender whose messages are in device memory, and a receiver that knows only the addresses of its
// own buffers.
struct Pair {
  // `plain`: as in production, where nothing can read the memory but the card.
  explicit Pair(bool is_plain = false) : plain(is_plain) {}
  Config sending() {
    Config config;
    if (plain) {
      config.compression.mode = compression::Mode::kOn;
      return config;
    }
    config.worth = worth;
    return config;
  }
  void carry(Endpoint& from, Endpoint& to) {
    std::array<wire::TxPacket, 64> packets;
    for (std::size_t count = 1; count > 0;) {
      count = from.poll_transmit(now, packets);
      for (const wire::TxPacket& packet : std::span(packets).first(count)) {
        std::vector<std::byte> bytes(packet.header.begin(),
                                     packet.header.begin() + packet.header_bytes);
        const auto payload = sent.read(packet.payload);
        bytes.insert(bytes.end(), payload.begin(), payload.end());
        const bool may_drop = packet.traffic_class == TrafficClass::kBulkDroppable;
        droppable += may_drop ? 1 : 0;
        if (may_drop && drops > 0) {
          --drops;
          continue;
        }
        const wire::RxPacket arrived{.bytes = bytes, .arrived_at = now, .source = {}};
        to.on_packets(now, {&arrived, 1});
        place(to);
      }
    }
  }
  void place(const Endpoint& endpoint) {
    for (const Placement& placement : endpoint.placements())
      if (placement.name.connection != 0)
        under_way.push_back({placement, {placement.payload.begin(), placement.payload.end()}});
      else if (received.holds(placement.destination))
        put(placement);
      else  // stored for a receive that is not posted: in host memory
        std::ranges::copy(placement.payload, placement.destination);
  }
  void put(const Placement& placement) {
    const std::size_t bytes = placement.zeros + placement.payload.size();
    const auto to = received.reach(placement.destination, bytes);
    if (placement.zeros > 0) std::ranges::fill(to, std::byte{0});
    std::ranges::copy(placement.payload, to.begin());
  }
  // Completes one of the pending placements, chosen at random.
  void finish_one(Rng& rng) {
    const auto at = under_way.begin() + static_cast<std::ptrdiff_t>(rng.below(under_way.size()));
    UnderWay done = std::move(*at);
    under_way.erase(at);
    done.placement.payload = done.payload;
    put(done.placement);
    b.on_placed(now, done.placement.name);
    place(b);
  }
  void run_for(Duration length) {
    for (const Time end = now + length; now < end; now += 20us) {
      a.on_timeout(now);
      b.on_timeout(now);
      carry(a, b);
      carry(b, a);
    }
  }
  void join() {
    const auto listening = b.listen(1, 1);
    sender = a.connect(now, 1, listening.invitation, address_of(1));
    run_until([&] {
      if (!receiver) receiver = b.accept(listening.id);
      return receiver && a.state(sender) == ConnectionState::kOpen;
    });
  }
  template <class Reached>
  void run_until(Reached reached) {
    for (int i = 0; i < 10'000; ++i, now += 20us) {
      if (reached()) return;
      a.on_timeout(now);
      b.on_timeout(now);
      carry(a, b);
      carry(b, a);
    }
    FAIL("not reached in 200 ms");
  }

  struct UnderWay {
    Placement placement;
    std::vector<std::byte> payload;
  };
  const bool plain;
  std::vector<UnderWay> under_way;
  std::size_t drops = 0;  // the next droppable packets that the network drops
  ConnectionId sender = 0;
  std::optional<ConnectionId> receiver;
  DeviceMemory sent{kMessageBytes};
  DeviceMemory received{kMessageBytes};
  std::shared_ptr<DeviceWorth> worth = std::make_shared<DeviceWorth>(sent);
  Endpoint a{sending(), address_of(0), test::secrets_of(1)};
  Endpoint b{Config{}, address_of(1), test::secrets_of(2)};
  Time now = time_from_ns(1'000'000'000);
  std::size_t droppable = 0;
};

const Licence kLicence{1, kMessageBytes, 4, 4, 0, 10'000, gradient::ElementType::kFloat32};

void fill_with_gradients(DeviceMemory& memory) {
  Rng rng(3);
  for (std::size_t at = 0; at < kMessageBytes; at += sizeof(float)) {
    const auto gradient = static_cast<float>(rng.unit());
    std::memcpy(memory.content().data() + at, &gradient, sizeof gradient);
  }
}

}  // namespace

TEST_CASE("messages between memories that the processor cannot touch arrive and are scored") {
  Pair pair;
  fill_with_gradients(pair.sent);
  pair.join();
  REQUIRE(pair.b.post_receive(pair.now, *pair.receiver, 7, pair.received.addresses(), kLicence));
  REQUIRE(pair.a.post_send(pair.now, pair.sender, 8, pair.sent.addresses(), kLicence));
  std::optional<Event> done;
  pair.run_until([&] { return (done = pair.b.poll_event()).has_value(); });
  CHECK(done->kind == Event::Kind::kReceiveDone);
  CHECK(done->lost == 0);
  CHECK(pair.received.content() == pair.sent.content());

  const auto packets = pair.a.counters()[Counter::kPacketsSent];
  CHECK(pair.worth->asked == packets);  // each scored once
  CHECK(pair.droppable > packets / 8);
  CHECK(pair.b.counters()[Counter::kDroppedUnauthentic] == 0);
}

TEST_CASE(
    "a message whose bytes are placed later, in any order, completes at both ends with the last") {
  Pair pair;
  Rng rng(11);
  fill_with_gradients(pair.sent);
  pair.join();
  const auto posts = [&] {
    REQUIRE(pair.b.post_receive(pair.now, *pair.receiver, 7, pair.received.addresses(), {},
                                MemoryKind::kDevice));
    pair.place(pair.b);
  };
  const bool late = GENERATE(false, true);  // then its beginning is stored in host memory
  if (!late) posts();
  REQUIRE(pair.a.post_send(pair.now, pair.sender, 8, pair.sent.addresses()));
  if (late) {
    pair.run_for(1ms);
    CHECK(pair.under_way.empty());
    posts();
    CHECK(pair.under_way.size() == 1);
  }
  pair.run_for(20ms);
  while (!pair.under_way.empty()) {
    CHECK_FALSE(pair.b.poll_event());
    CHECK_FALSE(pair.a.poll_event());
    pair.finish_one(rng);
    if (pair.under_way.size() % 64 == 0) pair.run_for(100us);
  }
  std::optional<Event> received;
  std::optional<Event> sent;
  pair.run_until([&] {
    while (!pair.under_way.empty())
      pair.finish_one(rng);  // of chunks declared lost and sent again
    if (!received) received = pair.b.poll_event();
    if (!sent) sent = pair.a.poll_event();
    return received && sent;
  });
  CHECK(received->kind == Event::Kind::kReceiveDone);
  CHECK(sent->kind == Event::Kind::kSendDone);
  CHECK(pair.received.content() == pair.sent.content());
}

TEST_CASE("a sender learns of a message's holes once the zeros are placed") {
  Pair pair;
  Rng rng(12);
  fill_with_gradients(pair.sent);
  pair.join();
  std::ranges::fill(pair.received.content(), std::byte{0xff});
  REQUIRE(pair.b.post_receive(pair.now, *pair.receiver, 7, pair.received.addresses(), kLicence,
                              MemoryKind::kDevice));
  REQUIRE(pair.a.post_send(pair.now, pair.sender, 8, pair.sent.addresses(), kLicence));
  pair.drops = 3;
  pair.run_for(10ms);
  CHECK_FALSE(pair.a.poll_event());
  bool zeros = false;
  for (std::size_t placed = 0; !pair.under_way.empty(); ++placed) {
    zeros = zeros || pair.under_way.back().placement.zeros > 0;
    CHECK_FALSE(pair.b.poll_event());
    if (placed % 64 == 0 || zeros) {
      pair.run_for(200us);
      CHECK_FALSE(pair.a.poll_event());
    }
    pair.finish_one(rng);
  }
  CHECK(zeros);
  const auto received = pair.b.poll_event();
  REQUIRE(received);
  CHECK(received->lost == 3 * 1'408);
  std::optional<Event> sent;
  pair.run_until([&] { return (sent = pair.a.poll_event()).has_value(); });
  CHECK(sent->kind == Event::Kind::kSendDone);
  for (const ByteRange& hole : received->holes)
    std::fill(pair.sent.content().begin() + static_cast<std::ptrdiff_t>(hole.begin),
              pair.sent.content().begin() + static_cast<std::ptrdiff_t>(hole.end), std::byte{0});
  CHECK(pair.received.content() == pair.sent.content());
}

TEST_CASE("a placement for a closed connection changes nothing") {
  Pair pair;
  Rng rng(13);
  pair.join();
  REQUIRE(pair.b.post_receive(pair.now, *pair.receiver, 7, pair.received.addresses(), {},
                              MemoryKind::kDevice));
  REQUIRE(pair.a.post_send(pair.now, pair.sender, 8, pair.sent.addresses()));
  pair.run_for(200us);
  REQUIRE(pair.under_way.size() > 1);
  pair.b.close(pair.now, *pair.receiver);
  while (!pair.under_way.empty())
    pair.finish_one(rng);
  CHECK_FALSE(pair.b.poll_event());
}

TEST_CASE("messages of memory kind device are neither compressed nor scored, and placed later") {
  Pair pair(true);
  Rng rng(14);
  fill_with_gradients(pair.sent);
  pair.join();
  CHECK_FALSE(pair.a.reads_payloads(pair.sender));
  const Licence licence = GENERATE(Licence{}, kLicence);
  REQUIRE(pair.b.post_receive(pair.now, *pair.receiver, 7, pair.received.addresses(), licence,
                              MemoryKind::kDevice));
  REQUIRE(pair.a.post_send(pair.now, pair.sender, 8, pair.sent.addresses(), licence,
                           MemoryKind::kDevice));
  std::optional<Event> received;
  std::optional<Event> sent;
  pair.run_until([&] {
    for (int i = 0; i < 20 && !pair.under_way.empty(); ++i)
      pair.finish_one(rng);
    if (!received) received = pair.b.poll_event();
    if (!sent) sent = pair.a.poll_event();
    return received && sent;
  });
  CHECK(received->kind == Event::Kind::kReceiveDone);
  CHECK(pair.received.content() == pair.sent.content());
  CHECK(pair.droppable == 0);
  CHECK(pair.a.counters()[Counter::kBytesCompressed] == 0);
}

TEST_CASE("messages of both kinds of memory can alternate on a connection") {
  Pair pair(true);
  Rng rng(15);
  fill_with_gradients(pair.sent);
  pair.join();
  std::vector<std::byte> from(20'000, std::byte{0x5a});
  std::vector<std::byte> to(20'000);
  REQUIRE(pair.b.post_receive(pair.now, *pair.receiver, 1, to));
  REQUIRE(pair.b.post_receive(pair.now, *pair.receiver, 2, pair.received.addresses(), {},
                              MemoryKind::kDevice));
  REQUIRE(pair.a.post_send(pair.now, pair.sender, 3, from));
  REQUIRE(
      pair.a.post_send(pair.now, pair.sender, 4, pair.sent.addresses(), {}, MemoryKind::kDevice));
  std::optional<Event> received;
  pair.run_until([&] { return (received = pair.b.poll_event()).has_value(); });
  CHECK(received->request == 1);
  CHECK(to == from);
  received.reset();
  pair.run_until([&] {
    while (!pair.under_way.empty())
      pair.finish_one(rng);
    return (received = pair.b.poll_event()).has_value();
  });
  CHECK(received->request == 2);
  CHECK(pair.received.content() == pair.sent.content());
}
