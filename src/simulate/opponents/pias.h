// PIAS (Bai and others, NSDI 2015): DCTCP whose packets move to lower strict priorities of the
// switches as their message proceeds, so that short messages overtake long ones without knowledge
// of message lengths.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>

#include "simulate/opponents/dctcp.h"

namespace dlcp::simulate {

inline constexpr std::size_t kPiasLevels = 8;

// The queues of a port: strict priorities with one common limit and one common mark threshold.
class StrictLevels final : public Discipline {
 public:
  StrictLevels(std::size_t limit_bytes, std::size_t mark_bytes)
      : limit_bytes_(limit_bytes), mark_bytes_(mark_bytes) {}
  void admit(PacketPtr packet) override;
  PacketPtr next() override;
  std::size_t waiting_bytes() const override { return bytes_; }

 private:
  std::size_t limit_bytes_;
  std::size_t mark_bytes_;
  std::size_t bytes_ = 0;
  std::array<PacketRing, kPiasLevels> levels_;
};

struct PiasConfig {
  DctcpConfig dctcp;
  // Bytes of a message in the first level; each further threshold is four times the one before.
  std::size_t first_level_bytes = 16'384;
  std::size_t queue_bytes = 4'000'000;  // of a port
};

class PiasTransport final : public DctcpTransport {
 public:
  PiasTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
                const PiasConfig& config)
      : DctcpTransport(fabric, pool, listener, config.dctcp), pias_(config) {}

  static std::unique_ptr<Discipline> discipline(const PiasConfig& config) {
    return std::make_unique<StrictLevels>(config.queue_bytes, config.dctcp.mark_bytes);
  }

 protected:
  void dress(std::uint32_t flow, Packet& packet) override;

 private:
  const PiasConfig pias_;
};

}  // namespace dlcp::simulate
