// The decisions of a receiver about a licensed message with missing chunks, and their times.
#include <array>
#include <optional>
#include <vector>

#include "catch.h"
#include "core/bounded_loss/lossy_receives.h"
#include "core/streams/recv_queue.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr std::uint32_t kPayload = 128;

// A receiver of one message of 100 packets, a quarter of which may be lost.
struct Receiver {
  Receiver() { queue.set_payload_bytes(kPayload); }
  static Licence licence() {
    return {1, 100 * kPayload, 2, 1, 0, kBudgetPpmMax, gradient::ElementType::kFloat32};
  }
  void post(const Licence& granted) {
    queue.post(7, buffer, placements);
    losses.on_posted(0, granted, buffer.size());
    zeros = 0;
    placements.clear();
  }
  Receipt data(std::uint32_t chunk, bool retransmission = false) {
    wire::DataHeader header;
    header.message_bytes = 100 * kPayload;
    header.offset = chunk * kPayload;
    header.licensed = true;
    header.retransmission = retransmission;
    return queue.on_data(header, payload, placements.wanted);
  }
  bool sent_once(std::vector<wire::PathMark> marks, std::uint8_t path) {
    return losses.on_sent_once({0, 0, 100 * kPayload, 5, path, false, std::move(marks)});
  }
  // The decisions that are made now, as they are sent.
  struct Decision {
    std::optional<wire::Stop> stop;
    std::optional<wire::Need> need;
    wire::PathIndex path = 0;
  };
  std::vector<Decision> decide() {
    placements.clear();
    losses.decide(paths, kPayload, placements.wanted);
    FrameArena arena;
    Channel channel;
    FrameWriter frames(arena, channel);
    const wire::EndpointAddress address;
    std::array<wire::TxPacket, 8> out;
    const std::size_t count = losses.poll_transmit({7, &address}, {9, 8, 1400}, frames, out);
    std::vector<Decision> decisions;
    for (const wire::TxPacket& packet : std::span(out).first(count))
      decisions.push_back({wire::decode<wire::Stop>(packet.payload),
                           wire::decode<wire::Need>(packet.payload), packet.path});
    for (const Placement& placement : placements.wanted)
      zeros += placement.zeros;
    return decisions;
  }
  void see(std::uint8_t path, std::uint32_t sequence, bool licensed = true, bool urgent = false) {
    if (path >= paths.size()) paths.resize(path + 1u);
    wire::DataHeader header;
    header.path_sequence = sequence;
    header.licensed = licensed;
    header.traffic_class = urgent ? TrafficClass::kUrgentDroppable : TrafficClass::kBulkProtected;
    paths[path].on_packet(header);
  }

  UnpostedPool pool{1024, 0};
  RecvQueue queue{8, 512, pool};
  Counters counters;
  LossyReceives losses{queue, counters};
  std::vector<PathSeen> paths;
  std::vector<std::byte> buffer = std::vector<std::byte>(100 * kPayload);
  std::vector<std::byte> payload = std::vector<std::byte>(kPayload, std::byte{1});
  PlacementBatch placements;
  std::size_t zeros = 0;
};

}  // namespace

TEST_CASE("a message completes with holes once no path can still deliver, and not before") {
  Receiver receiver;
  receiver.post(Receiver::licence());
  for (std::uint32_t chunk = 0; chunk < 100; ++chunk)
    if (chunk != 10 && chunk != 11 && chunk != 99) receiver.data(chunk);
  CHECK(receiver.decide().empty());
  REQUIRE(receiver.sent_once({{1, 50}, {2, 60}, {3, 70}}, 3));
  receiver.see(1, 49);
  receiver.see(2, 60);
  CHECK(receiver.decide().empty());  // path 1 may still deliver its last packet
  receiver.see(1, 51);
  const auto decisions = receiver.decide();
  REQUIRE(decisions.size() == 1);
  REQUIRE(decisions[0].stop);
  CHECK(decisions[0].path == 9);
  CHECK(decisions[0].stop->lost_bytes == 3 * kPayload);
  CHECK(decisions[0].stop->holes == std::vector<wire::Hole>{{10, 2}, {99, 1}});
  CHECK(receiver.zeros == 3 * kPayload);
  const auto done = receiver.queue.pop_done();
  REQUIRE(done);
  CHECK(done->lost == 3 * kPayload);
  CHECK(done->holes ==
        std::vector<ByteRange>{{10 * kPayload, 12 * kPayload}, {99 * kPayload, 100 * kPayload}});
  CHECK(receiver.queue.completed() == 1);
  CHECK_FALSE(receiver.losses.awaits());

  receiver.placements.clear();
  CHECK(receiver.data(10) == Receipt::kLate);
  CHECK(receiver.data(10, true) == Receipt::kDuplicate);
  CHECK(receiver.placements.wanted.empty());
}

TEST_CASE("only licensed packets of the same queue show that a path has delivered everything") {
  Receiver receiver;
  receiver.post(Receiver::licence());
  for (std::uint32_t chunk = 0; chunk < 99; ++chunk)
    receiver.data(chunk);
  receiver.sent_once({{1, 50}, {2, 60}}, 2);
  receiver.see(1, 51, false);       // an exact packet overtakes the licensed ones
  receiver.see(1, 52, true, true);  // an urgent packet overtakes them as well
  CHECK(receiver.decide().empty());
  receiver.see(1, 50);
  CHECK(receiver.decide().size() == 1);
}

