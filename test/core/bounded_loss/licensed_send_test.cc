// How a sender treats a licensed message: in which order and class it sends the chunks, what it
// keeps back, and when it sends SENT_ONCE.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "catch.h"
#include "core/bounded_loss/lossy_sends.h"
#include "core/streams/send_queue.h"
#include "util/rng.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr std::uint32_t kPayload = 128;

SentChunk mark_sent(SendQueue& queue, const ChunkRef& chunk) {
  SentChunk sent;
  queue.mark_sent(chunk, sent);
  return sent;
}

struct Sender {
  explicit Sender(std::uint64_t posted = 100, const LevelShares& shares = kTwoLevelShares)
      : queue(64, 512, gradient::ChunkJudge(shares)) {
    queue.set_payload_bytes(kPayload);
    queue.set_posted(posted);
  }
  void push(std::size_t chunks, bool licensed) {
    memory.emplace_back(chunks * kPayload);
    const Licence licence{.element = gradient::ElementType::kFloat32};
    queue.push(0, memory.back(), licensed ? &licence : nullptr);
  }
  void push_floats(const std::vector<float>& values, const Licence& licence) {
    memory.emplace_back(values.size() * 4);
    std::memcpy(memory.back().data(), values.data(), memory.back().size());
    queue.push(0, memory.back(), &licence);
  }
  std::vector<std::uint32_t> send_all() {
    std::vector<std::uint32_t> order;
    while (const auto chunk = queue.next()) {
      order.push_back(chunk->chunk);
      mark_sent(queue, *chunk);
    }
    return order;
  }
  SendQueue queue;
  std::vector<std::vector<std::byte>> memory;
};

}  // namespace

TEST_CASE("licensed messages begin at a different chunk each time, exact ones at the beginning") {
  Sender sender;
  std::set<std::uint32_t> first, last;
  for (int i = 0; i < 32; ++i) {
    sender.push(50, i % 2 == 0);
    auto order = sender.send_all();
    REQUIRE(order.size() == 50);
    if (i % 2 == 0) {
      first.insert(order.front());
      last.insert(order.back());
    } else {
      CHECK(std::is_sorted(order.begin(), order.end()));
    }
    std::sort(order.begin(), order.end());
    for (std::uint32_t chunk = 0; chunk < 50; ++chunk)
      REQUIRE(order[chunk] == chunk);
  }
  CHECK(first.size() > 8);
  CHECK(last.size() > 8);
}

TEST_CASE("the shares of packet classes are those of the switch plan") {
  for (const LevelShares& shares : {kTwoLevelShares, kThreeLevelShares})
    for (const bool urgent : {false, true}) {
      Sender sender(1000, shares);
      Rng rng(11);
      std::array<double, kTrafficClassCount> marked{};
      for (int message = 0; message < 120; ++message) {
        std::vector<float> values(100 * kPayload / 4);
        for (std::uint32_t chunk = 0; chunk < 100; ++chunk) {
          const auto magnitude = static_cast<float>(std::exp(4 * rng.unit()));
          std::fill_n(values.begin() + chunk * kPayload / 4, kPayload / 4, magnitude);
        }
        sender.push_floats(values, {.element = gradient::ElementType::kFloat32, .urgent = urgent});
        while (const auto chunk = sender.queue.next()) {
          if (message >= 20)
            marked[static_cast<std::size_t>(sender.queue.class_of(*chunk))] += 1e-4;
          mark_sent(sender.queue, *chunk);
        }
      }
      const auto share = [&](TrafficClass of) { return marked[static_cast<std::size_t>(of)]; };
      const auto planned = [&](double of_bulk) {
        return Approx(urgent ? 0 : of_bulk).margin(0.015);
      };
      CHECK(share(TrafficClass::kBulkDroppable) == planned(shares.bulk_droppable));
      CHECK(share(TrafficClass::kBulkMiddle) == planned(shares.bulk_middle));
      CHECK(share(TrafficClass::kBulkProtected) == planned(shares.bulk_protected));
      CHECK(share(TrafficClass::kUrgentDroppable) ==
            Approx(urgent ? shares.urgent_droppable : 0).margin(0.015));
      CHECK(share(TrafficClass::kUrgentProtected) ==
            Approx(urgent ? shares.urgent_protected : 0).margin(0.015));
    }
}

