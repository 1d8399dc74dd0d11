#include "core/streams/recv_queue.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

struct Queue {
  explicit Queue(std::size_t eager = 512, std::size_t pool_bytes = 1024)
      : pool{pool_bytes, 0}, queue(4, eager, pool) {
    queue.set_payload_bytes(128);
  }
  Receipt data(std::uint32_t message, std::uint32_t bytes, std::uint32_t offset,
               std::size_t payload_bytes = ~std::size_t{0}) {
    wire::DataHeader header;
    header.message = message;
    header.message_bytes = bytes;
    header.offset = offset;
    if (payload_bytes == ~std::size_t{0})
      payload_bytes = std::min<std::size_t>(128, bytes - offset);
    payload.assign(payload_bytes, static_cast<std::byte>(message + 1));
    return copy(queue.on_data(header, payload, placements.wanted));
  }
  // Packets of 128 bytes from `offset` on; each has its chunk's number plus one in it.
  bool run(std::uint32_t message, std::uint32_t bytes, std::uint32_t offset, std::size_t count,
           std::size_t payload_bytes = 128) {
    wire::DataHeader header;
    header.message = message;
    header.message_bytes = bytes;
    header.offset = offset;
    std::vector<std::vector<std::byte>> datagrams;
    for (std::size_t i = 0; i < count; ++i)
      datagrams.emplace_back(wire::kDataHeaderBytes + payload_bytes,
                             static_cast<std::byte>(offset / 128 + i + 1));
    std::vector<wire::RxPacket> packets;
    for (const auto& datagram : datagrams)
      packets.push_back({.bytes = datagram, .arrived_at = {}, .source = {}});
    return copy(queue.on_run(header, packets, placements.wanted));
  }
  Early post(RequestId request, std::span<std::byte> buffer) {
    return copy(queue.post(request, buffer, placements));
  }
  template <class T>
  T copy(T value) {
    for (const Placement& placement : placements.wanted)
      std::copy(placement.payload.begin(), placement.payload.end(), placement.destination);
    placements.clear();
    return value;
  }

  UnpostedPool pool;
  RecvQueue queue;
  std::vector<std::byte> payload;
  PlacementBatch placements;
};

}  // namespace

TEST_CASE("chunks are placed at their offsets in any order of arrival") {
  Queue q;
  std::vector<std::byte> buffer(400, std::byte{0});
  CHECK(q.post(7, buffer) == Early::kNothing);
  CHECK(q.data(0, 300, 256) == Receipt::kPlaced);
  CHECK(q.data(0, 300, 0) == Receipt::kPlaced);
  CHECK_FALSE(q.queue.pop_done());
  CHECK(q.data(0, 300, 128) == Receipt::kPlaced);
  const auto done = q.queue.pop_done();
  REQUIRE(done);
  CHECK(done->request == 7);
  CHECK(done->bytes == 300);
  CHECK(std::count(buffer.begin(), buffer.end(), std::byte{1}) == 300);
  CHECK(buffer[300] == std::byte{0});
  CHECK(q.queue.completed() == 1);
}

TEST_CASE(
    "a chunk that has arrived already is a duplicate, before and after its message completes") {
  Queue q;
  std::vector<std::byte> buffer(256);
  q.post(1, buffer);
  CHECK(q.data(0, 256, 0) == Receipt::kPlaced);
  CHECK(q.data(0, 256, 0) == Receipt::kDuplicate);
  CHECK(q.data(0, 256, 128) == Receipt::kPlaced);
  CHECK(q.data(0, 256, 128) == Receipt::kDuplicate);
}

TEST_CASE("an early message is stored and delivered when its receive is posted") {
  Queue q;
  CHECK(q.data(0, 300, 128) == Receipt::kKept);
  CHECK(q.data(0, 300, 0) == Receipt::kKept);
  CHECK(q.data(0, 300, 256) == Receipt::kKept);
  CHECK(q.queue.completed() == 1);  // complete, though no receive is posted
  CHECK_FALSE(q.queue.pop_done());
  CHECK(q.pool.bytes_used == 300);
  std::vector<std::byte> buffer(300);
  CHECK(q.post(3, buffer) == Early::kAll);
  CHECK(q.pool.bytes_used == 0);
  CHECK(std::count(buffer.begin(), buffer.end(), std::byte{1}) == 300);
  CHECK(q.queue.pop_done()->request == 3);
}

