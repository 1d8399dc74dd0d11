#include "core/loss_detection/flight.h"

#include <algorithm>
#include <bit>

#include "util/check.h"
#include "wire/serial.h"

namespace dlcp::core {
namespace {

// One path normally keeps order. Paths differ in delay; 100 Gbit/s send 750 kB in kGraceLeast.
constexpr Duration kSamePathLeast = 20us;
constexpr Duration kGraceLeast = 60us;
// Limits on waiting for late packets, however late they have been: two RTTs. Across short paths
// more: a receiver that lacks processor time reads its sockets one after the other.
constexpr int kLateRoundsMost = 2;
constexpr Duration kLateMost = 1ms;
constexpr int kEpochRounds = 64;
constexpr Duration kEpochLeast = 100ms;  // causes of late packets seldom last shorter

// Looks up a message once for all its records that follow each other.
class Arrived {
 public:
  explicit Arrived(const Flight::AckedOf& acked_of) : acked_of_(acked_of) {}
  // Bit i: chunk + i has arrived.
  std::uint64_t operator()(const ChunkRef& chunk) {
    if (!known_ || chunk.message != of_.message || chunk.stream != of_.stream) {
      known_ = true;
      of_ = chunk;
      acked_ = acked_of_(chunk);
    }
    return acked_ == nullptr ? ~std::uint64_t{0} : acked_->bits_from(chunk.chunk);
  }

