// RoCE as deployed today: DCQCN, go-back-N, one path for each flow, and switches that pause the
// ports that fill their buffers (PFC) instead of dropping.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "simulate/opponents/flows/flow_transfers.h"
#include "simulate/opponents/roce/dcqcn.h"

namespace dlcp::simulate {

struct RoceConfig {
  std::uint32_t packet_bytes = 4150;  // on the wire, headers included
  std::uint32_t header_bytes = 64;    // part of packet_bytes
  std::uint32_t answer_bytes = 64;
  Duration timeout{4'096'000};  // without an answer; then all from the first gap on is sent again
  DcqcnConfig dcqcn;
  bool slows_down = true;  // DCQCN is enabled; otherwise only pauses limit senders
  // Mark thresholds of DCQCN's authors for 40 Gbit/s, scaled to the rate.
  Slope mark;
  FlowControl pause;
};

class RoceTransport final : public Transport {
 public:
  RoceTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
                const RoceConfig& config);
  ~RoceTransport() override;

  static RoceConfig defaults(double gbit_per_s);
  static ClassPlan switches(const RoceConfig& config);

  void open(std::span<const std::pair<HostIndex, HostIndex>> pairs) override;
  void begin(Time now, TransferId id, const Transfer& transfer) override;
  TransportCounters counters() const override { return counters_; }

 private:
  using Host = FlowHost<RoceTransport>;
  friend Host;
  class Clock;
  struct Queue;

  std::uint32_t queue_between(HostIndex from, HostIndex to);
  std::uint32_t payload_bytes() const { return config_.packet_bytes - config_.header_bytes; }
  void wake(Time at, std::uint32_t queue, bool timeout);
  void on_wake(Time now, const Packet& token);
  void serve(Time now, HostIndex host);
  void send(Time now, std::uint32_t queue);
  void on_packet(Time now, HostIndex host, PacketPtr packet);
  void on_data(Time now, const Packet& packet);
  void on_answer(Time now, const Packet& packet);
  void go_back(Time now, std::uint32_t queue);

  Fabric& fabric_;
  PacketPool& pool_;
  TransferListener& listener_;
  RoceConfig config_;
  double line_;  // bits per ns
  std::deque<Queue> queues_;
  std::map<std::pair<HostIndex, HostIndex>, std::uint32_t> numbers_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::unique_ptr<Clock> clock_;
  TransportCounters counters_;
};

}  // namespace dlcp::simulate