TEST_CASE("within a group small magnitudes go last, and each chunk has its class") {
  for (const bool urgent : {false, true}) {
    Sender sender;
    Licence licence{.element = gradient::ElementType::kFloat32, .urgent = urgent};
    std::set<std::uint32_t> small;
    for (int message = 0; message < 20; ++message) {
      std::vector<float> values(100 * kPayload / 4);
      small.clear();
      for (std::uint32_t chunk = 0; chunk < 100; ++chunk) {
        const bool is_small = chunk % 5 == 0;
        if (is_small) small.insert(chunk);
        const float value = is_small ? 1e-6f : chunk % 5 == 1 && chunk > 90 ? NAN : 1.0f;
        std::fill_n(values.begin() + chunk * kPayload / 4, kPayload / 4, value);
      }
      sender.push_floats(values, licence);
      std::vector<std::uint32_t> order;
      std::size_t droppable = 0, turns = 0;
      for (TrafficClass last{}; const auto chunk = sender.queue.next();) {
        const TrafficClass now = sender.queue.class_of(*chunk);
        const bool drops =
            now == (urgent ? TrafficClass::kUrgentDroppable : TrafficClass::kBulkDroppable);
        REQUIRE((drops ||
                 now == (urgent ? TrafficClass::kUrgentProtected : TrafficClass::kBulkProtected)));
        if (message >= 10) REQUIRE(drops == (small.count(chunk->chunk) > 0));
        droppable += drops ? 1 : 0;
        turns += now != last ? 1 : 0;
        last = now;
        order.push_back(chunk->chunk);
        mark_sent(sender.queue, *chunk);
      }
      std::sort(order.begin(), order.end());
      REQUIRE(order.size() == 100);
      for (std::uint32_t chunk = 0; chunk < 100; ++chunk)
        REQUIRE(order[chunk] == chunk);
      if (message < 10) continue;  // the quantile estimate converges first
      CHECK(droppable == 20);
      CHECK(turns == 2);
    }
  }
}

TEST_CASE("elements that cannot be scored are protected, and exact messages have the exact class") {
  Sender sender;
  sender.push(50, false);
  CHECK(sender.queue.class_of(*sender.queue.next()) == TrafficClass::kExact);
  sender.send_all();
  Licence licence{.element = gradient::ElementType::kFloat32};
  for (int message = 0; message < 5; ++message) {
    sender.push_floats(std::vector<float>(50 * kPayload / 4, INFINITY), licence);
    while (const auto chunk = sender.queue.next()) {
      CHECK(sender.queue.class_of(*chunk) == TrafficClass::kBulkProtected);
      mark_sent(sender.queue, *chunk);
    }
  }
}

TEST_CASE(
    "a licensed message without a posted receive begins with the chunks that the receiver stores") {
  for (const std::uint64_t posted : {1, 2}) {
    Sender sender(posted);
    sender.push(1, true);
    sender.push(50, true);
    mark_sent(sender.queue, *sender.queue.next());
    CHECK((sender.queue.next()->chunk == 0) == (posted == 1));
  }
}

TEST_CASE("a lost chunk of a licensed message is sent again only when the receiver requests it") {
  Sender sender;
  sender.push(50, true);
  sender.send_all();
  sender.queue.mark_lost({0, 3});
  sender.queue.mark_lost({0, 30});
  CHECK(sender.queue.forgoes(0));
  CHECK_FALSE(sender.queue.next());
  sender.queue.need(0);
  CHECK_FALSE(sender.queue.forgoes(0));
  CHECK(sender.send_all() == std::vector<std::uint32_t>{3, 30});
  sender.queue.mark_lost({0, 4});
  CHECK(sender.send_all() == std::vector<std::uint32_t>{4});
}

