// A simulated host's datapath with a filter in front of the host that receives each datagram and
// may change or drop it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "datapath/forwarding_datapath.h"

namespace dlcp::test {

class FilteredDatapath final : public datapath::ForwardingDatapath {
 public:
  // Returns false to drop the datagram.
  using Filter = std::function<bool(std::vector<std::byte>& datagram)>;

  explicit FilteredDatapath(datapath::Datapath& inner) : ForwardingDatapath(inner) {}
  void set_filter(Filter filter) { filter_ = std::move(filter); }

  std::size_t receive(Time now, std::span<wire::RxPacket> out) override {
    const std::size_t count = inner_.receive(now, out);
    if (!filter_) return count;
    changed_.clear();
    std::size_t kept = 0;
    for (wire::RxPacket& packet : out.first(count)) {
      std::vector<std::byte> bytes(packet.bytes.begin(), packet.bytes.end());
      if (!filter_(bytes)) continue;
      out[kept] = packet;
      out[kept++].bytes = changed_.emplace_back(std::move(bytes));
    }
    return kept;
  }

 private:
  Filter filter_;
  std::vector<std::vector<std::byte>> changed_;  // alive until the next receive()
};

}  // namespace dlcp::test
