// The records of loss detection (flight.h) for each path, and how late packets can be.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/streams/send_message.h"
#include "util/memory/ring_queue.h"
#include "util/time.h"

namespace dlcp::core::flight {

// The content of a packet, and the way in which it arrives.
enum class Carried : std::uint8_t {
  kPiece,           // a part of a chunk, but not the last one
  kChunk,           // a chunk, or its last part
  kByCard,          // a chunk that the receiver's card places
  kByReliableCard,  // the same; the sender's card repeats the packet until it arrives
};

// Packets that were sent together on one path, with chunks of one message that follow each other.
struct Record {
  static constexpr std::size_t kPacketsMax = 64;

  ChunkRef chunk;  // of the first packet
  Time sent_at;
  // Bit i is packet i. Open: neither acknowledged nor lost, and the last packet of its chunk.
  std::uint64_t open = 0;
  std::uint64_t passed = 0;    // a packet sent after it on its path has arrived before it
  bool passed_across = false;  // a packet sent after them on any path has arrived before them
  bool placed = false;         // by the receiver's card
  bool repaired = false;       // by the sender's card
  std::uint8_t packets = 1;

  // How many packets come before the first open one.
  std::size_t known_first() const {
    return std::min<std::size_t>(static_cast<std::size_t>(std::countr_zero(open)), packets);
  }
  // The first `count` packets; all, if it has fewer.
  static std::uint64_t first(std::uint64_t count) {
    return count >= kPacketsMax ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
};
// The most recently sent packet or probe that was acknowledged, and the time that this took.
struct Delivery {
  Time sent_at = Time::min();
  Duration took{0};
  void update(Time now, Time packet_sent_at, Duration least = Duration(0));
};
struct Path {
  std::uint64_t next_sequence = 0;
  std::uint64_t front_sequence = 0;   // number of records.front()
  std::uint64_t delivered_below = 0;  // the highest number that has arrived, plus 1
  std::uint64_t reported_below = 0;   // without what answers to probes show
  std::uint64_t failed_below = 0;     // the card repeats none below
  Delivery newest;
  RingQueue<Record> records;
};

// Packet A is late if packet B was sent after it and acknowledged before it. Lateness is the
// largest difference between the times that the ACKs of A and B took, in the present epoch and the
// one before.
struct Lateness {
  Duration now{0};
  Duration before{0};
  void add(Duration late) { now = std::max(now, late); }
  void end_epoch() { before = std::exchange(now, Duration(0)); }
  // With a margin of a quarter, because other packets may be even later.
  Duration allowance() const { return std::max(now, before) * 5 / 4; }
};

}  // namespace dlcp::core::flight
