// Packets in flight: one record per data packet, per path in the order sent, and the decision which
// of them are lost. The rules are those of RACK (RFC 8985), applied to each path:
// - A packet is lost if its own path has delivered a later packet and the reordering window has
//   passed.
// - A packet is lost if any path has delivered a packet that was sent later, and a longer,
//   cross-path window has passed.
// Counting duplicate acknowledgements would be wrong with spraying and is not done.
//
// The windows are learnt from evidence. A packet that is acknowledged after a later one shows how
// late packets can be. A spurious retransmission shows that the window was too short. Without
// either, losses are detected within an eighth of the RTT.
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

  // Numbers the packet on its path, without reuse, and keeps its record. Of a chunk in pieces only
  // the last piece is judged (`ends`): the chunk is retransmitted whole, and the earlier pieces
  // have had at least as much time.
  std::uint64_t on_sent(Time now, wire::PathIndex path, const ChunkRef& chunk, bool ends = true);

  // The peer has received `sequence`, sent at `sent_at`, on `path`. False if it was never sent, or
  // if the report brings nothing new.
  bool on_report(Time now, wire::PathIndex path, std::uint32_t sequence, Time sent_at);
  // A probe sent at `sent_at` on `path` was answered: packets sent before it can count as lost now,
  // but not earlier than `data_takes` after they were sent, because a probe may overtake data that
  // waits in another switch queue.
  void on_probe_answered(Time now, wire::PathIndex path, Time sent_at, Duration data_takes);

  struct Loss {
    wire::PathIndex path = 0;
    ChunkRef chunk;
    Time sent_at;
    bool overtaken = false;  // its own path has delivered a later packet, so the path works
  };
  // Removes settled records and appends packets that count as lost now to `out`. deadline() is the
  // time of the next call even if nothing arrives.
  void find_losses(Time now, const RttEstimator& rtt, const ChunkStates& chunks,
                   std::vector<Loss>& out);
  Time deadline() const { return deadline_; }

  // A retransmission was spurious: wait longer before the next one. Takes effect at most once per
  // RTT, because one premature decision can concern many packets.
  void on_spurious(Time now, Duration round_trip);

  std::optional<std::uint8_t> path_of_newest() const;
  bool empty() const { return records_ == 0; }

 private:
  struct Record {
    ChunkRef chunk;
    Time sent_at;
    bool settled = false;        // acknowledged, or declared lost
    bool passed = false;         // a later packet of its path was reported before this one
    bool passed_across = false;  // the same for any path
  };
  // The largest lateness of packets that arrived after all, over the last one to two epochs.
  struct Lateness {
    Duration now{0};
    Duration before{0};
    void add(Duration late) { now = std::max(now, late); }
    void end_epoch() { before = std::exchange(now, Duration(0)); }
    // With a margin, because later packets may be later still.
    Duration allowance() const { return std::max(now, before) * 5 / 4; }
  };
  // The newest send time known to be delivered, and the time until that was known.
  struct Delivery {
    Time sent_at = Time::min();
    Duration took{0};
    void update(Time now, Time packet_sent_at, Duration least = Duration(0));
  };
  struct Path {
    std::uint64_t next_sequence = 0;
    std::uint64_t front_sequence = 0;   // of records.front()
    std::uint64_t delivered_below = 0;  // a packet with sequence delivered_below - 1 has arrived
    Delivery newest;
    RingQueue<Record> records;
  };

  bool lost(Time now, const Path& path, std::uint64_t sequence, Record& record);
  void arrived_late(Time now, const Path& path, const Record& record);
  void set_windows(Time now, const RttEstimator& rtt);

  std::vector<Path> paths_;
  std::size_t records_ = 0;    // not settled
  double reordering_ = 0.125;  // reordering within one path, as share of the RTT
  Duration grace_;             // lower bound of cross_path_window_
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
