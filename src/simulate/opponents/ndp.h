// NDP (Handley and others, SIGCOMM 2017). Senders begin at line rate with a bandwidth-delay
// product. Switches with queues of eight packets trim packets that do not fit to their header.
// Receivers pull the rest packet by packet, at the rate of their link and in turn over all their
// senders. Packets are sprayed over all paths.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "simulate/opponents/flows/window_transport.h"
#include "util/rng.h"

namespace dlcp::simulate {

struct NdpConfig {
  WindowConfig window;
  double first_window = 0;        // of packets: a bandwidth-delay product
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
  // Sends the pulls of one receiver, spaced by the transmission time of a packet.
  class Puller;
  Puller& puller(HostIndex host);

  const NdpConfig ndp_;
  const Duration gap_;           // between pulls
  std::vector<double> credits_;  // packets that a flow may send
  std::vector<std::unique_ptr<Puller>> pullers_;
  Rng rng_;
};

}  // namespace dlcp::simulate
