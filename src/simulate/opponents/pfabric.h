// pFabric (Alizadeh and others, SIGCOMM 2013): switches with small buffers send the packet whose
// message has the least data left, and drop the packet whose message has the most. Hosts start at
// line rate and retransmit after a short timeout. Packets are sprayed.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "simulate/network/discipline.h"
#include "simulate/opponents/flows/window_transport.h"
#include "util/rng.h"

namespace dlcp::simulate {

// The queue of one port: ordered by remaining data; of one flow the earliest packet first.
class LeastLeftFirst final : public Discipline {
 public:
  explicit LeastLeftFirst(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  void admit(PacketPtr packet) override;
  PacketPtr next() override;
  std::size_t waiting_bytes() const override { return bytes_; }

 private:
  std::size_t limit_bytes_;
  std::size_t bytes_ = 0;
  std::vector<PacketPtr> packets_;  // in order of arrival
};

struct PfabricConfig {
  WindowConfig window;
  double window_packets = 0;    // a bandwidth-delay product
  std::size_t queue_bytes = 0;  // of a port; two bandwidth-delay products
};

class PfabricTransport final : public WindowTransport {
 public:
  PfabricTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
                   const PfabricConfig& config)
      : WindowTransport(fabric, pool, listener, config.window),
        pfabric_(config),
        rng_(config.window.seed) {}

  static PfabricConfig defaults(double gbit_per_s, Duration base_rtt);

 protected:
  void on_open(std::uint32_t index) override { flow(index).window = pfabric_.window_packets; }
  void on_answer(Time now, std::uint32_t flow, const Answer& answer) override;
  void on_trimmed(Time, std::uint32_t, std::uint32_t) override {}
  void on_timeout(Time now, std::uint32_t flow) override;
  std::uint16_t choose_path(std::uint32_t, std::uint32_t) override {
    return static_cast<std::uint16_t>(rng_.next());
  }

 private:
  const PfabricConfig pfabric_;
  Rng rng_;
};

}  // namespace dlcp::simulate
