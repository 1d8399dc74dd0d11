#include "core/loss_detection/flight.h"

#include <vector>

#include "catch.h"
#include "core/streams/send_queue.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

SentChunk mark_sent(SendQueue& queue, const ChunkRef& chunk) {
  SentChunk sent;
  queue.mark_sent(chunk, sent);
  return sent;
}

// One message of many chunks, all posted; packets are sent by hand on chosen paths.
struct Scene {
  Scene() : queue(4, 1 << 20), flight(4), memory(128 * 64) {
    queue.set_payload_bytes(128);
    queue.set_posted(9);
    queue.push(1, memory);
    rtt.add(1ms);
    for (int i = 0; i < 30; ++i)
      rtt.add(1ms);
  }
  std::uint32_t send(Time at, std::uint8_t path) {
    const ChunkRef chunk = *queue.next();
    mark_sent(queue, chunk);
    return static_cast<std::uint32_t>(flight.on_sent(at, path, chunk));
  }
  void receive(std::uint32_t chunk) {
    wire::StreamReport ack;
    ack.messages = {{0, chunk, 1}};
    ack.bitmap = {std::uint64_t{1} << chunk};
    // first_missing must not cover chunks that are missing.
    ack.messages[0].first_missing = 0;
    SendQueue::Acked acked;
    queue.acknowledge(ack, acked);
  }
  std::vector<std::uint32_t> losses(Time now) {
    std::vector<Flight::Loss> found;
    flight.find_losses(
        now, rtt, [&](const ChunkRef& chunk) { return queue.acked_of(chunk); }, found);
    std::vector<std::uint32_t> chunks;
    for (const auto& loss : found)
      chunks.push_back(loss.chunk.chunk);
    return chunks;
  }

  SendQueue queue;
  Flight flight;
  RttEstimator rtt;
  std::vector<std::byte> memory;
};

constexpr Time t0 = time_from_ns(1'000'000'000);

}  // namespace

TEST_CASE("a packet overtaken on its own path is lost after the reordering window, not before") {
  Scene s;
  s.send(t0, 2);
  const auto sequence = s.send(t0, 2);
  s.receive(1);
  REQUIRE(s.flight.on_report(t0 + 1ms, 2, sequence, t0));
  CHECK(s.losses(t0 + 1ms).empty());
  // The window is an eighth of the round trip of 1 ms.
  REQUIRE(s.flight.deadline() == t0 + 1ms + 125us);
  CHECK(s.losses(t0 + 1ms + 125us - 1ns).empty());
  CHECK(s.losses(t0 + 1ms + 125us) == std::vector<std::uint32_t>{0});
  CHECK(s.flight.deadline() == kNever);
  CHECK(s.losses(t0 + 1s).empty());
}

TEST_CASE("packets that were sent together are judged one by one, like those sent apart") {
  std::vector<std::byte> memory(300 * 128);
  Flight together(1), apart(1);
  RttEstimator rtt;
  for (int i = 0; i < 30; ++i)
    rtt.add(1ms);
  REQUIRE(together.on_sent(t0, 0, {0, 0, 1}, Flight::Carried::kChunk, 100) == 0);
  REQUIRE(together.on_sent(t0, 0, {0, 100, 1}, Flight::Carried::kChunk, 200) == 100);
  for (std::uint32_t chunk = 0; chunk < 300; ++chunk)
    REQUIRE(apart.on_sent(t0, 0, {0, chunk, 1}) == chunk);
  Bitmap acked;
  acked.reset(300);
  const auto lost = [&](Flight& flight, Time now) {
    std::vector<Flight::Loss> found;
    flight.find_losses(
        now, rtt, [&](const ChunkRef&) { return &acked; }, found);
    std::vector<std::uint32_t> chunks;
    for (const auto& loss : found)
      chunks.push_back(loss.chunk.chunk);
    return chunks;
  };
  std::size_t total = 0;
  for (std::uint32_t newest = 30; newest < 300; newest += 45) {
    const Time now = t0 + 1ms + newest * 1us;
    for (std::uint32_t chunk = newest - 30; chunk <= newest; ++chunk)
      if (chunk % 7 != 3 || chunk == newest) acked.set(chunk);
    for (Flight* flight : {&together, &apart})
      REQUIRE(flight->on_report(now, 0, newest, t0));
    for (const Time at : {now, now + 100us, now + 1ms}) {
      const auto found = lost(together, at);
      CHECK(found == lost(apart, at));
      CHECK(together.deadline() == apart.deadline());
      total += found.size();
    }
    CHECK(together.any_unknown());
  }
  CHECK(total == 96);
  CHECK(together.sent_since_unknown(0) >= apart.sent_since_unknown(0));
}

