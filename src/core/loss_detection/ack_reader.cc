#include "core/loss_detection/ack_reader.h"

#include <algorithm>
#include <utility>

#include "wire/data/data_header.h"

namespace dlcp::core {
namespace {

constexpr Duration kRepeatLeast = 1ms;
// If this many delays in a row are long, the network has become slower.
constexpr unsigned kSlowInRowMax = 8;

}  // namespace

// Time stamps wrap, and so does their difference. Changes from one to the next are small, so they
// are added up.
Duration AnswerDelay::of(std::uint32_t sent, Time arrived_at) {
  const std::uint32_t between = wire::wire_time(arrived_at) - sent;
  if (std::exchange(begun_, true)) delay_ += static_cast<std::int32_t>(between - last_);
  last_ = between;
  return wire::wire_duration(delay_);
}

// The delay of a packet that the card has repeated says how long the card waited, and nothing about
// queues and distances.
bool AckReader::is_slow(Duration fabric) const {
  const Duration usual = rtt_.answer_time_or(Duration::max() / kRepeatTimes);
  return fabric > std::max(kRepeatTimes * usual, kRepeatLeast);
}

Duration AckReader::read_paths(Time now, const wire::Ack& ack, Time arrived_at, Duration round_trip,
                               const Learners& learners, AckSample& sample,
                               std::size_t repaired_from) {
  const Duration answer = answers_.of(ack.sent, arrived_at);
  bool first = true;
  Duration newest{0};
  Duration round_trip_min{0};
  for (std::size_t i = 0; i < ack.paths.size(); ++i) {
    const wire::PathReport& report = ack.paths[i];
    const Time sent_at = wire::from_wire_time(report.echo, now);
    const Duration held = wire::wire_duration(report.held);
    const Duration total = arrived_at - sent_at;
    const Duration fabric = std::max(total - held, Duration(1));
    const bool slow = i >= repaired_from && is_slow(fabric);
    const bool repeated = slow && slow_in_row_ < kSlowInRowMax;
    sample.marked += report.ce_marks;  // also of packets that arrived behind a reported one
    const std::uint64_t packets =
        learners.flight.on_report(now, report.path, report.highest_sequence, sent_at, repeated);
    if (packets == 0) continue;
    if (i >= repaired_from) slow_in_row_ = slow ? slow_in_row_ + 1 : 0;
    if (repeated) {  // still, another path is better
      learners.paths.on_delivered(report.path, packets, kRepeatTimes * round_trip);
      continue;
    }
    if (sent_at < woken_at_) {  // the time includes a pause of this process
      learners.paths.on_delivered(report.path, packets, round_trip);
      continue;
    }
    newest = fabric;
    if (first || total < round_trip_min) round_trip_min = total;
    learners.on_delay(fabric, answer);
    first = false;
    learners.paths.on_delivered(report.path, packets, fabric);
  }
  if (!first) rtt_.add(round_trip_min);
  return newest;
}

std::uint32_t AckReader::read_duplicates(const wire::Ack& ack) {
  const auto news = static_cast<std::int32_t>(ack.duplicates - duplicates_);
  const auto fresh = static_cast<std::uint32_t>(std::max(news, 0));
  duplicates_ += fresh;
  return fresh;
}

}  // namespace dlcp::core
