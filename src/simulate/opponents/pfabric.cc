#include "simulate/opponents/pfabric.h"

#include <algorithm>
#include <utility>

namespace dlcp::simulate {
namespace {

// After this number of consecutive timeouts a flow only probes until a packet arrives.
constexpr std::uint32_t kTimeoutsMost = 5;
constexpr double kTimeoutRounds = 3;  // base RTTs

// Answers precede all data.
std::uint32_t left_of(const Packet& packet) {
  return packet.kind == Packet::Kind::kData ? packet.left : 0;
}

}  // namespace

void LeastLeftFirst::admit(PacketPtr packet) {
  bytes_ += packet->wire_bytes;
  packets_.push_back(std::move(packet));
  while (bytes_ > limit_bytes_) {
    // The last of the packets with the most data left; possibly the new packet.
    const auto worst = std::max_element(
        packets_.rbegin(), packets_.rend(),
        [](const PacketPtr& a, const PacketPtr& b) { return left_of(*a) < left_of(*b); });
    bytes_ -= (*worst)->wire_bytes;
    packets_.erase(std::next(worst).base());
    ++counters_.dropped;
  }
  counters_.deepest_bytes = std::max(counters_.deepest_bytes, bytes_);
}

PacketPtr LeastLeftFirst::next() {
  if (packets_.empty() || paused_) return nullptr;
  const auto best = std::min_element(
      packets_.begin(), packets_.end(),
      [](const PacketPtr& a, const PacketPtr& b) { return left_of(*a) < left_of(*b); });
  const auto first = std::find_if(packets_.begin(), packets_.end(), [&](const PacketPtr& packet) {
    return packet->flow == (*best)->flow && packet->kind == (*best)->kind;
  });
  PacketPtr packet = std::move(*first);
  packets_.erase(first);
  bytes_ -= packet->wire_bytes;
  return packet;
}

PfabricConfig PfabricTransport::defaults(double gbit_per_s, Duration base_rtt) {
  PfabricConfig config;
  const double product = gbit_per_s / 8 * static_cast<double>(base_rtt.count());
  config.window.paths = 256;
  config.window.timeout_min =
      Duration(static_cast<std::int64_t>(kTimeoutRounds * static_cast<double>(base_rtt.count())));
  config.window_packets = std::max(1.0, product / config.window.packet_bytes);
  config.queue_bytes = static_cast<std::size_t>(2 * product);
  return config;
}

void PfabricTransport::on_answer(Time, std::uint32_t index, const Answer& answer) {
  if (!answer.news) return;
  Flow& sender = flow(index);
  sender.window = std::min(sender.window + 1, pfabric_.window_packets);  // slow start, always
}

void PfabricTransport::on_timeout(Time, std::uint32_t index) {
  Flow& sender = flow(index);
  sender.window = sender.timeouts_in_row >= kTimeoutsMost ? 1 : std::max(sender.window / 2, 1.0);
}

}  // namespace dlcp::simulate
