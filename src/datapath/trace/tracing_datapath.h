// Any datapath, with a ring of the last packets that were sent or received (DLCP_TRACE).
#pragma once

#include <memory>
#include <vector>

#include "datapath/forwarding_datapath.h"
#include "datapath/marks.h"
#include "datapath/trace/packet_ring.h"

namespace dlcp::datapath {

class TracingDatapath final : public ForwardingDatapath {
 public:
  // `tos`: the mark of each class on the inner datapath.
  TracingDatapath(std::unique_ptr<Datapath> inner, std::shared_ptr<PacketRing> ring,
                  const ClassMarks& tos);
  // The caller keeps ownership of `inner`, which must outlive this object.
  TracingDatapath(Datapath& inner, std::shared_ptr<PacketRing> ring, const ClassMarks& tos);

  std::size_t send(std::span<const wire::TxPacket> packets) override;
  std::size_t receive(Time now, std::span<wire::RxPacket> out) override;

 private:
  const std::unique_ptr<Datapath> owner_;  // null if the caller owns inner_
  const std::shared_ptr<PacketRing> ring_;
  const ClassMarks tos_;
  Time now_{};  // of the last receive(), because send() has no time argument
  std::vector<TracedPacket> batch_;
};

}  // namespace dlcp::datapath