TEST_CASE("a packet overtaken on another path gets a longer waiting time") {
  Scene s;
  s.send(t0, 0);
  const auto sequence = s.send(t0 + 10us, 1);
  s.receive(1);
  REQUIRE(s.flight.on_report(t0 + 1ms + 10us, 1, sequence, t0 + 10us));
  CHECK(s.losses(t0 + 1ms + 250us - 1ns).empty());
  CHECK(s.losses(t0 + 1ms + 250us) == std::vector<std::uint32_t>{0});
}

TEST_CASE("however short the round trip, another path gets 60 us, or its measured lateness") {
  Scene s;
  s.rtt = RttEstimator();
  for (int i = 0; i < 100; ++i)
    s.rtt.add(10us);
  s.send(t0, 0);
  const auto sequence = s.send(t0 + 1us, 1);
  s.receive(1);
  REQUIRE(s.flight.on_report(t0 + 11us, 1, sequence, t0 + 1us));
  CHECK(s.losses(t0 + 70us - 1ns).empty());
  CHECK(s.losses(t0 + 70us) == std::vector<std::uint32_t>{0});
  s.flight.on_spurious(t0 + 80us, 10us);  // the loss was declared too early
  s.send(t0 + 90us, 0);
  const auto next = s.send(t0 + 91us, 1);
  s.receive(3);
  REQUIRE(s.flight.on_report(t0 + 101us, 1, next, t0 + 91us));
  CHECK(s.losses(t0 + 250us - 1ns).empty());
  CHECK(s.losses(t0 + 250us) == std::vector<std::uint32_t>{2});
}

TEST_CASE("no packet is declared lost while no later one has arrived") {
  Scene s;
  s.send(t0, 0);
  s.send(t0, 1);
  CHECK(s.losses(t0 + 10s).empty());
  CHECK(s.flight.deadline() == kNever);
}

TEST_CASE("an answered probe sets the loss deadline of the packets sent before it on its path") {
  Scene s;
  s.send(t0, 3);
  s.flight.on_probe_answered(t0 + 5ms, 3, t0 + 4ms, 0ms);
  CHECK(s.losses(t0 + 5ms) == std::vector<std::uint32_t>{0});
}

TEST_CASE("a probe may overtake data; the packets before it get the time that data takes") {
  Scene s;
  s.send(t0, 3);
  s.flight.on_probe_answered(t0 + 1ms, 3, t0 + 900us, 5ms);
  CHECK(s.losses(t0 + 5ms).empty());
  CHECK(s.flight.deadline() > t0 + 5ms);
  CHECK(s.losses(s.flight.deadline() - 1ns).empty());
  CHECK(s.losses(s.flight.deadline()) == std::vector<std::uint32_t>{0});
}

TEST_CASE("acknowledged packets are removed and not declared lost") {
  Scene s;
  const auto sequence = s.send(t0, 0);
  s.receive(0);
  s.flight.on_report(t0 + 1ms, 0, sequence, t0);
  CHECK(s.losses(t0 + 10s).empty());
  CHECK(s.flight.deadline() == kNever);
}

