#include "core/loss_detection/flight.h"

#include <algorithm>

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

// Looks up a message once for all its chunks that follow each other.
class Arrived {
 public:
  explicit Arrived(const Flight::AckedOf& acked_of) : acked_of_(acked_of) {}
  bool operator()(const ChunkRef& chunk) {
    if (!known_ || chunk.message != of_.message || chunk.stream != of_.stream) {
      known_ = true;
      of_ = chunk;
      acked_ = acked_of_(chunk);
    }
    return acked_ == nullptr || acked_->test(chunk.chunk);
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

std::uint64_t Flight::on_sent(Time now, std::uint8_t path_index, const ChunkRef& chunk, bool ends,
                              std::size_t count) {
  Path& path = paths_[path_index];
  if (path.records.empty()) path.front_sequence = path.next_sequence;
  for (std::size_t i = 0; i < count; ++i) {
    Record& record = path.records.add();
    record.chunk.message = chunk.message;
    record.chunk.chunk = chunk.chunk + static_cast<std::uint32_t>(i);
    record.chunk.stream = chunk.stream;
    record.sent_at = now;
    record.settled = !ends;
    record.passed = false;
    record.passed_across = false;
    record.placed = record.repaired = false;
  }
  if (ends) records_ += count;
  return std::exchange(path.next_sequence, path.next_sequence + count);
}

std::uint64_t Flight::on_placed_sent(Time now, std::uint8_t path_index, const ChunkRef& chunk,
                                     bool repaired) {
  const std::uint64_t number = on_sent(now, path_index, chunk);
  Record& record = paths_[path_index].records.back();
  record.placed = true;
  record.repaired = repaired;
  return number;
}

void Flight::on_path_failed(Time now, std::uint8_t path_index) {
  if (path_index >= paths_.size()) return;
  paths_[path_index].failed_below = paths_[path_index].next_sequence;
  deadline_ = now;
}

bool Flight::on_report(Time now, std::uint8_t path_index, std::uint32_t sequence, Time sent_at,
                       bool was_repeated) {
  if (path_index >= paths_.size()) return false;
  Path& path = paths_[path_index];
  const std::uint64_t number = wire::expand_serial(sequence, path.next_sequence);
  if (number >= path.next_sequence || number < path.delivered_below) return false;
  path.delivered_below = number + 1;
  if (was_repeated) return true;
  path.newest.update(now, sent_at);
  newest_.update(now, sent_at);
  return true;
}

std::optional<std::pair<std::uint64_t, Time>> Flight::find(std::uint8_t path_index,
                                                           const ChunkRef& chunk) const {
  if (path_index >= paths_.size()) return std::nullopt;
  const Path& path = paths_[path_index];
  for (std::size_t i = 0; i < path.records.size(); ++i) {
    const Record& record = path.records[i];
    if (record.placed && record.chunk.chunk == chunk.chunk &&
        record.chunk.message == chunk.message && record.chunk.stream == chunk.stream)
      return std::pair(path.front_sequence + i, record.sent_at);
  }
  return std::nullopt;
}

void Flight::on_probe_answered(Time now, std::uint8_t path_index, Time sent_at,
                               Duration data_takes) {
  newest_.update(now, sent_at, data_takes);
  if (path_index >= paths_.size()) return;
  Path& path = paths_[path_index];
  path.newest.update(now, sent_at, data_takes);
  for (std::size_t i = 0; i < path.records.size() && path.records[i].sent_at <= sent_at; ++i)
    path.delivered_below = std::max(path.delivered_below, path.front_sequence + i + 1);
}

// RACK's deadline: the time at which the acknowledgement of this packet was expected, plus the
// reordering window.
bool Flight::lost(Time now, const Path& path, std::uint64_t sequence, Record& record) {
  if (record.repaired) return sequence < path.failed_below;
  Time due = kNever;
  if (sequence < path.delivered_below) {
    record.passed = true;
    due = record.sent_at + path.newest.took + same_path_window_;
  }
  if (record.sent_at < newest_.sent_at) {
    record.passed_across = true;
    due = std::min(due, record.sent_at + newest_.took + cross_path_window_);
  }
  if (due <= now) return true;
  deadline_ = std::min(deadline_, due);
  return false;
}

// Learns from a packet that was acknowledged after a later one had been.
void Flight::arrived_late(Time now, const Path& path, const Record& record) {
  if (record.repaired) return;
  if (record.passed) on_path_.add(now - record.sent_at - path.newest.took);
  if (record.passed_across) across_.add(now - record.sent_at - newest_.took);
}

void Flight::set_windows(Time now, const RttEstimator& rtt) {
  const Duration round = rtt.smoothed_or(1ms);
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
  if (records_ == 0) return;
  set_windows(now, rtt);
  Arrived arrived(acked_of);
  for (std::size_t index = 0; index < paths_.size(); ++index) {
    Path& path = paths_[index];
    for (std::size_t i = 0; i < path.records.size(); ++i) {
      Record& record = path.records[i];
      const std::uint64_t sequence = path.front_sequence + i;
      const bool is_passed = sequence < path.delivered_below || record.sent_at < newest_.sent_at;
      if (!is_passed && sequence >= path.failed_below) break;
      if (record.settled) continue;
      if (!arrived(record.chunk)) {
        if (!lost(now, path, sequence, record)) continue;
        out.push_back({static_cast<std::uint8_t>(index), record.chunk, record.sent_at,
                       sequence < path.delivered_below, record.repaired});
      } else {
        arrived_late(now, path, record);
      }
      record.settled = true;
      check(records_ > 0, "a settled record must have been counted");
      --records_;
    }
    while (!path.records.empty() && path.records.front().settled) {
      path.records.pop_front();
      ++path.front_sequence;
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
