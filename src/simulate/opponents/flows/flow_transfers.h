// The transfers of a flow as ranges of consecutively numbered packets, and hosts that serve their
// flows in turn. The models of other transports share them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "simulate/transport.h"

namespace dlcp::simulate {

class FlowTransfers {
 public:
  struct Range {
    TransferId id = 0;
    std::uint32_t begin = 0;       // number of its first packet
    std::uint32_t end = 0;         // number of the packet after its last
    std::uint32_t last_bytes = 0;  // payload of its last packet
  };

  // Every packet but the last one of a transfer carries `payload` bytes.
  void add(TransferId id, std::uint64_t bytes, std::uint32_t payload) {
    const auto count =
        static_cast<std::uint32_t>(std::max<std::uint64_t>((bytes + payload - 1) / payload, 1));
    const auto last = static_cast<std::uint32_t>(bytes - std::uint64_t{count - 1} * payload);
    unacknowledged_.push_back({id, packets_, packets_ + count, last});
    undelivered_.push_back(unacknowledged_.back());
    packets_ += count;
  }
  std::uint32_t packets() const { return packets_; }  // of all transfers so far

  // The unacknowledged transfer that contains this packet.
  const Range& range_of(std::uint32_t sequence) const {
    return *std::upper_bound(
        unacknowledged_.begin(), unacknowledged_.end(), sequence,
        [](std::uint32_t value, const Range& each) { return value < each.end; });
  }

  // All packets with lower numbers have arrived, or are acknowledged.
  void deliver(Time now, std::uint32_t below, TransferListener& listener) {
    while (!undelivered_.empty() && below >= undelivered_.front().end)
      listener.on_delivered(now, take(undelivered_));
  }
  void acknowledge(Time now, std::uint32_t below, TransferListener& listener) {
    while (!unacknowledged_.empty() && below >= unacknowledged_.front().end)
      listener.on_acknowledged(now, take(unacknowledged_));
  }

 private:
  static TransferId take(std::deque<Range>& ranges) {
    const TransferId id = ranges.front().id;
    ranges.pop_front();
    return id;
  }

  std::deque<Range> unacknowledged_;
  std::deque<Range> undelivered_;
  std::uint32_t packets_ = 0;
};

// `Owner` is a transport with on_packet(now, host, packet) and serve(now, host).
template <typename Owner>
class FlowHost final : public Sink, public Port::Feeder {
 public:
  // Limit of bytes waiting at a network card, in addition to the packet in transmission.
  static constexpr std::size_t kCardBytes = 0;

  FlowHost(Owner& owner, HostIndex index) : owner_(owner), index_(index) {}
  void on_event(Time now, PacketPtr packet) override {
    owner_.on_packet(now, index_, std::move(packet));
  }
  void on_room(Time now) override { owner_.serve(now, index_); }

  // Attaches the hosts of these pairs to the fabric, except those that are attached already.
  static void attach(Owner& owner, Fabric& fabric,
                     std::span<const std::pair<HostIndex, HostIndex>> pairs,
                     std::vector<std::unique_ptr<FlowHost>>& hosts) {
    for (const auto& [from, to] : pairs) {
      for (const HostIndex i : {from, to}) {
        if (hosts[i] != nullptr) continue;
        hosts[i] = std::make_unique<FlowHost>(owner, i);
        fabric.attach(i, *hosts[i]);
        fabric.card(i).set_feeder(*hosts[i], kCardBytes);
      }
    }
  }

  std::deque<std::uint32_t> turns;  // flows that may send

 private:
  Owner& owner_;
  HostIndex index_;
};

}  // namespace dlcp::simulate
