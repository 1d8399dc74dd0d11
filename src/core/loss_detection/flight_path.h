// The records of loss detection (flight.h) for each path, and how late packets can be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/streams/send_message.h"
#include "util/memory/ring_queue.h"
#include "util/time.h"

namespace dlcp::core::flight {

struct Record {
  ChunkRef chunk;
  Time sent_at;
  bool settled = false;        // acknowledged, lost, or not the last packet of its chunk
  bool passed = false;         // a packet sent after it on its path has arrived before it
  bool passed_across = false;  // a packet sent after it on any path has arrived before it
  bool placed = false;         // by the receiver's card
  bool repaired = false;       // by the sender's card
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
