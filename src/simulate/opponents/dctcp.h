// DCTCP (Alizadeh and others, SIGCOMM 2010; RFC 8257): TCP that cuts its window by the share of
// marked packets, on one path, with selective acknowledgement, fast retransmission after three
// later packets, and a retransmission timeout with a minimum.
#pragma once

#include <vector>

#include "simulate/opponents/flows/window_transport.h"

namespace dlcp::simulate {

struct DctcpConfig {
  WindowConfig window;
  double first_window = 10;          // packets, RFC 6928
  std::size_t mark_bytes = 100'000;  // of queue length, above which switches mark
};

class DctcpTransport : public WindowTransport {
 public:
  DctcpTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
                 const DctcpConfig& config)
      : WindowTransport(fabric, pool, listener, config.window), dctcp_(config) {}

  static ClassPlan switches(const DctcpConfig& config);

 protected:
  void on_open(std::uint32_t flow) override;
  void on_answer(Time now, std::uint32_t flow, const Answer& answer) override;
  void on_trimmed(Time, std::uint32_t, std::uint32_t) override {}
  void on_timeout(Time now, std::uint32_t flow) override;
  // One port for each flow: ECMP sends all its packets over one path.
  std::uint16_t choose_path(std::uint32_t flow, std::uint32_t) override {
    return static_cast<std::uint16_t>(flow);
  }

 private:
  struct State {
    double threshold = 1e9;  // packets, where slow start ends
    double alpha = 1;        // share of marked packets, smoothed
    double acked = 0;        // in this window
    double marked = 0;
    std::uint32_t window_ends = 0;  // first number not yet sent when it began
    std::uint32_t recovers = 0;     // first sequence number after the last cut
  };
  void find_losses(std::uint32_t flow, State& state, const Answer& answer);

  const DctcpConfig dctcp_;
  std::vector<State> states_;
};

}  // namespace dlcp::simulate