TEST_CASE("a report counts the packets since the last one, also if a probe was answered between") {
  Scene s;
  for (int i = 0; i < 4; ++i)
    s.send(t0, 0);
  s.send(t0 + 10us, 0);
  CHECK(s.flight.unreported(0) == 5);
  CHECK(s.flight.on_report(t0 + 1ms, 0, 1, t0) == 2);
  CHECK(s.flight.on_report(t0 + 1ms, 0, 0, t0) == 0);
  CHECK(s.flight.unreported(0) == 3);
  s.flight.on_probe_answered(t0 + 1ms, 0, t0, 0ms);
  CHECK(s.flight.unreported(0) == 3);
  CHECK(s.flight.on_report(t0 + 1ms, 0, 4, t0) == 3);
  CHECK(s.flight.unreported(0) == 0);
}

TEST_CASE("a report of a packet that was never sent is refused") {
  Scene s;
  s.send(t0, 0);
  CHECK_FALSE(s.flight.on_report(t0 + 1ms, 0, 1, t0));
  CHECK_FALSE(s.flight.on_report(t0 + 1ms, 9, 0, t0));
}

namespace {

// Packets 0 and 1 leave on one path at `at`; the second is acknowledged after 1 ms, the first
// `late` after that.
void overtake(Scene& s, Time at, Duration late) {
  const auto base = *s.queue.next();
  s.send(at, 0);
  const auto sequence = s.send(at, 0);
  s.receive(base.chunk + 1);
  s.flight.on_report(at + 1ms, 0, sequence, at);
  s.losses(at + 1ms);
  s.receive(base.chunk);
  s.losses(at + 1ms + late);
}

// How long after `at` an overtaken packet would be declared lost.
Duration window_at(Scene& s, Time at) {
  const auto base = *s.queue.next();
  s.send(at, 0);
  const auto sequence = s.send(at, 0);
  s.receive(base.chunk + 1);
  s.flight.on_report(at + 1ms, 0, sequence, at);
  CHECK(s.losses(at + 1ms).empty());
  return s.flight.deadline() - (at + 1ms);
}

}  // namespace

TEST_CASE("a spurious retransmission counts as late by twice the window, once per round trip") {
  Scene s;
  overtake(s, t0, 10us);
  s.flight.on_spurious(t0 + 5ms, 1ms);
  s.flight.on_spurious(t0 + 6ms - 1ns, 1ms);  // the same decision, reported again
  CHECK(window_at(s, t0 + 10ms) == 312500ns);
}

TEST_CASE("a late packet sets the waiting time, with a margin of a quarter") {
  Scene s;
  overtake(s, t0, 120us);  // within the window of 125 us
  CHECK(window_at(s, t0 + 10ms) == 150us);
}

TEST_CASE("measured lateness is forgotten within two epochs, but not within one") {
  Scene s;
  overtake(s, t0, 120us);  // the epoch ends 100 ms after the first judgement
  Scene other = s;
  CHECK(window_at(s, t0 + 99ms) == 150us);
  other.losses(t0 + 200ms);
  overtake(other, t0 + 201ms, 20us);
  CHECK(window_at(other, t0 + 302ms) == 125us);
}

TEST_CASE("packets reported by the same acknowledgement are not late, whenever they were sent") {
  Scene s;
  s.send(t0, 0);
  const auto sequence = s.send(t0 + 500us, 0);
  s.receive(0);
  s.receive(1);
  s.flight.on_report(t0 + 1500us, 0, sequence, t0 + 500us);
  s.losses(t0 + 1500us);
  CHECK(window_at(s, t0 + 10ms) == 125us);
}

TEST_CASE("lateness never delays a loss by more than two round trips") {
  Scene s;
  for (int i = 0; i < 5; ++i) {
    overtake(s, t0 + i * 10ms, 10us);
    s.flight.on_spurious(t0 + i * 10ms + 5ms, 1ms);
  }
  CHECK(window_at(s, t0 + 50ms) == 2ms);
}