TEST_CASE("STOP ends a licensed message, but only one that was sent completely") {
  Sender sender;
  sender.push(50, true);
  SendQueue::Acked acked;
  sender.queue.stop(0, acked);
  CHECK_FALSE(sender.queue.pop_done());
  sender.send_all();
  sender.queue.mark_lost({0, 3});
  sender.queue.stop(0, acked);
  CHECK(acked.in_flight == 49);
  CHECK(acked.late == 1);
  CHECK(acked.spurious == 0);
  CHECK(sender.queue.pop_done());
  CHECK(sender.queue.empty());
}

TEST_CASE("chunks that a rotated message has not sent cannot be acknowledged") {
  Sender sender;
  sender.push(1, true);
  sender.push(200, true);
  mark_sent(sender.queue, *sender.queue.next());
  const std::uint32_t start = sender.queue.next()->chunk;
  REQUIRE(start > 0);
  for (int i = 0; i < 3; ++i)
    mark_sent(sender.queue, *sender.queue.next());
  wire::StreamReport ack;
  ack.completed = 0;
  ack.messages = {{1, 200, 0}};  // claims all of it
  SendQueue::Acked acked;
  CHECK(sender.queue.acknowledge(ack, acked));
  CHECK(acked.in_flight == 3);
}

namespace {

// The SENT_ONCE frames that are due; each is sent on the path that it names.
std::vector<wire::SentOnce> said(LossySends& lossy, Time now, const SendQueue& queue) {
  FrameArena arena;
  Channel channel;
  FrameWriter frames(arena, channel);
  const wire::EndpointAddress address;
  std::array<wire::TxPacket, 8> out;
  const std::size_t count = lossy.poll_transmit(now, queue, {7, &address}, frames, out);
  std::vector<wire::SentOnce> said;
  for (const wire::TxPacket& packet : std::span(out).first(count)) {
    said.push_back(wire::decode<wire::SentOnce>(packet.payload).value());
    CHECK(packet.path == said.back().path);
  }
  return said;
}

std::vector<int> paths_said(LossySends& lossy, Time now, const SendQueue& queue) {
  std::vector<int> paths;
  for (const wire::SentOnce& frame : said(lossy, now, queue))
    paths.push_back(frame.path);
  return paths;
}

}  // namespace

TEST_CASE("SENT_ONCE follows the last packet, and goes to all paths if that brings no decision") {
  Sender sender;
  sender.push(4, true);
  LossySends lossy;
  const LossySends::Peer peer{100us, {}};
  const Time start = time_from_ns(1'000'000);
  const std::uint8_t paths[] = {5, 6, 5, 7};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto chunk = sender.queue.next();
    mark_sent(sender.queue, *chunk);
    CHECK_FALSE(lossy.due());
    lossy.on_sent(start, 0, {paths[i], 100 + i},
                  i == 3 ? LicensedEnd::kMessage : LicensedEnd::kNothing);
  }
  const auto first = said(lossy, start, sender.queue);
  REQUIRE(first.size() == 1);
  CHECK(first[0].path == 7);
  CHECK(first[0].marks == std::vector<wire::PathMark>{{6, 101}, {5, 102}, {7, 103}});
  CHECK_FALSE(lossy.due());

  LossySends eager;  // for a message that no other message follows
  for (std::uint32_t i = 0; i < 4; ++i)
    eager.on_sent(start, 0, {paths[i], 100 + i},
                  i == 3 ? LicensedEnd::kEverything : LicensedEnd::kNothing);
  CHECK(paths_said(eager, start, sender.queue) == std::vector<int>{6, 5, 7});

  lossy.refresh(start + 149us, peer, sender.queue);
  CHECK_FALSE(lossy.due());
  lossy.refresh(start + 150us, peer, sender.queue);
  CHECK(paths_said(lossy, start + 150us, sender.queue) == std::vector<int>{6, 5, 7});

  lossy.on_silence(start + 155us, peer, sender.queue);
  CHECK(lossy.due());
  sender.queue.need(0);
  lossy.refresh(start + 160us, peer, sender.queue);
  CHECK_FALSE(lossy.due());
}