 private:
  const Flight::AckedOf& acked_of_;
  bool known_ = false;
  ChunkRef of_{};
  const Bitmap* acked_ = nullptr;
};

}  // namespace

void flight::Delivery::update(Time now, Time packet_sent_at, Duration least) {
  if (packet_sent_at <= sent_at) return;
  sent_at = packet_sent_at;
  took = std::max(now - packet_sent_at, least);
}

std::uint64_t Flight::on_sent(Time now, std::uint8_t path_index, const ChunkRef& chunk,
                              Carried carried, std::size_t count) {
  const bool ends = carried != Carried::kPiece;
  Path& path = paths_[path_index];
  if (path.records.empty()) path.front_sequence = path.next_sequence;
  for (std::size_t done = 0; done < count;) {
    const std::size_t packets = std::min(count - done, Record::kPacketsMax);
    Record& record = path.records.add();
    record.chunk = chunk;
    record.chunk.chunk += static_cast<std::uint32_t>(done);
    record.sent_at = now;
    record.open = ends ? Record::first(packets) : 0;
    record.passed = 0;
    record.passed_across = false;
    record.placed = carried >= Carried::kByCard;
    record.repaired = carried == Carried::kByReliableCard;
    record.packets = static_cast<std::uint8_t>(packets);
    done += packets;
  }
  if (ends) open_ += count;
  return std::exchange(path.next_sequence, path.next_sequence + count);
}

void Flight::on_path_failed(Time now, std::uint8_t path_index) {
  if (path_index >= paths_.size()) return;
  paths_[path_index].failed_below = paths_[path_index].next_sequence;
  deadline_ = now;
}

std::uint64_t Flight::on_report(Time now, std::uint8_t path_index, std::uint32_t sequence,
                                Time sent_at, bool was_repeated) {
  if (path_index >= paths_.size()) return 0;
  Path& path = paths_[path_index];
  const std::uint64_t number = wire::expand_serial(sequence, path.next_sequence);
  if (number >= path.next_sequence || number < path.delivered_below) return 0;
  path.delivered_below = number + 1;
  const std::uint64_t before = std::exchange(path.reported_below, number + 1);
  if (was_repeated) return number + 1 - before;
  path.newest.update(now, sent_at);
  newest_.update(now, sent_at);
  return number + 1 - before;
}

std::optional<std::pair<std::uint64_t, Time>> Flight::find(std::uint8_t path_index,
                                                           const ChunkRef& chunk) const {
  if (path_index >= paths_.size()) return std::nullopt;
  const Path& path = paths_[path_index];
  std::uint64_t sequence = path.front_sequence;
  for (std::size_t i = 0; i < path.records.size(); sequence += path.records[i++].packets) {
    const Record& record = path.records[i];
    const std::uint32_t packet = chunk.chunk - record.chunk.chunk;
    if (record.placed && packet < record.packets && record.chunk.message == chunk.message &&
        record.chunk.stream == chunk.stream)
      return std::pair(sequence + packet, record.sent_at);
  }
  return std::nullopt;
}

void Flight::on_probe_answered(Time now, std::uint8_t path_index, Time sent_at,
                               Duration data_takes) {
  newest_.update(now, sent_at, data_takes);
  if (path_index >= paths_.size()) return;
  Path& path = paths_[path_index];
  path.newest.update(now, sent_at, data_takes);
  std::uint64_t below = path.front_sequence;
  for (std::size_t i = 0; i < path.records.size() && path.records[i].sent_at <= sent_at; ++i) {
    below += path.records[i].packets;
    path.delivered_below = std::max(path.delivered_below, below);
  }
}

// Returns which of `packets` of the record are lost. RACK's deadline: the time at which the
// acknowledgement of a packet was expected, plus the reordering window. `sequence`: of packet 0.
std::uint64_t Flight::lost(Time now, const Path& path, std::uint64_t sequence, Record& record,
                           std::uint64_t packets) {
  const auto below = [&](std::uint64_t number) {
    return number <= sequence ? 0 : packets & Record::first(number - sequence);
  };
  if (record.repaired) return below(path.failed_below);
  const std::uint64_t passed = below(path.delivered_below);
  record.passed |= passed;
  Time due_across = kNever;
  if (record.sent_at < newest_.sent_at) {
    record.passed_across = true;
    due_across = record.sent_at + newest_.took + cross_path_window_;
  }
  const Time due = std::min(due_across, record.sent_at + path.newest.took + same_path_window_);
  const std::uint64_t lost = (due <= now ? passed : 0) | (due_across <= now ? packets : 0);
  if ((passed & ~lost) != 0) deadline_ = std::min(deadline_, due);
  if ((packets & ~lost) != 0) deadline_ = std::min(deadline_, due_across);
  return lost;
}

// Learns from packets of the record that were acknowledged after a later one had been.
void Flight::arrived_late(Time now, const Path& path, const Record& record, std::uint64_t packets) {
  if (record.repaired || packets == 0) return;
  if ((record.passed & packets) != 0) on_path_.add(now - record.sent_at - path.newest.took);
  if (record.passed_across) across_.add(now - record.sent_at - newest_.took);
}

void Flight::set_windows(Time now, const RttEstimator& rtt) {
  const Duration round = rtt.smoothed_or();
  if (now >= epoch_ends_) {
    epoch_ends_ = now + std::max<Duration>(kEpochRounds * round, kEpochLeast);
    on_path_.end_epoch();
    across_.end_epoch();
  }
  const Duration most = kLateRoundsMost * round;
  same_path_window_ = std::max({round / 8, kSamePathLeast, std::min(on_path_.allowance(), most)});
  cross_path_window_ =
      std::max({round / 4, 4 * rtt.variation(), kGraceLeast,
                std::min(across_.allowance(), std::max<Duration>(most, kLateMost))});
}

void Flight::find_losses(Time now, const RttEstimator& rtt, const AckedOf& acked_of,
                         std::vector<Loss>& out) {
  deadline_ = kNever;
  if (open_ == 0) return;
  set_windows(now, rtt);
  Arrived arrived(acked_of);
  for (std::size_t index = 0; index < paths_.size(); ++index) {
    Path& path = paths_[index];
    std::uint64_t sequence = path.front_sequence;
    for (std::size_t i = 0; i < path.records.size(); sequence += path.records[i++].packets) {
      Record& record = path.records[i];
      const std::uint64_t below = std::max(path.delivered_below, path.failed_below);
      const bool across = record.sent_at < newest_.sent_at;
      if (!across && sequence >= below) break;
      const std::uint64_t passed = across ? ~std::uint64_t{0} : Record::first(below - sequence);
      const std::uint64_t open = record.open & passed;
      if (open == 0) continue;
      const std::uint64_t here = open & arrived(record.chunk);
      arrived_late(now, path, record, here);
      const std::uint64_t lost =
          here == open ? 0 : this->lost(now, path, sequence, record, open & ~here);
      for (std::uint64_t left = lost; left != 0; left &= left - 1) {
        const auto packet = static_cast<std::uint32_t>(std::countr_zero(left));
        ChunkRef chunk = record.chunk;
        chunk.chunk += packet;
        out.push_back({static_cast<std::uint8_t>(index), chunk, record.sent_at,
                       sequence + packet < path.delivered_below, record.repaired});
      }
      record.open &= ~(here | lost);
      const auto settled = static_cast<std::size_t>(std::popcount(here | lost));
      check(settled <= open_, "a settled packet must have been counted");
      open_ -= settled;
    }
    while (!path.records.empty() && path.records.front().open == 0) {
      path.front_sequence += path.records.front().packets;
      path.records.pop_front();
    }
  }
}

void Flight::on_spurious(Time now, Duration round_trip) {
  if (now < widen_again_at_) return;
  widen_again_at_ = now + round_trip;
  on_path_.add(2 * same_path_window_);
  across_.add(2 * cross_path_window_);
}

}  // namespace dlcp::core
