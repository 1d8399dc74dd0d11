// NDP (Handley and others, SIGCOMM 2017): senders begin at line rate with a bandwidth-delay
// product; switches with eight packets a queue cut what they have no room for down to its header;
// receivers pull the rest, packet by packet at the rate of their link, in turn over all who send to
// them. Packets are sprayed over all paths.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "simulate/opponents/window_transport.h"
#include "util/rng.h"

namespace dlcp::simulate {

struct NdpConfig {
  WindowConfig window;
  double first_window = 0;        // packets: a bandwidth-delay product
  std::size_t queue_packets = 8;  // of data, at a port
};

class NdpTransport final : public WindowTransport {
 public:
  NdpTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
               const NdpConfig& config);
  ~NdpTransport() override;

  static NdpConfig defaults(double gbit_per_s, Duration base_rtt);
  static ClassPlan switches(const NdpConfig& config);

 protected:
  void on_open(std::uint32_t flow) override;
  void on_work(std::uint32_t flow, bool idle) override;
  void on_answer(Time, std::uint32_t, const Answer&) override {}
  void on_trimmed(Time now, std::uint32_t flow, std::uint32_t sequence) override;
  void on_timeout(Time now, std::uint32_t flow) override;
  void on_received(Time now, std::uint32_t flow) override;
  void on_pull(Time now, std::uint32_t flow) override;
  std::uint16_t choose_path(std::uint32_t flow, std::uint32_t sequence) override;
  bool may_send(std::uint32_t flow) const override { return credits_[flow] >= 1; }
  void dress(std::uint32_t flow, Packet&) override { credits_[flow] -= 1; }

 private:
  // Sends the pulls of one receiver, a packet time apart.
  class Puller;
  Puller& puller(HostIndex host);

  const NdpConfig ndp_;
  const Duration gap_;           // between pulls
  std::vector<double> credits_;  // packets that a flow may send
  std::vector<std::unique_ptr<Puller>> pullers_;
  Rng rng_;
};

}  // namespace dlcp::simulate
