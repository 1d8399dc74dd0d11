// The parts of bounded loss, one by one: what the sender keeps back, when it says SENT_ONCE, and
// what the receiver makes of it.
#include <algorithm>
#include <set>
#include <vector>

#include "catch.h"
#include "core/loss_ledger.h"
#include "core/lossy_sends.h"
#include "core/recv_queue.h"
#include "core/send_queue.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr std::uint32_t kPayload = 128;

struct Sender {
  explicit Sender(std::uint64_t posted = 100) {
    queue.set_payload_bytes(kPayload);
    queue.set_posted(posted);
  }
  void push(std::size_t chunks, bool licensed) {
    memory.emplace_back(chunks * kPayload);
    queue.push(0, memory.back(), licensed);
  }
  std::vector<std::uint32_t> send_all() {
    std::vector<std::uint32_t> order;
    while (const auto chunk = queue.next()) {
      order.push_back(chunk->chunk);
      queue.mark_sent(*chunk);
    }
    return order;
  }
  SendQueue queue{64, 512};
  std::vector<std::vector<std::byte>> memory;
};

// A receiver of one message, 100 packets long, that may lose a quarter of itself.
struct Receiver {
  Receiver() { queue.set_payload_bytes(kPayload); }
  static Licence licence() {
    return {1, 100 * kPayload, 2, 1, 0, kBudgetPpmMax, gradient::ElementType::kFloat32};
  }
  void post(const Licence& granted) {
    ledger.open(granted);
    queue.post(7, buffer, granted, placements);
    zeros = 0;
    placements.clear();
  }
  RecvQueue::Verdict data(std::uint32_t chunk, bool retransmission = false) {
    wire::DataHeader header;
    header.message_bytes = 100 * kPayload;
    header.offset = chunk * kPayload;
    header.licensed = true;
    header.retransmission = retransmission;
    return queue.on_data(header, payload, placements);
  }
  bool sent_once(std::vector<wire::PathMark> marks, std::uint8_t path) {
    return queue.on_sent_once({0, 0, 100 * kPayload, 5, path, std::move(marks)});
  }
  std::vector<LossDecision> decide() {
    placements.clear();
    std::vector<LossDecision> decisions;
    queue.settle_losses(paths, ledger, kPayload, placements, decisions);
    for (const Placement& placement : placements)
      zeros += placement.zeros;
    return decisions;
  }
  void see(std::uint8_t path, std::uint32_t sequence) {
    if (path >= paths.size()) paths.resize(path + 1u);
    paths[path].any = true;
    paths[path].highest_sequence = sequence;
  }

  UnpostedPool pool{1024, 0};
  RecvQueue queue{8, 512, pool};
  LossLedger ledger;
  std::vector<PathSeen> paths;
  std::vector<std::byte> buffer = std::vector<std::byte>(100 * kPayload);
  std::vector<std::byte> payload = std::vector<std::byte>(kPayload, std::byte{1});
  std::vector<Placement> placements;
  std::size_t zeros = 0;
};

}  // namespace