TEST_CASE("data beyond the eager allowance or the pool is not stored, and may arrive again later") {
  Queue q(512, 600);
  CHECK(q.data(0, 4096, 0) == Receipt::kKept);
  CHECK(q.data(0, 4096, 512) == Receipt::kNoRoom);  // beyond the first eager_bytes
  CHECK(q.data(1, 128, 0) == Receipt::kNoRoom);     // the pool is full
  std::vector<std::byte> buffer(4096);
  CHECK(q.post(1, buffer) == Early::kPart);
  CHECK(q.data(0, 4096, 512) == Receipt::kPlaced);
}

TEST_CASE("the padding of a message's last packet is not placed") {
  Queue q;
  std::vector<std::byte> buffer(400, std::byte{0});
  q.post(1, buffer);
  CHECK(q.data(0, 300, 0) == Receipt::kPlaced);
  CHECK(q.data(0, 300, 128) == Receipt::kPlaced);
  CHECK(q.data(0, 300, 256, 128) == Receipt::kPlaced);
  REQUIRE(q.queue.pop_done());
  CHECK(buffer[299] == std::byte{1});
  CHECK(buffer[300] == std::byte{0});
}

TEST_CASE("impossible offsets, lengths and message numbers are refused") {
  Queue q;
  std::vector<std::byte> buffer(1000);
  q.post(1, buffer);
  CHECK(q.data(0, 300, 64, 128) == Receipt::kOutOfWindow);   // not a multiple of the payload
  CHECK(q.data(0, 300, 256, 127) == Receipt::kOutOfWindow);  // the last chunk has 44 bytes
  CHECK(q.data(0, 300, 384, 0) == Receipt::kOutOfWindow);    // beyond the end
  CHECK(q.data(8, 128, 0) == Receipt::kOutOfWindow);         // 2 x 4 requests ahead
  CHECK(q.data(0, 300, 0) == Receipt::kPlaced);
  CHECK(q.data(0, 301, 128) == Receipt::kOutOfWindow);  // a different size for the same message
}

TEST_CASE("a message longer than its buffer is reported with both sizes") {
  Queue q;
  std::vector<std::byte> buffer(100);
  q.post(1, buffer);
  CHECK(q.data(0, 300, 0) == Receipt::kTooLong);
  REQUIRE(q.queue.overflow());
  CHECK(q.queue.overflow()->message_bytes == 300);
  CHECK(q.queue.overflow()->buffer_bytes == 100);
}

TEST_CASE("empty messages complete, whether posted before or after they arrive") {
  Queue q;
  q.post(1, {});
  CHECK(q.data(0, 0, 0) == Receipt::kPlaced);
  CHECK(q.data(1, 0, 0) == Receipt::kKept);
  q.post(2, {});
  CHECK(q.queue.pop_done()->request == 1);
  CHECK(q.queue.pop_done()->request == 2);
  CHECK(q.queue.completed() == 2);
}

TEST_CASE("a report gives the first hole and a bitmap of the chunks behind it") {
  Queue q;
  std::vector<std::byte> buffer(128 * 200);
  q.post(1, buffer);
  for (std::uint32_t chunk : {0u, 1u, 2u, 70u, 130u})
    q.data(0, 128 * 200, chunk * 128);
  wire::StreamReport ack;
  q.queue.report(ack, 1000);
  REQUIRE(ack.messages.size() == 1);
  CHECK(ack.messages[0].first_missing == 3);
  REQUIRE(ack.messages[0].bitmap_words == 3);
  CHECK(ack.bitmap[0] == 7);
  CHECK(ack.bitmap[1] == std::uint64_t{1} << 6);
  CHECK(ack.bitmap[2] == 4);
}

TEST_CASE("a report does not exceed the room it is given") {
  Queue q;
  std::vector<std::byte> buffer(128 * 200);
  q.post(1, buffer);
  for (std::uint32_t chunk : {1u, 199u})
    q.data(0, 128 * 200, chunk * 128);
  wire::StreamReport ack;
  q.queue.report(ack, 9);
  CHECK(ack.messages.empty());
  q.queue.report(ack, 10 + 8 + 7);
  CHECK(ack.bitmap.size() == 1);
}

