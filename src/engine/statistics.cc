#include "engine/statistics.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace dlcp::engine {

void Statistics::add(const core::Counters& counters, const datapath::UdpCounters* udp,
                     const datapath::VerbsCounters* verbs) {
  for (const auto& row : core::kCounterRows) {
    core_[static_cast<std::size_t>(row.counter)] += counters[row.counter];
  }
  for (const auto& row : datapath::kVerbsCounterRows) {
    verbs_.*row.counter += verbs != nullptr ? verbs->*row.counter : 0;
  }
  if (udp == nullptr) {
    return;
  }
  udp_.tx_packets += udp->tx_packets;
  udp_.tx_bytes += udp->tx_bytes;
  udp_.tx_bursts += udp->tx_bursts;
  udp_.tx_syscalls += udp->tx_syscalls;
  udp_.tx_would_block += udp->tx_would_block;
  for (std::size_t i = 0; i < udp_.tx_errors.size(); ++i) {
    udp_.tx_errors[i] += udp->tx_errors[i];
  }
  udp_.rx_packets += udp->rx_packets;
  udp_.rx_bytes += udp->rx_bytes;
  udp_.rx_buffers += udp->rx_buffers;
  udp_.rx_syscalls += udp->rx_syscalls;
  udp_.rx_truncated += udp->rx_truncated;
  udp_.rx_queue_drops += udp->rx_queue_drops;
  udp_.gso_on = udp_.gso_on || udp->gso_on;
  udp_.gro_on = udp_.gro_on || udp->gro_on;
}

std::string Statistics::json() const {
  std::string out = "{";
  for (const auto& row : core::kCounterRows) {
    out += fmt::format("\"{}\": {}, ", row.name, core_[static_cast<std::size_t>(row.counter)]);
  }
  const auto packets = core_[static_cast<std::size_t>(core::Counter::kPacketsSent)];
  const auto bursts = core_[static_cast<std::size_t>(core::Counter::kBurstsSent)];
  out +=
      fmt::format("\"mean_burst\": {:.2f}, ",
                  bursts == 0 ? 0.0 : static_cast<double>(packets) / static_cast<double>(bursts));
  out += fmt::format(
      "\"udp\": {{\"tx_packets\": {}, \"tx_bytes\": {}, \"tx_bursts\": {}, \"tx_syscalls\": {}, "
      "\"tx_would_block\": {}, ",
      udp_.tx_packets, udp_.tx_bytes, udp_.tx_bursts, udp_.tx_syscalls, udp_.tx_would_block);
  for (std::size_t i = 0; i < udp_.tx_errors.size(); ++i) {
    out += fmt::format("\"tx_error_{}\": {}, ", datapath::kUdpSendErrorNames[i], udp_.tx_errors[i]);
  }
  out += fmt::format(
      "\"rx_packets\": {}, \"rx_bytes\": {}, \"rx_buffers\": {}, \"rx_syscalls\": {}, "
      "\"rx_truncated\": {}, \"rx_queue_drops\": {}, \"gso_on\": {}, \"gro_on\": {}}}, \"verbs\": "
      "{{",
      udp_.rx_packets, udp_.rx_bytes, udp_.rx_buffers, udp_.rx_syscalls, udp_.rx_truncated,
      udp_.rx_queue_drops, udp_.gso_on, udp_.gro_on);
  for (const auto& row : datapath::kVerbsCounterRows) {
    out += fmt::format("{}\"{}\": {}", &row == datapath::kVerbsCounterRows ? "" : ", ", row.name,
                       verbs_.*row.counter);
  }
  return out + "}}\n";
}

void Statistics::write(const std::string& path) const {
  std::string name = path;
  if (const std::size_t at = name.find("%p"); at != std::string::npos) {
    name.replace(at, 2, std::to_string(getpid()));
  }
  const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) {
    return;
  }
  const std::string text = json();
  [[maybe_unused]] const ssize_t put = ::write(file, text.data(), text.size());
  close(file);
}

}  // namespace dlcp::engine
