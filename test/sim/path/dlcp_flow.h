// The real core at both ends: what is sent is headers and control frames; payloads are lengths.
#pragma once

#include <optional>

#include "core/endpoint.h"
#include "flow.h"

namespace dlcp::test {

class DlcpFlow final : public PathFlow {
 public:
  DlcpFlow(SharedPath& path, const core::Config& config, std::uint64_t seed);

  void start() override;
  void on_timer() override;
  void on_frame(const PathFrame& frame) override;
  void on_dropped(const PathFrame&, Time) override {}
  double delivered_bytes() override;
  double window() override { return 0; }
  core::Endpoint& sender() { return sender_.endpoint; }

 private:
  struct End {
    core::Endpoint endpoint;
    bool sends;
    Time wakes_at = kNever;
    Time card_free_at{};
  };

  void step(End& end);
  void serve(End& end);
  void transmit(End& end);

  SharedPath& path_;
  End sender_;
  End receiver_;
  core::ListenerId listener_ = 0;
  core::ConnectionId sending_ = 0;
  std::optional<core::ConnectionId> receiving_;
  std::vector<wire::TxPacket> outgoing_;
};

}  // namespace dlcp::test