namespace {

// A message of which one packet took path 5 and one path 6, and SENT_ONCE only path 6 so far.
struct Unanswered {
  explicit Unanswered(std::uint64_t posted) : sender(posted) {
    sender.push(2, true);
    sender.send_all();
    sender.queue.mark_lost({0, 1});
    for (const auto path : {wire::PathIndex{5}, wire::PathIndex{6}})
      lossy.on_sent(now, 0, {path, 0}, path == 5 ? LicensedEnd::kNothing : LicensedEnd::kMessage);
    said();
  }
  std::size_t said() { return paths_said(lossy, now, sender.queue).size(); }
  bool repeat(Duration after, bool is_alive = true) {
    now += after;
    return lossy.refresh(now, {100us, is_alive ? now : Time{}}, sender.queue);
  }
  bool is_exact() const { return !sender.queue.forgoes(0); }

  Sender sender;
  LossySends lossy;
  Time now = time_from_ns(1'000'000);
};

}  // namespace

TEST_CASE("a message becomes exact if SENT_ONCE on all its paths gets no answer for 5 ms") {
  Unanswered message(1);
  for (int round = 1; round <= 33; ++round) {
    CHECK_FALSE(message.repeat(149us));
    CHECK(message.said() == 0);
    CHECK_FALSE(message.repeat(1us));
    CHECK(message.said() == 2);
  }
  CHECK_FALSE(message.repeat(149us));
  CHECK_FALSE(message.is_exact());
  CHECK(message.repeat(1us));
  CHECK(message.is_exact());
  CHECK(message.said() == 0);
  CHECK_FALSE(message.lossy.awaits_answer());
  CHECK(message.sender.send_all() == std::vector<std::uint32_t>{1});
  CHECK_FALSE(message.repeat(150us));
}

TEST_CASE("a message stays licensed while its receiver cannot answer") {
  const bool is_posted = GENERATE(false, true);
  Unanswered message(is_posted ? 1 : 0);
  for (int round = 0; round < 1000; ++round) {
    CHECK_FALSE(message.repeat(150us, !is_posted));  // its host is silent, or has posted no receive
    CHECK(message.said() == 2);
  }
  CHECK_FALSE(message.is_exact());
}

TEST_CASE("SENT_ONCE of a message with placed packets waits until they must have arrived") {
  Sender sender;
  sender.push(3, true);
  sender.send_all();
  LossySends lossy;
  const LossySends::Peer peer{100us, {}};
  const Time start = time_from_ns(1'000'000);
  lossy.on_sent(start, 0, {5, 100}, LicensedEnd::kNothing, true);
  lossy.on_sent(start, 0, {6, 100}, LicensedEnd::kEverything);
  CHECK_FALSE(lossy.due());
  lossy.refresh(start + 149us, peer, sender.queue);
  CHECK_FALSE(lossy.due());
  lossy.refresh(start + 150us, peer, sender.queue);
  CHECK(paths_said(lossy, start + 150us, sender.queue) == std::vector<int>{5, 6});
  CHECK_FALSE(lossy.due());
}

TEST_CASE("a direct licence of 1% marks no more than its share as droppable: the smallest chunks") {
  for (const LevelShares& shares : {kTwoLevelShares, kThreeLevelShares}) {
    Sender sender(1000, shares);
    Rng rng(12);
    Licence licence{1, 1 << 20, 8, 8, 0, 10'000, gradient::ElementType::kFloat32};
    licence.shape = LossShape::kDirect;
    std::size_t packets = 0;
    std::size_t droppable = 0;
    double marked = 0;
    for (int message = 0; message < 400; ++message) {
      std::vector<float> values;
      for (int chunk = 0; chunk < 25; ++chunk)
        values.insert(values.end(), kPayload / 4, std::exp(3 * static_cast<float>(rng.unit())));
      sender.push_floats(values, licence);
      while (const auto chunk = sender.queue.next()) {
        const SentChunk sent = mark_sent(sender.queue, *chunk);
        ++packets;
        if (row_of(sent.traffic_class).early == EarlyTreatment::kDrop) {
          ++droppable;
          marked += std::log(static_cast<double>(values[sent.offset / 4])) / 3;
        }
        REQUIRE(static_cast<double>(droppable) <= static_cast<double>(packets) * 0.01 * 8 / 7);
      }
    }
    CHECK(packets == 10'000);
    CHECK(droppable > 60);  // of 114
    CHECK(marked / static_cast<double>(droppable) < 0.05);
  }
}
