// Any datapath, with the last packets that went through it kept in a ring (DLCP_TRACE).
#pragma once

#include <memory>
#include <vector>

#include "datapath/datapath.h"
#include "datapath/marks.h"
#include "datapath/trace/packet_ring.h"

namespace dlcp::datapath {

class TracingDatapath final : public Datapath {
 public:
  // `tos`: what the inner one marks packets of each class with.
  TracingDatapath(std::unique_ptr<Datapath> inner, std::shared_ptr<PacketRing> ring,
                  const ClassMarks& tos);

  std::string_view name() const override { return inner_->name(); }
  std::vector<NamedCount> counts() const override { return inner_->counts(); }
  const wire::EndpointAddress& local_address() const override { return inner_->local_address(); }
  Limits limits() const override { return inner_->limits(); }
  std::string describe(const wire::EndpointAddress& address) const override {
    return inner_->describe(address);
  }
  std::string describe_path(const wire::EndpointAddress& peer,
                            wire::PathIndex path) const override {
    return inner_->describe_path(peer, path);
  }
  Status check_reachable(const wire::EndpointAddress& peer) const override {
    return inner_->check_reachable(peer);
  }
  std::size_t send(std::span<const wire::TxPacket> packets) override;
  std::size_t receive(Time now, std::span<wire::RxPacket> out) override;
  Time next_release() const override { return inner_->next_release(); }
  std::span<const std::byte> next_refused() override { return inner_->next_refused(); }
  int wait_descriptor() const override { return inner_->wait_descriptor(); }
  bool arm() override { return inner_->arm(); }
  std::optional<Error> failure() const override { return inner_->failure(); }
  Status register_memory(std::span<std::byte> memory) override {
    return inner_->register_memory(memory);
  }
  void release_memory(std::span<std::byte> memory) override { inner_->release_memory(memory); }
  bool reads(std::span<const std::byte> memory) override { return inner_->reads(memory); }
  void abandon(std::span<const std::byte> memory) override { inner_->abandon(memory); }

 private:
  const std::unique_ptr<Datapath> inner_;
  const std::shared_ptr<PacketRing> ring_;
  const ClassMarks tos_;
  Time now_{};  // of the last receive(): send() is told no time
  std::vector<TracedPacket> batch_;
};

}  // namespace dlcp::datapath