TEST_CASE(
    "a placed packet is found in the run with which it was sent, until all before are known") {
  Scene s;
  REQUIRE(s.flight.on_sent(t0, 2, {0, 10, 0}, Flight::Carried::kByCard, 100) == 0);
  REQUIRE(s.flight.on_sent(t0 + 1us, 2, {0, 110, 0}, Flight::Carried::kByCard) == 100);
  CHECK(s.flight.find(2, {0, 10, 0}) == std::pair(std::uint64_t{0}, t0));
  CHECK(s.flight.find(2, {0, 75, 0}) == std::pair(std::uint64_t{65}, t0));
  CHECK(s.flight.find(2, {0, 110, 0}) == std::pair(std::uint64_t{100}, t0 + 1us));
  CHECK_FALSE(s.flight.find(2, {0, 9, 0}));
  CHECK_FALSE(s.flight.find(2, {0, 111, 0}));
  CHECK_FALSE(s.flight.find(2, {1, 75, 0}));
  CHECK(s.flight.sent_since_unknown(2) == 101);
  Bitmap acked;
  acked.reset(200);
  for (std::uint32_t chunk = 0; chunk < 50; ++chunk)
    acked.set(chunk);
  REQUIRE(s.flight.on_report(t0 + 1ms, 2, 39, t0));
  std::vector<Flight::Loss> losses;
  s.flight.find_losses(
      t0 + 1ms, s.rtt, [&](const ChunkRef&) { return &acked; }, losses);
  CHECK(losses.empty());
  CHECK(s.flight.sent_since_unknown(2) == 61);
}

TEST_CASE("a packet that the card repeats is not lost until its path has failed") {
  Scene s;
  const auto place = [&](Time at, std::uint8_t path) {
    const ChunkRef chunk = *s.queue.next();
    mark_sent(s.queue, chunk);
    s.flight.on_sent(at, path, chunk, Flight::Carried::kByReliableCard);
  };
  place(t0, 2);
  place(t0, 2);
  place(t0, 3);
  const auto later = s.send(t0 + 10us, 2);
  s.receive(3);
  REQUIRE(s.flight.on_report(t0 + 1ms, 2, later, t0 + 10us));
  s.flight.on_probe_answered(t0 + 20ms, 2, t0 + 19ms, 1ms);
  CHECK(s.losses(t0 + 10s).empty());
  CHECK(s.flight.deadline() == kNever);
  CHECK(s.flight.awaits_repair(2, t0 + 1us));
  CHECK_FALSE(s.flight.awaits_repair(2, t0));
  s.receive(0);
  s.flight.on_path_failed(t0 + 10s, 2);
  CHECK(s.flight.deadline() == t0 + 10s);
  CHECK(s.losses(t0 + 10s) == std::vector<std::uint32_t>{1});
  CHECK_FALSE(s.flight.awaits_repair(2, kNever));
  place(t0 + 10s, 2);  // over the queue pair that replaces the first
  CHECK(s.losses(t0 + 20s).empty());
}

TEST_CASE("a repeat that comes late changes no waiting time") {
  Scene s;
  const ChunkRef chunk = *s.queue.next();
  mark_sent(s.queue, chunk);
  s.flight.on_sent(t0, 2, chunk, Flight::Carried::kByReliableCard);
  const auto sequence = s.send(t0, 2);
  s.receive(1);
  s.flight.on_report(t0 + 1ms, 2, sequence, t0);
  s.losses(t0 + 1ms);
  s.receive(0);
  s.losses(t0 + 50ms);
  CHECK(window_at(s, t0 + 60ms) == 125us);
}

TEST_CASE("a placed packet that arrives after its repeat was sent is not taken for the repeat") {
  Scene s;
  const ChunkRef chunk = *s.queue.next();
  mark_sent(s.queue, chunk);
  s.flight.on_sent(t0, 2, chunk, Flight::Carried::kByCard);
  const auto placed = s.flight.find(2, chunk);
  REQUIRE(placed);
  CHECK(placed->second == t0);
  const auto later = s.send(t0, 2);
  s.receive(1);
  REQUIRE(s.flight.on_report(t0 + 1ms, 2, later, t0));
  REQUIRE(s.losses(t0 + 2ms) == std::vector<std::uint32_t>{0});
  s.flight.on_sent(t0 + 2ms, 2, chunk);
  CHECK_FALSE(s.flight.find(2, chunk));
}
