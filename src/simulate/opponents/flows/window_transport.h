// The common part of the models of other transports: flows of numbered packets, a window, an answer
// to every packet, a retransmission timeout, and hosts that serve their flows in turn. Derived
// classes define the window, the path of a packet and what counts as lost.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "simulate/opponents/flows/flow.h"
#include "simulate/transport.h"

namespace dlcp::simulate {

struct WindowConfig {
  std::uint32_t packet_bytes = 4150;  // on the wire, headers included
  std::uint32_t header_bytes = 64;    // part of packet_bytes
  std::uint32_t answer_bytes = 64;    // on the wire
  Duration timeout_min{1'000'000};  // without an answer, before in-flight packets are retransmitted
  std::uint16_t paths = 1;          // entropy values
  bool answers_first = true;        // answers use the strict queue
  bool data_trimmable = false;
  SwitchQueue queue = SwitchQueue::kExact;  // of data, and of answers if not answers_first
  std::uint64_t seed = 1;
};

class WindowTransport : public Transport {
 public:
  // All references must outlive this object.
  WindowTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
                  const WindowConfig& config);
  ~WindowTransport() override;

  void open(std::span<const std::pair<HostIndex, HostIndex>> pairs) override;
  void begin(Time now, TransferId id, const Transfer& transfer) override;
  TransportCounters counters() const override { return counters_; }

 protected:
  struct Answer {
    std::uint32_t sequence;
    bool marked;
    std::uint16_t path;
    Duration round_trip;
    bool news;  // first answer that reports this packet
  };

  // Adds the derived class's state for a flow; flow numbers are consecutive.
  virtual void on_open(std::uint32_t flow) = 0;
  virtual void on_answer(Time now, std::uint32_t flow, const Answer& answer) = 0;
  virtual void on_trimmed(Time now, std::uint32_t flow, std::uint32_t sequence) = 0;
  virtual void on_timeout(Time now, std::uint32_t flow) = 0;
  // The retransmission timeout of a packet on this path has expired.
  virtual void on_silence(std::uint32_t /*flow*/, std::uint16_t /*path*/) {}
  virtual std::uint16_t choose_path(std::uint32_t flow, std::uint32_t sequence) = 0;
  virtual bool may_send(std::uint32_t flow) const {
    return flows_[flow].in_flight < std::max(1.0, flows_[flow].window);
  }
  // Sets fields of a data packet just before it is sent.
  virtual void dress(std::uint32_t /*flow*/, Packet&) {}
  // A transfer has begun; `idle`: all earlier ones were acknowledged.
  virtual void on_work(std::uint32_t /*flow*/, bool /*idle*/) {}
  // At the receiver: a packet, or its header, has arrived. send_pull() requests another one.
  virtual void on_received(Time, std::uint32_t /*flow*/) {}
  virtual void on_pull(Time, std::uint32_t /*flow*/) {}
  void send_pull(Time now, std::uint32_t flow);

  Flow& flow(std::uint32_t index) { return flows_[index]; }
  Events& events() { return fabric_.events(); }
  // Declares an in-flight packet lost; it is retransmitted when the window allows.
  void lose(std::uint32_t flow, std::uint32_t sequence);
  const WindowConfig& config() const { return config_; }
  std::uint32_t payload_bytes() const { return config_.packet_bytes - config_.header_bytes; }
  // Bits per ns between the host and its leaf.
  double rate() const { return fabric_.plan().host.gbit_per_s; }

 private:
  using Host = FlowHost<WindowTransport>;
  friend Host;
  class Timer;

  std::uint32_t flow_between(HostIndex from, HostIndex to);
  void offer(std::uint32_t flow);
  void serve(Time now, HostIndex host);
  void send_data(Time now, std::uint32_t flow);
  void send_answer(Time now, const Packet& packet, Packet::Kind kind);
  void on_packet(Time now, HostIndex host, PacketPtr packet);
  void on_data(Time now, const Packet& packet);
  void on_ack(Time now, const Packet& packet);
  void set_timer(Time at, std::uint32_t flow);
  void on_timer(Time now, PacketPtr token);
  Duration timeout_of(const Flow& flow) const;

  Fabric& fabric_;
  PacketPool& pool_;
  TransferListener& listener_;
  WindowConfig config_;
  std::deque<Flow> flows_;
  std::map<std::pair<HostIndex, HostIndex>, std::uint32_t> numbers_;
  std::vector<std::unique_ptr<Host>> hosts_;  // null: host of another transport
  std::unique_ptr<Timer> timer_;
  TransportCounters counters_;
};

}  // namespace dlcp::simulate
