// The datapath of one of ByteNetwork's hosts. It accepts all packets at once; or few at a time,
// like a card with short queues; or it reads payloads later, like RDMA, so that memory that is
// released too early is detected.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "datapath/datapath.h"
#include "datapath/sim/network/frame.h"

namespace dlcp::test {

using datapath::sim::HostIndex;

wire::EndpointAddress byte_address(HostIndex host);

// In flight from one host to another.
struct Datagram {
  HostIndex to = 0;
  Time due{};
  std::vector<std::byte> bytes;
  Ecn ecn = Ecn::kNotEct;
};

struct CardHabits {
  bool narrow = false;   // accepts few packets until time has passed
  bool fetches = false;  // reads payloads some time after accepting their packets
};

class ByteCard final : public datapath::Datapath {
 public:
  using Wire = std::function<void(std::vector<std::byte> bytes, wire::PathIndex path)>;

  // `now`: the network's clock. `wire`: where sent datagrams go.
  ByteCard(HostIndex host, const Time& now, const CardHabits& habits, Wire wire);

  // Adds a datagram for the next receive().
  void arrive(Datagram datagram) { arrived_.push_back(std::move(datagram)); }

  std::string_view name() const override { return "bytes"; }
  const wire::EndpointAddress& local_address() const override { return address_; }
  datapath::Limits limits() const override { return {}; }  // the conversation draws the limits
  std::size_t send(std::span<const wire::TxPacket> packets) override;
  std::size_t receive(Time now, std::span<wire::RxPacket> out) override;
  Time next_release() const override { return held_.empty() ? kNever : held_.front().leaves_at; }
  int wait_descriptor() const override { return -1; }
  bool reads(std::span<const std::byte> memory) override;
  void abandon(std::span<const std::byte> memory) override;

 private:
  struct Held {
    Time leaves_at;
    wire::TxPacket packet;
  };
  void leave(const wire::TxPacket& packet);

  const wire::EndpointAddress address_;
  const Time& now_;
  const CardHabits habits_;
  const Wire wire_;
  Time counted_at_ = kNever;  // when taken_ was last zero
  std::size_t taken_ = 0;
  std::deque<Held> held_;
  std::deque<Datagram> arrived_;
  std::vector<Datagram> handed_out_;  // alive until the next receive()
};

}  // namespace dlcp::test