TEST_CASE("licensed messages begin somewhere else each time, exact ones at the beginning") {
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

TEST_CASE("a licensed message whose receive is not posted begins with what is kept of it") {
  for (const std::uint64_t posted : {1, 2}) {
    Sender sender(posted);
    sender.push(1, true);
    sender.push(50, true);
    sender.queue.mark_sent(*sender.queue.next());
    CHECK((sender.queue.next()->chunk == 0) == (posted == 1));
  }
}

TEST_CASE("what is lost of a licensed message is sent again only when it is needed") {
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

TEST_CASE("STOP ends a licensed message, and only one that was sent to the end") {
  Sender sender;
  sender.push(50, true);
  SendQueue::Acked acked;
  sender.queue.stop(0, acked);
  CHECK_FALSE(sender.queue.pop_done());
  sender.send_all();
  sender.queue.mark_lost({0, 3});
  sender.queue.stop(0, acked);
  CHECK(acked.in_flight == 49);
  CHECK(acked.forgone == 1);
  CHECK(acked.spurious == 0);
  CHECK(sender.queue.pop_done());
  CHECK(sender.queue.empty());
}

TEST_CASE("chunks that a rotated message has not sent cannot be acknowledged") {
  Sender sender;
  sender.push(1, true);
  sender.push(200, true);
  sender.queue.mark_sent(*sender.queue.next());
  const std::uint32_t start = sender.queue.next()->chunk;
  REQUIRE(start > 0);
  for (int i = 0; i < 3; ++i)
    sender.queue.mark_sent(*sender.queue.next());
  wire::Ack ack;
  ack.completed = 0;
  ack.messages = {{1, 200, 0}};  // all of it, says a liar
  SendQueue::Acked acked;
  CHECK(sender.queue.acknowledge(ack, acked));
  CHECK(acked.in_flight == 3);
}

TEST_CASE("SENT_ONCE is said behind the last packet, and on all paths if that settles nothing") {
  Sender sender;
  sender.push(4, true);
  LossySends lossy;
  const Time start = time_from_ns(1'000'000);
  const std::uint8_t paths[] = {5, 6, 5, 7};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto chunk = sender.queue.next();
    sender.queue.mark_sent(*chunk);
    CHECK_FALSE(lossy.due());
    lossy.on_sent(start, 0, {paths[i], 100 + i}, sender.queue.all_sent(0));
  }
  const auto first = lossy.pop_due(start);
  REQUIRE(first);
  CHECK(first->path == 7);
  CHECK(*first->marks == std::vector<wire::PathMark>{{6, 101}, {5, 102}, {7, 103}});
  CHECK_FALSE(lossy.due());

  lossy.refresh(start + 74us, 100us, sender.queue);
  CHECK_FALSE(lossy.due());
  lossy.refresh(start + 75us, 100us, sender.queue);
  std::vector<int> said;
  while (const auto due = lossy.pop_due(start + 75us))
    said.push_back(due->path);
  CHECK(said == std::vector<int>{6, 5, 7});

  lossy.on_silence();
  CHECK(lossy.due());
  sender.queue.need(0);
  lossy.refresh(start + 80us, 100us, sender.queue);
  CHECK_FALSE(lossy.due());
}

TEST_CASE("a receiver completes with holes once nothing is expected on any path, not before") {
  Receiver receiver;
  receiver.post(Receiver::licence());
  for (std::uint32_t chunk = 0; chunk < 100; ++chunk) {
    if (chunk != 10 && chunk != 11 && chunk != 99) receiver.data(chunk);
  }
  CHECK(receiver.decide().empty());
  REQUIRE(receiver.sent_once({{1, 50}, {2, 60}, {3, 70}}, 3));
  receiver.see(1, 49);
  receiver.see(2, 60);
  CHECK(receiver.decide().empty());  // path 1 may still bring its last
  receiver.see(1, 51);
  const auto decisions = receiver.decide();
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].stop);
  CHECK(decisions[0].lost_packets == 3);
  CHECK(decisions[0].lost_bytes == 3 * kPayload);
  CHECK(receiver.zeros == 3 * kPayload);
  const auto done = receiver.queue.pop_done();
  REQUIRE(done);
  CHECK(done->lost == 3 * kPayload);
  CHECK(receiver.queue.completed() == 1);
  CHECK_FALSE(receiver.queue.awaits_losses());

  receiver.placements.clear();
  CHECK(receiver.data(10) == RecvQueue::Verdict::kLate);
  CHECK(receiver.data(10, true) == RecvQueue::Verdict::kDuplicate);
  CHECK(receiver.placements.empty());
}

TEST_CASE("a SENT_ONCE on a path stands for all that came before it there") {
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

TEST_CASE("over budget, or without a licence of its own, a receiver asks for all, and asks again") {
  for (const bool licensed : {true, false}) {
    Receiver receiver;
    receiver.post(licensed ? Receiver::licence() : Licence{});
    for (std::uint32_t chunk = licensed ? 26 : 1; chunk < 100; ++chunk)
      receiver.data(chunk);
    receiver.sent_once({}, 0);
    auto decisions = receiver.decide();
    REQUIRE(decisions.size() == 1);
    CHECK_FALSE(decisions[0].stop);
    CHECK(receiver.zeros == 0);
    CHECK(receiver.decide().empty());
    receiver.sent_once({}, 0);
    CHECK(receiver.decide().size() == 1);
    for (std::uint32_t chunk = 0; chunk < 26; ++chunk)
      receiver.data(chunk, true);
    const auto done = receiver.queue.pop_done();
    REQUIRE(done);
    CHECK(done->lost == 0);
  }
}

TEST_CASE("what the receiver dropped itself is needed, whatever the budget") {
  Receiver receiver;
  for (std::uint32_t chunk = 0; chunk < 100; ++chunk)
    receiver.data(chunk);  // 512 bytes are kept
  receiver.sent_once({}, 0);
  CHECK(receiver.decide().empty());  // nobody has posted it
  receiver.post(Receiver::licence());
  for (std::uint32_t chunk = 5; chunk < 100; ++chunk)
    receiver.data(chunk, true);  // 4 is missing
  const auto decisions = receiver.decide();
  REQUIRE(decisions.size() == 1);
  CHECK_FALSE(decisions[0].stop);
}

TEST_CASE("a SENT_ONCE that contradicts the message, or comes from far away, is refused") {
  Receiver receiver;
  receiver.post(Receiver::licence());
  receiver.data(0);
  CHECK_FALSE(receiver.queue.on_sent_once({0, 0, 99 * kPayload, 5, 0, {}}));
  CHECK_FALSE(receiver.queue.on_sent_once({0, 16, 100 * kPayload, 5, 0, {}}));
  CHECK(receiver.queue.on_sent_once({0, 0xffffffff, 100 * kPayload, 5, 0, {}}));  // long done
  CHECK_FALSE(receiver.queue.awaits_losses());
}