TEST_CASE("a path's sequence numbers may wrap while one of its queues is silent") {
  PathSeen path;
  wire::DataHeader header;
  header.licensed = true;
  header.traffic_class = TrafficClass::kBulkProtected;
  path.on_packet(header);
  header.licensed = false;
  for (const std::uint32_t sequence : {0x7000'0000u, 0xe000'0000u, 0x5000'0000u, 0xc000'0000u}) {
    header.path_sequence = sequence;
    CHECK(path.on_packet(header));
    CHECK_FALSE(path.passed({0, sequence - 5}, false));
  }
  header.path_sequence -= 4;
  header.licensed = true;
  CHECK_FALSE(path.on_packet(header));
  CHECK(path.passed({0, header.path_sequence}, false));
  CHECK_FALSE(path.passed({0, header.path_sequence + 1}, false));
  CHECK_FALSE(path.passed({0, header.path_sequence}, true));
}

TEST_CASE("a SENT_ONCE on a path covers all packets sent before it on that path") {
  Receiver receiver;
  receiver.post(Receiver::licence());
  receiver.data(0);
  for (std::uint32_t chunk = 20; chunk < 100; ++chunk)
    receiver.data(chunk);
  receiver.sent_once({{1, 50}, {2, 60}}, 2);
  CHECK(receiver.decide().empty());
  receiver.sent_once({{1, 50}, {2, 60}}, 1);
  const auto decisions = receiver.decide();
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].stop);
}

TEST_CASE("over budget, or without its own licence, a receiver requests all chunks, repeatedly") {
  for (const bool licensed : {true, false}) {
    Receiver receiver;
    receiver.post(licensed ? Receiver::licence() : Licence{});
    for (std::uint32_t chunk = licensed ? 26 : 1; chunk < 100; ++chunk)
      receiver.data(chunk);
    receiver.sent_once({}, 0);
    auto decisions = receiver.decide();
    REQUIRE(decisions.size() == 1);
    CHECK(decisions[0].need);
    CHECK(decisions[0].path == 9);  // the first NEED takes the path that works most likely
    CHECK(receiver.zeros == 0);
    CHECK(receiver.decide().empty());
    for (std::uint32_t needs = 1; needs < 5; ++needs) {
      receiver.sent_once({}, 0);
      decisions = receiver.decide();
      REQUIRE(decisions.size() == 1);
      CHECK(decisions[0].path == needs);  // this one takes another
    }
    for (std::uint32_t chunk = 0; chunk < 26; ++chunk)
      receiver.data(chunk, true);
    const auto done = receiver.queue.pop_done();
    REQUIRE(done);
    CHECK(done->lost == 0);
  }
}

TEST_CASE("SENT_ONCE of several paths that arrive together get one NEED, on the likeliest path") {
  Receiver receiver;
  receiver.post(Licence{});
  for (std::uint32_t chunk = 1; chunk < 100; ++chunk)
    receiver.data(chunk);
  for (std::uint8_t path = 0; path < 4; ++path) {
    receiver.sent_once({}, path);
    receiver.losses.decide(receiver.paths, kPayload, receiver.placements.wanted);
  }
  const auto decisions = receiver.decide();
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].need);
  CHECK(decisions[0].path == 9);
  CHECK(receiver.counters[Counter::kNeedsSent] == 1);
}

TEST_CASE("chunks that the receiver itself dropped are requested, whatever the budget") {
  Receiver receiver;
  for (std::uint32_t chunk = 0; chunk < 100; ++chunk)
    receiver.data(chunk);  // 512 bytes are kept
  receiver.sent_once({}, 0);
  CHECK(receiver.decide().empty());  // no receive is posted for it
  receiver.post(Receiver::licence());
  for (std::uint32_t chunk = 5; chunk < 100; ++chunk)
    receiver.data(chunk, true);  // chunk 4 is missing
  const auto decisions = receiver.decide();
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].need);
}

TEST_CASE(
    "a SENT_ONCE that contradicts the message, or names one far from the current, is refused") {
  Receiver receiver;
  receiver.post(Receiver::licence());
  receiver.data(0);
  CHECK_FALSE(receiver.losses.on_sent_once({0, 0, 99 * kPayload, 5, 0, false, {}}));
  CHECK_FALSE(receiver.losses.on_sent_once({0, 16, 100 * kPayload, 5, 0, false, {}}));
  CHECK(receiver.losses.on_sent_once(
      {0, 0xffffffff, 100 * kPayload, 5, 0, false, {}}));  // completed long ago
  CHECK_FALSE(receiver.losses.awaits());
}

TEST_CASE(
    "a message whose loss is granted waits for the end of its permissions, and gets no more") {
  Receiver receiver;
  receiver.post(Receiver::licence());
  receiver.queue.permit(0);
  for (std::uint32_t chunk = 1; chunk < 100; ++chunk)
    receiver.data(chunk);
  CHECK_FALSE(receiver.losses.is_granted(0));
  receiver.sent_once({}, 0);
  CHECK(receiver.decide().empty());
  CHECK(receiver.queue.take_closing() == std::vector<std::uint64_t>{0});
  CHECK(receiver.losses.is_granted(0));
  receiver.queue.end_permits(0);
  CHECK(receiver.losses.is_granted(0));
  const auto decisions = receiver.decide();
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].stop);
  CHECK(receiver.zeros == kPayload);
  CHECK_FALSE(receiver.losses.is_granted(0));
}
