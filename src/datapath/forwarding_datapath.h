// A datapath that forwards every call to another one: the base class of decorators.
#pragma once

#include "datapath/datapath.h"

namespace dlcp::datapath {

class ForwardingDatapath : public Datapath {
 public:
  std::string_view name() const override { return inner_.name(); }
  std::vector<NamedCount> counts() const override { return inner_.counts(); }
  const wire::EndpointAddress& local_address() const override { return inner_.local_address(); }
  Limits limits() const override { return inner_.limits(); }
  std::string describe(const wire::EndpointAddress& address) const override {
    return inner_.describe(address);
  }
  std::string describe_path(const wire::EndpointAddress& peer,
                            wire::PathIndex path) const override {
    return inner_.describe_path(peer, path);
  }
  Status check_reachable(const wire::EndpointAddress& peer) const override {
    return inner_.check_reachable(peer);
  }
  std::size_t send(std::span<const wire::TxPacket> packets) override {
    return inner_.send(packets);
  }
  std::size_t receive(Time now, std::span<wire::RxPacket> out) override {
    return inner_.receive(now, out);
  }
  Time next_release() const override { return inner_.next_release(); }
  PathReport last_report(const wire::EndpointAddress& peer) const override {
    return inner_.last_report(peer);
  }
  std::optional<RefusedPeer> take_refused_peer() override { return inner_.take_refused_peer(); }
  PathReport report_of(const RefusedPeer& peer) const override { return inner_.report_of(peer); }
  std::span<const std::byte> next_refused() override { return inner_.next_refused(); }
  int wait_descriptor() const override { return inner_.wait_descriptor(); }
  bool arm() override { return inner_.arm(); }
  std::optional<Error> failure() const override { return inner_.failure(); }
  Status register_memory(std::span<std::byte> memory) override {
    return inner_.register_memory(memory);
  }
  void release_memory(std::span<std::byte> memory) override { inner_.release_memory(memory); }
  bool reads(std::span<const std::byte> memory) override { return inner_.reads(memory); }
  void abandon(std::span<const std::byte> memory) override { inner_.abandon(memory); }
  Placer* placer() override { return inner_.placer(); }

 protected:
  // `inner` must outlive this object.
  explicit ForwardingDatapath(Datapath& inner) : inner_(inner) {}
  Datapath& inner_;
};

}  // namespace dlcp::datapath