TEST_CASE("a message longer than the maximum is refused, however its length wraps") {
  for (const std::uint32_t bytes : {0xffff'ffffu, 0xffff'ff81u, (1u << 30) + 1}) {
    Queue q;
    std::vector<std::byte> buffer(400);
    q.post(7, buffer);
    CHECK(q.data(0, bytes, 0, 128) == Receipt::kOutOfWindow);
    CHECK(q.data(0, bytes, 0x8000'0000u, 128) == Receipt::kOutOfWindow);
    CHECK_FALSE(q.queue.expect(0, bytes).possible);
    CHECK_FALSE(q.queue.pop_done());
  }
}

TEST_CASE("a message of the maximum size has all of its chunks") {
  Queue q;
  const auto bytes = static_cast<std::uint32_t>(wire::kMessageBytesMax);
  CHECK(q.data(0, bytes, bytes - 128) ==
        Receipt::kNoRoom);  // a valid chunk, but beyond the eager allowance
  CHECK(q.data(0, bytes, 0) == Receipt::kKept);
  // Only two chunks of it are written.
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(wire::kMessageBytesMax);
  q.post(7, {buffer.get(), wire::kMessageBytesMax});
  CHECK(q.data(0, bytes, bytes - 128) == Receipt::kPlaced);
  CHECK_FALSE(q.queue.pop_done());
}

TEST_CASE("the chunks of a compressed message have a size of their own, equal in all its packets") {
  Queue q;
  std::vector<std::byte> buffer(1000, std::byte{0});
  q.post(7, buffer);
  const auto coded = [&](std::uint32_t offset, std::uint32_t bytes, std::uint32_t chunk_bytes) {
    wire::DataHeader header;
    header.message_bytes = 1000;
    header.offset = offset;
    header.coding = {chunk_bytes, bytes, 1};
    q.payload.assign(bytes, std::byte{1});
    return q.copy(q.queue.on_data(header, q.payload, q.placements.wanted));
  };
  CHECK(coded(384, 384, 384) == Receipt::kPlaced);
  CHECK(coded(384, 384, 384) == Receipt::kDuplicate);
  CHECK(coded(256, 256, 256) == Receipt::kOutOfWindow);
  CHECK(q.data(0, 1000, 256) == Receipt::kOutOfWindow);  // not compressed
  CHECK(coded(0, 128, 384) == Receipt::kPlaced);         // a piece
  CHECK(coded(128, 256, 384) == Receipt::kPlaced);
  CHECK_FALSE(q.queue.pop_done());
  CHECK(coded(768, 232, 384) == Receipt::kPlaced);
  REQUIRE(q.queue.pop_done());
  CHECK(std::ranges::all_of(buffer, [](std::byte byte) { return byte == std::byte{1}; }));
}

TEST_CASE("a message is reported as closing while received data waits for its placement") {
  Queue q;
  std::vector<std::byte> buffer(300);
  REQUIRE(q.queue.post(7, buffer, q.placements, true) == Early::kNothing);
  for (std::uint32_t offset : {0u, 128u, 256u})
    q.data(0, 300, offset);
  const auto report = [&] {
    wire::StreamReport stream;
    q.queue.report(stream, 1000);
    REQUIRE(stream.messages.size() == 1);
    CHECK(stream.messages[0].first_missing == 3);  // so that no chunk counts as lost
    return stream.messages[0];
  };
  for (const bool last : {false, false, true}) {
    CHECK(report().closing);
    CHECK_FALSE(q.queue.pop_done());
    CHECK(q.queue.on_placed(0) == last);
  }
  CHECK(q.queue.pop_done()->request == 7);
  CHECK(q.queue.completed() == 1);
}

// ---- messages that a card places

TEST_CASE("a placed message is complete only after its last permission has ended") {
  Queue q;
  std::vector<std::byte> buffer(400);
  q.post(7, buffer);
  q.queue.permit(0);
  CHECK(q.queue.on_placed_chunk(0, 2, 44) == Receipt::kPlaced);
  CHECK(q.queue.on_placed_chunk(0, 0, {}) == Receipt::kPlaced);
  CHECK(q.queue.on_placed_chunk(0, 0, {}) == Receipt::kDuplicate);
  CHECK_FALSE(q.queue.has_closing());
  CHECK(q.data(0, 300, 128) == Receipt::kPlaced);  // an ordinary packet
  CHECK(q.queue.take_closing() == std::vector<std::uint64_t>{0});
  CHECK_FALSE(q.queue.pop_done());
  wire::StreamReport report;
  q.queue.report(report, 1000);
  REQUIRE(report.messages.size() == 1);
  CHECK(report.messages[0].closing);
  CHECK(report.messages[0].first_missing == 3);
  q.queue.end_permits(0);
  const auto done = q.queue.pop_done();
  REQUIRE(done);
  CHECK(done->bytes == 300);
  CHECK(q.queue.completed() == 1);
}

TEST_CASE("a run of packets is placed as its packets would be one by one") {
  Queue q;
  std::vector<std::byte> buffer(16 * 128 + 1, std::byte{0});
  q.post(7, buffer);
  CHECK(q.run(0, 16 * 128, 4 * 128, 8));  // the first packets of the message
  CHECK(q.run(0, 16 * 128, 0, 4));
  CHECK(q.queue.message(0).received == 12);
  CHECK(q.queue.message(0).highest == 11);
  CHECK_FALSE(q.queue.pop_done());
  CHECK(q.run(0, 16 * 128, 12 * 128, 4));
  const auto done = q.queue.pop_done();
  REQUIRE(done);
  CHECK(done->bytes == 16 * 128);
  for (std::size_t i = 0; i < 16 * 128; ++i)
    REQUIRE(buffer[i] == static_cast<std::byte>(i / 128 + 1));
  CHECK(buffer.back() == std::byte{0});
  CHECK_FALSE(q.run(0, 16 * 128, 0, 4));  // complete
}

TEST_CASE("a run that is not placed as a whole changes nothing") {
  Queue q;
  std::vector<std::byte> buffer(16 * 128, std::byte{0});
  CHECK_FALSE(q.run(0, 2048, 0, 4));  // not posted
  q.post(7, buffer);
  CHECK_FALSE(q.run(1, 2048, 0, 4));         // another message
  CHECK_FALSE(q.run(0, 2048 + 1, 0, 4));     // longer than the buffer
  CHECK_FALSE(q.run(0, 2048, 64, 4));        // not at a chunk
  CHECK_FALSE(q.run(0, 2048, 0, 4, 64));     // smaller packets
  CHECK_FALSE(q.run(0, 2048, 13 * 128, 4));  // beyond the end
  CHECK_FALSE(q.run(0, 2000, 12 * 128, 4));  // the last one is padded
  CHECK(q.data(0, 2048, 5 * 128) == Receipt::kPlaced);
  CHECK_FALSE(q.run(0, 2048, 2 * 128, 4));  // one of them is a duplicate
  CHECK_FALSE(q.run(0, 1920, 8 * 128, 4));  // another length
  CHECK(q.queue.message(0).received == 1);
  CHECK(std::count(buffer.begin(), buffer.end(), std::byte{0}) == 2048 - 128);
  Queue pieces;
  pieces.queue.set_payload_bytes(256);
  pieces.post(7, buffer);
  CHECK(pieces.data(0, 2048, 0, 128) == Receipt::kPlaced);
  CHECK_FALSE(pieces.run(0, 2048, 256, 4, 256));
  Queue device;
  device.queue.post(1, buffer, device.placements, true);
  CHECK_FALSE(device.run(0, 2048, 0, 4));  // its placements must be named
}

TEST_CASE("until a packet tells the length of a placed message, its buffer bounds it") {
  Queue q;
  std::vector<std::byte> buffer(1000);
  q.post(7, buffer);
  q.queue.permit(0);
  CHECK(q.queue.on_placed_chunk(0, 1, {}) == Receipt::kPlaced);
  CHECK(q.queue.message(0).chunks == 8);
  CHECK(q.queue.on_placed_chunk(0, 8, {}) == Receipt::kOutOfWindow);
  CHECK(q.queue.on_placed_chunk(0, 0, 100) == Receipt::kOutOfWindow);  // but chunk 1 has arrived
  CHECK(q.queue.on_placed_chunk(0, 7, 105) == Receipt::kOutOfWindow);  // more than the buffer
  CHECK(q.queue.on_placed_chunk(0, 2, 0) == Receipt::kOutOfWindow);
  CHECK(q.data(0, 200, 0) == Receipt::kPlaced);
  CHECK(q.queue.has_closing());
  q.queue.end_permits(0);
  REQUIRE(q.queue.pop_done());
}

TEST_CASE("an ordinary packet shows that a placed message exceeds its buffer") {
  Queue q;
  std::vector<std::byte> buffer(256);
  q.post(7, buffer);
  q.queue.permit(0);
  CHECK(q.queue.on_placed_chunk(0, 0, {}) == Receipt::kPlaced);
  CHECK(q.data(0, 300, 256) == Receipt::kTooLong);
  CHECK(q.queue.overflow().has_value());
}
