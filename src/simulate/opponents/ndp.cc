#include "simulate/opponents/ndp.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dlcp::simulate {
namespace {

constexpr double kTimeoutRounds = 10;  // base RTTs without an answer

}  // namespace

class NdpTransport::Puller final : public Sink {
 public:
  explicit Puller(NdpTransport& owner) : owner_(owner) {}

  void ask(Time now, std::uint32_t number) {
    turns_.push_back(number);
    if (!std::exchange(waits_, true)) owner_.events().schedule(std::max(now, free_at_), *this);
  }
  void on_event(Time now, PacketPtr) override {
    waits_ = false;
    while (!turns_.empty()) {
      const std::uint32_t number = turns_.front();
      turns_.pop_front();
      const Flow& flow = owner_.flow(number);
      if (flow.arrived.count() == flow.transfers.packets()) continue;  // nothing is left to pull
      owner_.send_pull(now, number);
      free_at_ = now + owner_.gap_;
      if (!turns_.empty()) {
        waits_ = true;
        owner_.events().schedule(free_at_, *this);
      }
      return;
    }
  }

 private:
  NdpTransport& owner_;
  std::deque<std::uint32_t> turns_;  // flows, once for each received packet or header
  Time free_at_{};
  bool waits_ = false;
};

NdpConfig NdpTransport::defaults(double gbit_per_s, Duration base_rtt) {
  NdpConfig config;
  const double product = gbit_per_s / 8 * static_cast<double>(base_rtt.count());
  config.first_window = std::ceil(product / config.window.packet_bytes);
  config.window.paths = 256;
  config.window.data_trimmable = true;
  config.window.timeout_min =
      Duration(static_cast<std::int64_t>(kTimeoutRounds * static_cast<double>(base_rtt.count())));
  return config;
}

ClassPlan NdpTransport::switches(const NdpConfig& config) {
  ClassPlan plan;
  plan.trims = true;
  plan.trimmed_bytes = config.window.header_bytes;
  for (QueuePlan& queue : plan.queues)
    queue.limit_bytes = config.queue_packets * config.window.packet_bytes;
  // Enough for the headers of an incast of a thousand senders.
  plan.queues[static_cast<std::size_t>(SwitchQueue::kStrictHigh)].limit_bytes = 10'000'000;
  return plan;
}

NdpTransport::NdpTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
                           const NdpConfig& config)
    : WindowTransport(fabric, pool, listener, config.window),
      ndp_(config),
      gap_(static_cast<std::int64_t>(config.window.packet_bytes * 8 / rate())),
      pullers_(fabric.hosts()),
      rng_(config.window.seed) {}

NdpTransport::~NdpTransport() = default;

NdpTransport::Puller& NdpTransport::puller(HostIndex host) {
  if (pullers_[host] == nullptr) pullers_[host] = std::make_unique<Puller>(*this);
  return *pullers_[host];
}

void NdpTransport::on_open(std::uint32_t) {
  credits_.push_back(0);
}

// A transfer on an idle flow begins at line rate, as on a new connection.
void NdpTransport::on_work(std::uint32_t index, bool idle) {
  if (idle) credits_[index] = ndp_.first_window;
}

void NdpTransport::on_received(Time now, std::uint32_t index) {
  puller(flow(index).to).ask(now, index);
}

void NdpTransport::on_pull(Time, std::uint32_t index) {
  if (flow(index).has_data()) credits_[index] += 1;
}

// The header's pull follows this notice.
void NdpTransport::on_trimmed(Time, std::uint32_t index, std::uint32_t sequence) {
  lose(index, sequence);
}

// Packets without an answer are retransmitted without a pull, as the pulls may be lost.
void NdpTransport::on_timeout(Time, std::uint32_t index) {
  credits_[index] = std::max(credits_[index], static_cast<double>(flow(index).again.size()));
}

std::uint16_t NdpTransport::choose_path(std::uint32_t, std::uint32_t) {
  return static_cast<std::uint16_t>(rng_.below(ndp_.window.paths));
}

}  // namespace dlcp::simulate
