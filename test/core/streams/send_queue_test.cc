#include "core/streams/send_queue.h"

#include <vector>

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr std::uint32_t kPayload = 128;

SentChunk mark_sent(SendQueue& queue, const ChunkRef& chunk) {
  SentChunk sent;
  queue.mark_sent(chunk, sent);
  return sent;
}

struct Queue {
  Queue() : queue(4, 512) { queue.set_payload_bytes(kPayload); }
  void push(std::size_t bytes) {
    memory.emplace_back(bytes);
    queue.push(memory.size(), memory.back());
  }
  std::size_t send_all() {
    std::size_t count = 0;
    while (const auto chunk = queue.next()) {
      mark_sent(queue, *chunk);
      ++count;
    }
    return count;
  }
  SendQueue::Acked ack(std::uint32_t completed, std::vector<wire::MessageReport> messages = {},
                       std::vector<std::uint64_t> bitmap = {}) {
    wire::StreamReport frame;
    frame.completed = completed;
    frame.messages = std::move(messages);
    frame.bitmap = std::move(bitmap);
    SendQueue::Acked acked;
    valid = queue.acknowledge(frame, acked);
    return acked;
  }

  SendQueue queue;
  bool valid = true;
  std::vector<std::vector<std::byte>> memory;
};

}  // namespace

TEST_CASE(
    "a message is cut into payloads; the last may be shorter, and an empty message has one chunk") {
  Queue q;
  q.queue.set_posted(9);
  q.push(300);
  q.push(0);
  std::vector<std::size_t> sizes;
  while (const auto chunk = q.queue.next()) {
    sizes.push_back(q.queue.view(*chunk).payload.size());
    mark_sent(q.queue, *chunk);
  }
  CHECK(sizes == std::vector<std::size_t>{128, 128, 44, 0});
}

TEST_CASE("messages without a posted receive send eager_bytes and no more") {
  Queue q;
  q.push(9000);
  CHECK(q.send_all() == 4);  // 512 bytes
  q.queue.set_posted(1);
  CHECK(q.send_all() == 67);
}

TEST_CASE("short messages without a posted receive send 16 times eager_bytes and no more") {
  Queue q;
  for (int i = 0; i < 3; ++i)
    q.push(4096);
  CHECK(q.send_all() == 64);  // 8192 bytes: two messages
  q.queue.set_posted(3);
  CHECK(q.send_all() == 32);
}

TEST_CASE("early data leaves in runs as long as the eager allowance permits") {
  Queue q;
  q.push(300);
  REQUIRE(q.queue.run_length(*q.queue.next()) == 3);
  q.queue.mark_run_sent({0, 0}, 3);
  q.push(9000);
  CHECK(q.queue.run_length(*q.queue.next()) == 1);  // 212 bytes are left
  q.queue.mark_run_sent({1, 0}, 1);
  CHECK_FALSE(q.queue.next());
  q.queue.set_posted(2);
  CHECK(q.queue.run_length(*q.queue.next()) == 70);
}

TEST_CASE("long messages can be told to wait until their receives are posted") {
  Queue q;
  q.queue.wait_for_receive_from(300);
  q.push(299);
  q.push(300);
  q.push(10);
  CHECK(q.send_all() == 3);  // the first message
  CHECK_FALSE(q.queue.has_next());
  q.queue.set_posted(1);
  CHECK(q.send_all() == 0);
  q.queue.set_posted(2);
  CHECK(q.send_all() == 4);  // the third message is short and needs no receive
}

TEST_CASE("one packet is sent however small the eager allowance") {
  SendQueue queue(4, 0);
  queue.set_payload_bytes(kPayload);
  std::vector<std::byte> memory(1000);
  queue.push(1, memory);
  REQUIRE(queue.next());
  mark_sent(queue, *queue.next());
  CHECK_FALSE(queue.next());
}

TEST_CASE("no message is sent that is too far ahead of the posted receives for the receiver") {
  Queue q;  // at most four open messages
  for (std::uint32_t sent = 1; sent <= 4; ++sent) {
    q.push(1);
    CHECK(q.send_all() == 1);
    q.ack(0, {{sent - 1, 1, 0}});  // the receiver keeps it
  }
  q.push(1);
  CHECK(q.send_all() == 0);
  q.queue.set_posted(1);
  CHECK(q.send_all() == 1);
}

