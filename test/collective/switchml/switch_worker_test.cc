// SwitchML's packets byte by byte, the conversion of floats to integers, and one worker with a
// switch that the test plays.
#include "collective/switchml/worker/switch_worker.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "catch.h"
#include "collective/switchml/worker/switch_scale.h"

using namespace dlcp;
using namespace dlcp::collective;

namespace {

using Bytes = std::vector<std::byte>;
using Call = SwitchWorker::Call;

constexpr Time kStart = time_from_ns(1'000'000'000);

Bytes sent_by(SwitchWorker& worker, Time now) {
  const auto packet = worker.poll_transmit(now);
  return {packet.begin(), packet.end()};
}

std::int32_t value_of(const Bytes& packet, std::size_t index) {
  return static_cast<std::int32_t>(load_be32(switch_value_at(std::span(packet), index)));
}

// One worker with blocks of 64 values.
SwitchTerms alone(unsigned slots = SwitchTerms{}.slots) {
  SwitchTerms terms;
  terms.workers = 1;
  terms.values = 64;
  terms.slots = slots;
  return terms;
}

// A switch with one worker returns the packets it received.
std::size_t echo_all(SwitchWorker& worker, Time now) {
  std::size_t packets = 0;
  for (Bytes packet = sent_by(worker, now); !packet.empty(); packet = sent_by(worker, now)) {
    worker.on_datagram(packet, now);
    ++packets;
  }
  return packets;
}

}  // namespace

TEST_CASE("serials begin with that of the job and continue over all calls, also past zero") {
  SwitchTerms terms = alone(8);
  terms.serial = 0xffff'fffe;
  SwitchWorker worker(terms);
  std::vector<float> data(64, 1.0f), result(64);
  std::vector<std::uint32_t> serials;
  for (int call = 0; call < 2; ++call) {
    REQUIRE(worker.start(data, result));
    while (worker.call() == Call::kRunning) {
      const Bytes packet = sent_by(worker, kStart);
      REQUIRE_FALSE(packet.empty());
      serials.push_back(read_switch_head(packet)->serial);
      worker.on_datagram(packet, kStart);
    }
  }
  CHECK(serials == std::vector<std::uint32_t>{0xffff'fffe, 0xffff'ffff, 0, 1});
}

TEST_CASE("a head has the ten bytes of the protocol") {
  SwitchHead head;
  head.job = 7;
  head.serial = 0x01020304;
  head.slot = 0x1ffe;
  head.second_set = true;
  head.exponents[0] = -3;
  head.exponents[1] = 5;
  Bytes packet(switch_packet_bytes(256));
  write_switch_head(head, packet);
  const unsigned char wanted[] = {0x13, 7, 1, 2, 3, 4, 0x9f, 0xfe, 0xfd, 5};
  CHECK(std::memcmp(packet.data(), wanted, sizeof wanted) == 0);
  CHECK(packet.size() == 1034);
  CHECK(read_switch_head(packet) == head);
  head.values = 64;
  packet.resize(switch_packet_bytes(64));
  write_switch_head(head, packet);
  CHECK(packet[0] == std::byte{0x11});
  CHECK(packet.size() == 266);
  CHECK(read_switch_head(packet) == head);
}

TEST_CASE("packets of another format are not accepted from the switch") {
  Bytes packet(switch_packet_bytes(64));
  write_switch_head({0, 0, 0, false, {0, 0}, 64}, packet);
  const auto with = [&](std::size_t at, unsigned byte) {
    Bytes changed = packet;
    changed[at] = static_cast<std::byte>(byte);
    return read_switch_head(changed).has_value();
  };
  CHECK(with(0, 0x11));
  CHECK_FALSE(with(0, 0x21));  // another message type
  CHECK_FALSE(with(0, 0x10));  // sizes that no switch accepts
  CHECK_FALSE(with(0, 0x12));
  CHECK_FALSE(with(0, 0x13));  // not the packet's size
  CHECK(with(6, 0x9f));
  CHECK_FALSE(with(6, 0x20));  // slot 8192
  CHECK_FALSE(read_switch_head(std::span(packet).first(packet.size() - 1)).has_value());
  packet.push_back(std::byte{0});
  CHECK_FALSE(read_switch_head(packet).has_value());
  CHECK_FALSE(read_switch_head({}).has_value());
}

TEST_CASE("an exponent exceeds all magnitudes of its block, independent of other blocks") {
  const auto exponent = [](std::vector<float> block) { return switch_exponent(block); };
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(exponent({}) == kSwitchExponentMin);
  CHECK(exponent({0.0f, -0.0f}) == kSwitchExponentMin);
  CHECK(exponent({std::numeric_limits<float>::denorm_min()}) == kSwitchExponentMin);
  CHECK(exponent({0x1p-126f}) == -125);
  CHECK(exponent({1.0f, -0.1f}) == 1);
  CHECK(exponent({std::nextafter(1.0f, 0.0f)}) == 0);
  CHECK(exponent({-8.0f, 7.0f}) == 4);
  CHECK(exponent({std::nextafter(0x1p127f, 0.0f)}) == 127);
  CHECK(exponent({0x1p127f}) == std::nullopt);
  CHECK(exponent({1.0f, infinity}) == std::nullopt);
  CHECK(exponent({-infinity}) == std::nullopt);
  CHECK(exponent({std::numeric_limits<float>::quiet_NaN(), 1.0f}) == std::nullopt);
}

TEST_CASE("the largest values of all workers together do not overflow") {
  for (unsigned workers = 1; workers <= kSwitchWorkersMax; ++workers) {
    for (const int exponent : {-126, -1, 0, 1, 100, 127}) {
      const SwitchScale scale(workers, exponent);
      const float below = std::nextafter(std::ldexp(1.0f, exponent), 0.0f);
      for (const float x : {below, -below, below / 3}) {
        const std::int64_t integer = scale.integer_of(x);
        CHECK(std::abs(integer) * workers <= std::numeric_limits<std::int32_t>::max());
        const double bound =
            std::ldexp(0.5 * workers, exponent) / std::numeric_limits<std::int32_t>::max();
        const float back = scale.float_of(static_cast<std::int32_t>(integer));
        CHECK(std::abs(double{back} - double{x}) <= bound + std::abs(double{x}) * 0x1p-24);
      }
    }
  }
  CHECK(std::isinf(SwitchScale(4, 127).float_of(std::numeric_limits<std::int32_t>::max())));
}

TEST_CASE("the exponent of a block is sent one batch before its numbers") {
  SwitchWorker worker(alone(2));
  std::vector<float> input(64 * 3 - 1, 0.75f), result(input.size());
  input[64] = 100;
  REQUIRE(worker.start(input, result));
  CHECK_FALSE(worker.start(input, result));  // one call at a time
  std::vector<SwitchHead> heads;
  std::vector<Bytes> packets;
  for (int i = 0; i < 2; ++i) {
    packets.push_back(sent_by(worker, kStart));
    heads.push_back(read_switch_head(packets.back()).value());
  }
  CHECK(sent_by(worker, kStart).empty());  // both slots are in use
  CHECK(heads[0].exponents[0] == 0);
  CHECK(heads[1].exponents[0] == 7);
  CHECK(value_of(packets[0], 0) == 0);
  CHECK(heads[0].slot == 0);
  CHECK(heads[1].slot == 1);
  CHECK_FALSE(heads[1].second_set);
  worker.on_datagram(packets[0], kStart);
  const Bytes third = sent_by(worker, kStart);
  const auto head = read_switch_head(third).value();
  CHECK(head.slot == 0);
  CHECK(head.second_set);
  CHECK(head.serial == 2);
  CHECK(head.exponents[0] == 0);            // of block 2
  CHECK(value_of(third, 0) == 1610612735);  // 0.75 (2^31 - 1), of block 0
  worker.on_datagram(third, kStart);
  worker.on_datagram(packets[1], kStart);
  echo_all(worker, kStart);
  CHECK(worker.call() == Call::kDone);
  CHECK(result == input);
  CHECK(worker.counts().sent == 5);
  REQUIRE(worker.start(input, result));
  const auto next = read_switch_head(sent_by(worker, kStart)).value();
  CHECK(next.serial == 5);  // slots and sets continue where they were
  CHECK(next.slot == 1);
  CHECK_FALSE(next.second_set);
}

TEST_CASE("a slot is not reused before its last sum has arrived, also in short calls") {
  SwitchWorker worker(alone(4));
  std::vector<float> input(64 * 3, 1.0f), result(input.size());
  REQUIRE(worker.start(input, result));
  std::vector<Bytes> first;
  for (int i = 0; i < 3; ++i)
    first.push_back(sent_by(worker, kStart));
  worker.on_datagram(first[1], kStart);
  // Packet 4, whose exponent is known, would use slot 0, whose sum of packet 0 is still missing.
  CHECK(sent_by(worker, kStart).empty());
  worker.on_datagram(first[0], kStart);
  CHECK(read_switch_head(sent_by(worker, kStart))->serial == 3);
  CHECK(read_switch_head(sent_by(worker, kStart))->serial == 4);
}

TEST_CASE("a packet is retransmitted unchanged at its timeout, and lost packets go first") {
  SwitchWorker worker(alone(2));
  std::vector<float> input(64 * 8, 1.0f), result(input.size());
  REQUIRE(worker.start(input, result));
  const Bytes first = sent_by(worker, kStart);
  const Bytes second = sent_by(worker, kStart + 300us);
  CHECK(worker.deadline() == kStart + 1ms);
  // The answer to the second, which was sent much later than the first, shows that the first is
  // lost; it has also freed a slot.
  worker.on_datagram(second, kStart + 400us);
  CHECK(worker.deadline() <= kStart + 400us);
  CHECK(sent_by(worker, kStart + 400us) == first);
  CHECK(worker.counts().repeated == 1);
  CHECK(read_switch_head(sent_by(worker, kStart + 400us))->serial == 3);
  CHECK(sent_by(worker, kStart + 400us).empty());
  worker.on_datagram(first, kStart + 500us);
  CHECK(read_switch_head(sent_by(worker, kStart + 500us))->serial == 2);
  CHECK(worker.counts().repeated == 1);
}

TEST_CASE("an exponent below the worker's own is refused") {
  SwitchWorker worker(alone());
  std::vector<float> input(64, 1.5f), result(input.size());
  REQUIRE(worker.start(input, result));
  Bytes packet = sent_by(worker, kStart);
  for (const int exponent : {0, -126, -127, -128}) {
    packet[8] = static_cast<std::byte>(exponent);
    worker.on_datagram(packet, kStart);
  }
  CHECK(worker.counts().unsound == 4);
  CHECK(worker.counts().taken == 0);
  packet[8] = std::byte{2};  // another worker's
  worker.on_datagram(packet, kStart);
  CHECK(worker.counts().taken == 1);
  CHECK(value_of(sent_by(worker, kStart), 0) == 805306368);  // 1.5 / 4 (2^31 - 1)
}

TEST_CASE("answers with another job, serial, set or size change nothing") {
  SwitchWorker worker(alone(4));
  std::vector<float> input(64, 1.5f), result(input.size());
  REQUIRE(worker.start(input, result));
  const Bytes packet = sent_by(worker, kStart);
  const std::pair<std::size_t, unsigned> changes[] = {{1, 1}, {5, 1}, {6, 0x80}, {7, 1}, {7, 4}};
  for (const auto& [at, byte] : changes) {
    Bytes changed = packet;
    changed[at] = static_cast<std::byte>(byte);
    worker.on_datagram(changed, kStart);
  }
  Bytes larger(switch_packet_bytes(256));
  write_switch_head({}, larger);
  worker.on_datagram(larger, kStart);
  CHECK(worker.counts().dropped == 6);
  worker.on_datagram(packet, kStart);
  worker.on_datagram(packet, kStart);  // the second copy has no effect
  CHECK(worker.counts().taken == 1);
  CHECK(worker.counts().dropped == 7);
}

TEST_CASE("values without an encoding end the call after its first batch") {
  SwitchWorker worker(alone(2));
  std::vector<float> input(64 * 5, 1.0f), result(input.size(), 3.0f);
  input[300] = std::numeric_limits<float>::infinity();
  REQUIRE(worker.start(input, result));
  CHECK(echo_all(worker, kStart) == 2);
  CHECK(worker.call() == Call::kRefused);
  CHECK(worker.deadline() == kNever);
  CHECK(result[0] == 3.0f);
  input[300] = 1.0f;
  REQUIRE(worker.start(input, result));
  Bytes packet = sent_by(worker, kStart);
  CHECK(read_switch_head(packet)->serial == 2);
  CHECK(value_of(packet, 0) == 0);
  store_be32(switch_value_at(std::span(packet), 0), 1);  // another worker refuses
  worker.on_datagram(packet, kStart);
  packet = sent_by(worker, kStart);
  store_be32(switch_value_at(std::span(packet), 0), 1);
  worker.on_datagram(packet, kStart);
  CHECK(worker.call() == Call::kRefused);
}

TEST_CASE("a call without elements completes at once, and an in-place call is correct") {
  SwitchWorker worker({1, 3, 64});
  CHECK(worker.call() == Call::kNone);
  REQUIRE(worker.start({}, {}));
  CHECK(worker.call() == Call::kDone);
  std::vector<float> data(1000);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(i);
  const auto wanted = data;
  REQUIRE(worker.start(data, data));
  echo_all(worker, kStart);
  CHECK(worker.call() == Call::kDone);
  double worst = 0;
  for (std::size_t i = 0; i < data.size(); ++i)
    worst = std::max(worst, std::abs(double{data[i]} - double{wanted[i]}));
  CHECK(worst <= 1024.0 / 2 / std::numeric_limits<std::int32_t>::max());
}
