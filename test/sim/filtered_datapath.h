// A simulated host's datapath with somebody between it and the host who sees each datagram, may
// change it, and may keep it back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "datapath/datapath.h"

namespace dlcp::test {

class FilteredDatapath final : public datapath::Datapath {
 public:
  // False: the datagram is kept back.
  using Filter = std::function<bool(std::vector<std::byte>& datagram)>;

  explicit FilteredDatapath(datapath::Datapath& inner) : inner_(inner) {}
  void set_filter(Filter filter) { filter_ = std::move(filter); }

  std::string_view name() const override { return inner_.name(); }
  const wire::EndpointAddress& local_address() const override { return inner_.local_address(); }
  datapath::Limits limits() const override { return inner_.limits(); }
  std::size_t send(std::span<const wire::TxPacket> packets) override {
    return inner_.send(packets);
  }
  int wait_descriptor() const override { return inner_.wait_descriptor(); }

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
  datapath::Datapath& inner_;
  Filter filter_;
  std::vector<std::vector<std::byte>> changed_;  // alive until the next receive()
};

}  // namespace dlcp::test
