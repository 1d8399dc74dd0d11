// Memory that the processor cannot read or write, as a GPU's: the core names it, and never touches
// it. Whoever can reads worth and tags there, and places what arrives.
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "catch.h"
#include "core/endpoint.h"
#include "secrets.h"
#include "util/rng.h"
#include "wire/data_header.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

// Addresses that fault when touched; what "lies" there is in a vector beside them.
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
  // What stands at those addresses, here or in memory of the host's.
  std::span<const std::byte> read(std::span<const std::byte> from) {
    return !from.empty() && holds(from.data()) ? reach(from.data(), from.size()) : from;
  }

 private:
  std::byte* base_ = nullptr;
  std::vector<std::byte> content_;
};

struct DeviceWorth final : WorthSource {
  explicit DeviceWorth(DeviceMemory& from) : memory(from) {}
  float magnitude(gradient::ElementType type, std::span<const std::byte> payload) const override {
    ++asked;
    return gradient::mean_magnitude(type, memory.read(payload));
  }
  DeviceMemory& memory;
  mutable std::size_t asked = 0;
};

struct DeviceTags final : wire::TagSource {
  explicit DeviceTags(DeviceMemory& from) : memory(from) {}
  std::uint64_t tag(const wire::Key& key, std::span<const std::byte> header,
                    std::span<const std::byte> payload) const override {
    ++asked;
    return wire::data_tag(key, header, memory.read(payload));
  }
  DeviceMemory& memory;
  mutable std::size_t asked = 0;
};

wire::EndpointAddress address_of(std::uint8_t host) {
  wire::EndpointAddress address;
  address.bytes[0] = std::byte{host};
  address.size = 1;
  return address;
}

constexpr std::size_t kMessageBytes = std::size_t{1} << 20;

// A sender whose messages lie in a device, and a receiver that knows nothing of it but where its
// own buffers are.
struct Pair {
  Config sending() {
    Config config;
    config.protection = wire::Protection::kFull;
    config.worth = worth;
    config.tags = tags;
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
        droppable += packet.traffic_class == TrafficClass::kBulkDroppable ? 1 : 0;
        to.on_packet(now, {.bytes = bytes, .arrived_at = now, .path = packet.path, .source = {}});
        place(to);
      }
    }
  }
  void place(const Endpoint& endpoint) {
    for (const Placement& placement : endpoint.placements()) {
      const auto to = received.reach(placement.destination, placement.payload.size());
      if (!to.empty()) std::memcpy(to.data(), placement.payload.data(), to.size());
    }
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

  DeviceMemory sent{kMessageBytes};
  DeviceMemory received{kMessageBytes};
  std::shared_ptr<DeviceWorth> worth = std::make_shared<DeviceWorth>(sent);
  std::shared_ptr<DeviceTags> tags = std::make_shared<DeviceTags>(sent);
  Endpoint a{sending(), address_of(0), test::secrets_of(1)};
  Endpoint b{Config{}, address_of(1), test::secrets_of(2)};
  Time now = time_from_ns(1'000'000'000);
  std::size_t droppable = 0;
};

}  // namespace

TEST_CASE("messages between memories that the processor cannot touch arrive, judged and sealed") {
  Pair pair;
  Rng rng(3);
  for (std::size_t at = 0; at < kMessageBytes; at += sizeof(float)) {
    const auto gradient = static_cast<float>(rng.unit());
    std::memcpy(pair.sent.content().data() + at, &gradient, sizeof gradient);
  }
  const auto listening = pair.b.listen(1, 1);
  const auto sender = pair.a.connect(pair.now, 1, listening.invitation, address_of(1));
  std::optional<ConnectionId> receiver;
  pair.run_until([&] {
    if (!receiver) receiver = pair.b.accept(listening.id);
    return receiver && pair.a.state(sender) == ConnectionState::kOpen;
  });

  const Licence licence{1, kMessageBytes, 4, 4, 0, 10'000, gradient::ElementType::kFloat32};
  REQUIRE(pair.b.post_receive(pair.now, *receiver, 7, pair.received.addresses(), licence));
  REQUIRE(pair.a.post_send(pair.now, sender, 8, pair.sent.addresses(), licence));
  std::optional<Event> done;
  pair.run_until([&] { return (done = pair.b.poll_event()).has_value(); });
  CHECK(done->kind == Event::Kind::kReceiveDone);
  CHECK(done->lost == 0);
  CHECK(pair.received.content() == pair.sent.content());

  const auto packets = pair.a.counters()[Counter::kPacketsSent];
  CHECK(pair.worth->asked == packets);  // each judged once
  CHECK(pair.tags->asked == packets);   // and sealed once
  CHECK(pair.droppable > packets / 8);
  CHECK(pair.b.counters()[Counter::kDroppedUnauthentic] == 0);
}