TEST_CASE("a lost chunk is sent before new ones, and only once") {
  Queue q;
  q.queue.set_posted(9);
  q.push(1000);
  const ChunkRef first = *q.queue.next();
  mark_sent(q.queue, first);
  mark_sent(q.queue, *q.queue.next());
  q.queue.mark_lost(first);
  q.queue.mark_lost(first);
  CHECK(q.queue.next()->chunk == 0);
  mark_sent(q.queue, *q.queue.next());
  CHECK(q.queue.next()->chunk == 2);
}

TEST_CASE(
    "a bitmap acknowledges chunks behind a hole; the message completes when the hole closes") {
  Queue q;
  q.queue.set_posted(9);
  q.push(128 * 100);
  CHECK(q.send_all() == 100);
  // Chunks 0-65 and 70-99 are there: first missing 66, bitmap from chunk 64 on.
  std::uint64_t word = 0b11;
  for (int bit = 70 - 64; bit < 100 - 64; ++bit)
    word |= std::uint64_t{1} << bit;
  CHECK(q.ack(0, {{0, 66, 1}}, {word}).in_flight == 96);
  CHECK_FALSE(q.queue.pop_done());
  CHECK(q.ack(0, {{0, 66, 1}}, {word}).in_flight == 0);  // the same ACK again has no effect
  CHECK(q.ack(0, {{0, 100, 0}}).in_flight == 4);
  const auto done = q.queue.pop_done();
  REQUIRE(done);
  CHECK(done->memory.size() == 12800);
  CHECK(q.queue.empty());
}

TEST_CASE("an acknowledged chunk that was declared lost counts as spurious and is not sent again") {
  Queue q;
  q.queue.set_posted(9);
  q.push(256);
  CHECK(q.send_all() == 2);
  q.queue.mark_lost({0, 0});
  const auto acked = q.ack(1);
  CHECK(acked.spurious == 1);
  CHECK(acked.in_flight == 1);
  CHECK_FALSE(q.queue.next());
}

TEST_CASE("an ACK for messages that were never sent is refused and changes nothing") {
  Queue q;
  q.queue.set_posted(9);
  q.push(256);
  q.ack(1);
  CHECK_FALSE(q.valid);
  CHECK_FALSE(q.queue.pop_done());
  CHECK(q.send_all() == 2);
}

TEST_CASE("chunks that were never sent cannot be acknowledged") {
  Queue q;
  q.queue.set_posted(9);
  q.push(1000);
  mark_sent(q.queue, *q.queue.next());
  CHECK(q.ack(0, {{0, 8, 0}}).in_flight == 1);
  CHECK_FALSE(q.queue.pop_done());
}

TEST_CASE("a closing message is done when a report says that it is complete, not by an old one") {
  Queue q;
  q.queue.set_posted(9);
  q.push(300);
  q.send_all();
  CHECK(q.ack(0, {{.message = 0, .first_missing = 3, .closing = true}}).in_flight == 3);
  CHECK(q.queue.awaits_end());
  CHECK_FALSE(q.queue.pop_done());
  q.ack(0, {{.message = 0, .first_missing = 1}});  // older, but arrives later
  CHECK_FALSE(q.queue.pop_done());
  q.ack(0, {{.message = 0, .first_missing = 3}});
  CHECK(q.queue.pop_done());
  CHECK_FALSE(q.queue.awaits_end());
}

TEST_CASE("losses of early data are retransmitted once the receive is posted") {
  Queue q;
  q.push(3 * kPayload);
  CHECK(q.send_all() == 3);
  q.queue.mark_lost({0, 1});
  CHECK_FALSE(q.queue.retransmits(0));
  CHECK_FALSE(q.queue.has_next());
  CHECK(q.queue.in_flight() == 2);
  q.queue.set_posted(1);
  CHECK(q.queue.retransmits(0));
  REQUIRE(q.queue.next());
  CHECK(q.queue.next()->chunk == 1);
  CHECK(q.send_all() == 1);

  // The report that it has arrived may come first.
  q.push(2 * kPayload);
  CHECK(q.send_all() == 2);
  q.queue.mark_lost({1, 0});
  const auto acked = q.ack(1, {{1, 2, 0}});
  CHECK(q.valid);
  CHECK(acked.late == 1);
  q.queue.set_posted(2);
  CHECK_FALSE(q.queue.has_next());
}
