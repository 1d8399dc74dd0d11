// Any datapath, with the last packets that went through it kept in a ring (DLCP_TRACE).
#pragma once

#include <memory>
#include <vector>

#include "datapath/forwarding_datapath.h"
#include "datapath/marks.h"
#include "datapath/trace/packet_ring.h"

namespace dlcp::datapath {

class TracingDatapath final : public ForwardingDatapath {
 public:
  // `tos`: what the inner one marks packets of each class with.
  TracingDatapath(std::unique_ptr<Datapath> inner, std::shared_ptr<PacketRing> ring,
                  const ClassMarks& tos);
  // `inner` stays the caller's, and outlives it.
  TracingDatapath(Datapath& inner, std::shared_ptr<PacketRing> ring, const ClassMarks& tos);

  std::size_t send(std::span<const wire::TxPacket> packets) override;
  std::size_t receive(Time now, std::span<wire::RxPacket> out) override;

 private:
  const std::unique_ptr<Datapath> owner_;  // of inner_, if it is ours
  const std::shared_ptr<PacketRing> ring_;
  const ClassMarks tos_;
  Time now_{};  // of the last receive(): send() is told no time
  std::vector<TracedPacket> batch_;
};

}  // namespace dlcp::datapath
