// Records the data packets in flight of an association, for each path in the order of sending, and
// decides which are lost. As in RACK (RFC 8985), a packet is compared with one that was sent after
// it and has arrived. It is lost if its own ACK has not arrived within the time that the ACK of the
// other packet took, plus a window that allows for reordering:
// - the same-path window, if both were sent on the same path;
// - the longer cross-path window, whatever the paths.
// Duplicate ACKs are not counted: packets on different paths overtake each other without loss.
//
// At first the same-path window is an eighth of the RTT, and the cross-path window a quarter or
// more. Each becomes longer if a packet arrives after one that was sent after it, and if a
// retransmission was spurious, that is, the packet was late and not lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/loss_detection/rtt.h"
#include "core/streams/send_message.h"
#include "util/ring_queue.h"
#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::core {

class Flight {
 public:
  explicit Flight(std::size_t paths);

  // Records a packet and returns its number: each path counts its packets from 0. A chunk may be
  // sent in several packets; `ends` marks the last. Only the last is ever declared lost: the whole
  // chunk is then retransmitted, and its earlier packets have had at least as much time to arrive.
  std::uint64_t on_sent(Time now, wire::PathIndex path, const ChunkRef& chunk, bool ends = true);

  // An ACK names the packet with the highest number that has arrived on `path`, and the time when
  // it was sent. Lower numbers may be missing. Returns false if no such packet was sent, or if an
  // earlier report has named it or a higher one.
  bool on_report(Time now, wire::PathIndex path, std::uint32_t sequence, Time sent_at);
  // The peer answered a probe that was sent on `path` at `sent_at`. Packets sent before the probe
  // can be lost now, as if it were a data packet whose ACK took at least `data_takes`: a probe may
  // overtake data that is in another queue of a switch.
  void on_probe_answered(Time now, wire::PathIndex path, Time sent_at, Duration data_takes);

  struct Loss {
    wire::PathIndex path = 0;
    ChunkRef chunk;
    Time sent_at;
    bool overtaken = false;  // its own path has delivered a higher number, so the path works
  };
  // Appends the packets that are lost now to `out`, and forgets packets that are acknowledged or
  // lost. The caller calls it after each ACK, and at deadline() if none arrives.
  void find_losses(Time now, const RttEstimator& rtt, const ChunkStates& chunks,
                   std::vector<Loss>& out);
  Time deadline() const { return deadline_; }

  // A retransmission was spurious: doubles the windows, within limits. This happens at most once
  // per RTT, because one decision that was too early can concern many packets.
  void on_spurious(Time now, Duration round_trip);

  // The path of the packet that was sent last; nullopt if no packet is in flight.
  std::optional<std::uint8_t> path_of_newest() const;
  bool empty() const { return records_ == 0; }

 private:
  struct Record {
    ChunkRef chunk;
    Time sent_at;
    bool settled = false;        // acknowledged, lost, or not the last packet of its chunk
    bool passed = false;         // a packet sent after it on its path has arrived before it
    bool passed_across = false;  // a packet sent after it on any path has arrived before it
  };
  // The longest time by which an ACK exceeded the time of the other packet's ACK, in the present
  // epoch and in the one before (64 RTTs each).
  struct Lateness {
    Duration now{0};
    Duration before{0};
    void add(Duration late) { now = std::max(now, late); }
    void end_epoch() { before = std::exchange(now, Duration(0)); }
    // With a margin of a quarter, because other packets may be even later.
    Duration allowance() const { return std::max(now, before) * 5 / 4; }
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
    Delivery newest;
    RingQueue<Record> records;
  };

  bool lost(Time now, const Path& path, std::uint64_t sequence, Record& record);
  void arrived_late(Time now, const Path& path, const Record& record);
  void set_windows(Time now, const RttEstimator& rtt);

  std::vector<Path> paths_;
  std::size_t records_ = 0;    // number of records that are not settled
  double reordering_ = 0.125;  // least same_path_window_, as share of the RTT
  Duration grace_;             // least cross_path_window_
  Lateness on_path_;
  Lateness across_;
  Time epoch_ends_{};
  Time widen_again_at_{};
  Duration same_path_window_{0};
  Duration cross_path_window_{0};
  Delivery newest_;  // on any path
  std::uint8_t newest_path_ = 0;
  Time deadline_ = kNever;
};

}  // namespace dlcp::core
