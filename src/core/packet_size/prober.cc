#include "core/packet_size/prober.h"

#include <algorithm>

#include "wire/data/data_header.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {
namespace {

// The echo of a probe is returned unchanged. It holds the send time, in units of 33 us, and the
// path in the low 8 bits.
constexpr std::uint32_t kPathBits = 8;

std::uint32_t echo_of(Time now, wire::PathIndex path) {
  return (wire::wire_time(now) >> kPathBits << kPathBits) | path;
}

}  // namespace

Time Prober::next_timeout(bool owes_progress) const {
  return std::min(clock_.next_timeout(), owes_progress ? size_.next_timeout() : kNever);
}

bool Prober::on_timeout(Time now, const ProbeClock::Terms& terms, bool owes_progress) {
  if (owes_progress) size_.on_timeout(now);
  const bool answered = clock_.unanswered() == 0;
  if (!clock_.on_timeout(now, terms)) return false;
  if (owes_progress && answered && clock_.fruitless() >= ProbeClock::kStalledAfter &&
      size_.on_fruitless(now)) {
    clock_.on_progress();  // smaller packets start without a history of failures
    clock_.run(now, terms);
  }
  return true;
}

void Prober::on_progress() {
  clock_.on_progress();
  size_.on_progress();
}

Prober::Answer Prober::on_answer(Time now, std::uint32_t echo) {
  ++answers_;
  if (size_.on_answered(echo)) clock_.on_progress();
  return {wire::from_wire_time(echo >> kPathBits << kPathBits, now),
          static_cast<std::uint8_t>(echo)};
}

std::size_t Prober::poll_transmit(Time now, const Recipient& to, PathSet& paths,
                                  FrameWriter& frames, std::span<wire::TxPacket> out) {
  std::size_t count = 0;
  const auto ask = [&](wire::PathIndex path, Time asked_at, std::uint32_t bytes) {
    wire::Probe probe;
    probe.destination = to.token;
    probe.echo = echo_of(asked_at, path);
    probe.bytes = bytes;
    frames.emit(probe, path, *to.address, out[count++]);
    return probe.echo;
  };
  for (; clock_.due() > 0 && count < out.size(); clock_.on_sent())
    ask(paths.choose_for_probe(), now, 0);
  // All sizes of a round use one path, so that only the size makes a difference. Their send times
  // are made distinct, because the echo tells which probe is answered.
  const wire::PathIndex path = size_.next_question() ? paths.choose_for_probe() : 0;
  Time asked_at = now;
  while (const auto payload = size_.next_question()) {
    if (count == out.size()) break;
    asked_at -= Duration(std::int64_t{128} << kPathBits);
    size_.on_asked(ask(path, asked_at, size_.packet_bytes(*payload)));
  }
  return count;
}

}  // namespace dlcp::core
