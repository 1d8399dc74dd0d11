// Records the data packets in flight of an association, for each path in the order of sending, and
// decides which are lost. The rule is that of RACK (RFC 8985): packet A is lost if packet B was
// sent after it and has arrived, and the ACK of A has not arrived within the time that the ACK of B
// took, plus a window that allows for reordering. The same-path window applies if both were sent on
// one path, the longer cross-path window to any two. README.md says how they adapt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/loss_detection/flight_path.h"
#include "core/loss_detection/rtt.h"
#include "core/streams/send_message.h"
#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::core {

class Flight {
 public:
  explicit Flight(std::size_t paths) : paths_(paths) {}

  // Records `count` packets, one for each chunk from `chunk` on, and returns the number of the
  // first: each path counts its packets from 0. If a chunk is sent in several packets, only the
  // last is ever declared lost: the whole chunk is then retransmitted, and its earlier packets have
  // had at least as much time to arrive. Packets of a reliable card are lost only if their path
  // fails.
  using Carried = flight::Carried;
  std::uint64_t on_sent(Time now, wire::PathIndex path, const ChunkRef& chunk,
                        Carried carried = Carried::kChunk, std::size_t count = 1);

  // An ACK reports the highest number that has arrived on `path` (`sequence`: its low 32 bits), and
  // the time when this packet was sent. Lower numbers may be missing. Returns by how much the
  // highest number has grown; 0 if no such packet was sent, or if an earlier ACK has reported this
  // number or a higher one. `was_repeated`: the card has probably repeated it, so that its delay
  // tells nothing about others.
  std::uint64_t on_report(Time now, wire::PathIndex path, std::uint32_t sequence, Time sent_at,
                          bool was_repeated = false);
  // The card does not repeat any more what was placed on this path.
  void on_path_failed(Time now, wire::PathIndex path);
  // The peer answered a probe that was sent on `path` at `sent_at`. The probe then counts as packet
  // B of the rule, with at least `data_takes` as the time that its ACK took: a probe may overtake
  // data that is in another queue of a switch.
  void on_probe_answered(Time now, wire::PathIndex path, Time sent_at, Duration data_takes);

  // Number and send time of the placed packet with this chunk on the path, if they are still known;
  // a chunk is placed at most once, because its retransmissions are ordinary packets.
  std::optional<std::pair<std::uint64_t, Time>> find(wire::PathIndex path,
                                                     const ChunkRef& chunk) const;
  std::size_t paths() const { return paths_.size(); }
  std::uint64_t next_number(wire::PathIndex path) const { return paths_[path].next_sequence; }
  // Packets above the highest number that an ACK has reported.
  std::uint64_t unreported(wire::PathIndex path) const {
    return paths_[path].next_sequence - paths_[path].reported_below;
  }
  // Packets from the oldest on whose fate is not known.
  std::size_t sent_since_unknown(wire::PathIndex path) const {
    const Path& of = paths_[path];
    if (of.records.empty()) return 0;
    return of.next_sequence - of.front_sequence - of.records.front().known_first();
  }
  // True if the oldest packet of the path whose fate is not known was sent before `time` and is
  // repaired by the card.
  bool awaits_repair(wire::PathIndex path, Time time) const {
    const auto& records = paths_[path].records;
    return !records.empty() && records.front().repaired && records.front().sent_at < time;
  }
  bool any_unknown() const { return open_ > 0; }

  struct Loss {
    wire::PathIndex path = 0;
    ChunkRef chunk;
    Time sent_at;
    bool overtaken = false;    // its own path has delivered a higher number, so the path works
    bool path_failed = false;  // the card has given up
  };
  // Returns the chunks of this chunk's message that have arrived; null: all of them.
  using AckedOf = std::function<const Bitmap*(const ChunkRef&)>;
  // Appends the packets that are lost now to `out`, and forgets packets that are acknowledged or
  // lost. The caller calls it after each ACK, and at deadline() if none arrives.
  void find_losses(Time now, const RttEstimator& rtt, const AckedOf& acked_of,
                   std::vector<Loss>& out);
  Time deadline() const { return deadline_; }

  // A retransmission was spurious: its packet counts as late by twice the windows. This happens at
  // most once per RTT, because one decision that was too early can concern many packets.
  void on_spurious(Time now, Duration round_trip);

 private:
  using Record = flight::Record;
  using Path = flight::Path;

  std::uint64_t lost(Time now, const Path& path, std::uint64_t sequence, Record& record,
                     std::uint64_t packets);
  void arrived_late(Time now, const Path& path, const Record& record, std::uint64_t packets);
  void set_windows(Time now, const RttEstimator& rtt);

  std::vector<Path> paths_;
  std::size_t open_ = 0;  // packets whose fate is not known
  flight::Lateness on_path_;
  flight::Lateness across_;
  Time epoch_ends_{};
  Time widen_again_at_{};
  Duration same_path_window_{0};
  Duration cross_path_window_{0};
  flight::Delivery newest_;  // on any path
  Time deadline_ = kNever;
};

}  // namespace dlcp::core
