// The engine's pump at both ends. Only headers and control frames are sent; payloads are lengths.
#pragma once

#include <memory>
#include <optional>

#include "datapath/sim/card/phantom_placer.h"
#include "engine/pump/pump.h"
#include "flow.h"

namespace dlcp::test {

class DlcpFlow final : public PathFlow {
 public:
  // `placed`: the cards of both hosts place data in posted buffers.
  DlcpFlow(SharedPath& path, const core::Config& config, std::uint64_t seed, bool placed);

  void start() override;
  void on_timer() override;
  void on_frame(const PathFrame& frame) override;
  void on_dropped(const PathFrame&, Time) override {}
  double delivered_bytes() override;
  double window() override { return 0; }

 private:
  // One of the two hosts and its NIC, which sends at twice the bottleneck's rate.
  class End final : datapath::Datapath, engine::Placer {
   public:
    End(DlcpFlow& flow, bool sends, const core::Config& config, const core::Secrets& secrets,
        bool placed);

    engine::Pump& pump() { return pump_; }
    core::Endpoint& endpoint() { return pump_.endpoint(); }
    const wire::EndpointAddress& local_address() const override { return address_; }
    void step();
    void on_timer();
    datapath::sim::PhantomPlacer* placer() override { return placer_.get(); }

   private:
    std::string_view name() const override { return "path"; }
    datapath::Limits limits() const override { return {}; }
    std::size_t send(std::span<const wire::TxPacket> packets) override;
    std::size_t receive(Time, std::span<wire::RxPacket>) override { return 0; }
    int wait_descriptor() const override { return -1; }
    void place(const core::Placement&) override {}  // payloads have no bytes
    void serve();
    std::unique_ptr<PathFrame> frame_of(std::size_t bytes, wire::PathIndex path);
    void emit(std::unique_ptr<PathFrame> frame);

    DlcpFlow& flow_;
    const bool sends_;
    const wire::EndpointAddress address_;
    const std::unique_ptr<datapath::sim::PhantomPlacer> placer_;  // null: none
    engine::Pump pump_;
    Time wakes_at_ = kNever;
    Time card_free_at_{};
  };

  SharedPath& path_;
  End sender_;
  End receiver_;
  core::ListenerId listener_ = 0;
  core::ConnectionId sending_ = 0;
  std::optional<core::ConnectionId> receiving_;
};

}  // namespace dlcp::test
