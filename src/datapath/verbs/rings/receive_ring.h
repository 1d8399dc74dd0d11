// The receiving half: one UD queue pair, whose number is part of the device's address, and a ring
// of registered buffers, each as large as the port's MTU also if this host sends smaller packets,
// because a datagram that does not fit can break the queue pair. The card puts 40 bytes with the IP
// header before each datagram, from which DSCP and ECN are read. Buffers that were handed out are
// posted again at the next receive(), many at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "datapath/verbs/device/verbs_card.h"
#include "datapath/verbs/verbs_counters.h"
#include "wire/packet.h"

namespace dlcp::datapath {

// Reads the 40 bytes before a datagram: an IPv6 header, or 20 unspecified bytes and an IPv4 header.
// The family of the device's address decides, because byte 20 of an IPv6 header belongs to the
// source address and can have any value. Returns nullopt if there is no header of that family.
struct RoutingHeader {
  std::uint8_t tos = 0;  // or IPv6 traffic class
  wire::HostAddress source;
};
std::optional<RoutingHeader> read_routing_header(std::span<const std::byte, 40> bytes,
                                                 IpFamily family);

class ReceiveRing {
 public:
  static Result<std::unique_ptr<ReceiveRing>> open(VerbsCard& card, std::uint32_t buffers,
                                                   VerbsCounters& counters);

  std::size_t receive(Time now, std::span<wire::RxPacket> out);

  std::uint32_t queue_pair_number() const { return qp_->qp_num; }
  std::size_t buffers() const { return requests_.size(); }
  // True if the card has closed the queue pair. Since it is the device's address, it cannot be
  // replaced.
  bool is_broken() const { return broken_; }

 private:
  static constexpr std::size_t kBatch = 64;

  ReceiveRing(VerbsCard& card, std::uint32_t buffers, VerbsCounters& counters);
  void give(std::size_t buffer);
  bool refill();
  bool accept(const ibv_wc& completion, Time now, wire::RxPacket& out);

  VerbsCard& card_;
  VerbsCounters& counters_;
  std::size_t stride_ = 0;
  std::vector<std::byte> memory_;
  MrPtr mr_;
  QpPtr qp_;
  std::vector<ibv_recv_wr> requests_;  // one per buffer, ready to be posted again
  std::vector<ibv_sge> pieces_;
  ibv_recv_wr* first_free_ = nullptr;  // buffers to post, as a chain for one post
  ibv_recv_wr* last_free_ = nullptr;
  std::vector<std::size_t> handed_out_;
  std::array<ibv_wc, kBatch> completions_{};
  bool broken_ = false;
};

}  // namespace dlcp::datapath
