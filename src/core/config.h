// What the protocol can be told. Defaults are for a job that sets nothing; ranges are enforced
// where settings are read (engine/knobs), not here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/coding/gate.h"
#include "core/congestion/congestion.h"
#include "core/decision.h"
#include "core/streams/chunk_judge.h"
#include "dlcp/traffic_class.h"
#include "util/time.h"
#include "wire/cipher.h"
#include "wire/control_frame.h"
#include "wire/tag_source.h"

namespace dlcp::core {

struct Config {
  // Largest datagram that the local interface carries (MTU - IP - UDP headers), 576..65507.
  std::size_t datagram_bytes_max = 1472;
  // What the receive side holds before it drops, in payload bytes, over all connections together.
  std::size_t receive_capacity_bytes = std::size_t{256} << 10;
  // Local entropy values, 1..256.
  std::size_t paths = 16;
  // What one unit of the datapath carries (a GSO datagram), 0 where it has none.
  std::size_t unit_bytes = 0;
  // Packets of one path that leave together, 1..64; 0 lets the pace decide.
  std::size_t burst_packets_max = 0;
  // A peer that says nothing for so long, while something is owed by it, is dead.
  Duration peer_timeout = 30s;
  wire::Protection protection = wire::Protection::kHeader;
  // Needed for Protection::kEncrypted.
  std::shared_ptr<const wire::CipherSource> ciphers;
  // Who reads payloads in place of the core, which else reads host memory; the first is asked for
  // licensed messages, the second with Protection::kFull.
  std::shared_ptr<const WorthSource> worth;
  std::shared_ptr<const wire::TagSource> tags;
  // Whoever places says when what goes to posted buffers lies there (Endpoint::on_placed), in
  // whatever order; until then no message is complete by it. Else a placement has been done by the
  // next call.
  bool placed_later = false;
  // Who keeps a trace of decisions; null: nobody.
  std::shared_ptr<DecisionSink> decisions;
  CongestionKind congestion = CongestionKind::kQueue;
  CompressionTerms compression;
  // Queueing delay that congestion control aims at, on top of the path's smallest delay; 0: what
  // suits the algorithm.
  Duration target_delay{0};
  // Sent before the receiver is known to have posted a buffer, per connection; also what the
  // receiver keeps of such messages per connection (their total is bounded by unposted_pool_bytes).
  std::size_t eager_bytes = std::size_t{64} << 10;
  std::size_t unposted_pool_bytes = std::size_t{8} << 20;
  // Sends or receives outstanding on one connection; NCCL asks for 32 (NCCL_NET_MAX_REQUESTS).
  std::size_t requests_max = 64;
  // Shorter messages are exact, whatever their licence.
  std::size_t licence_bytes_min = std::size_t{64} << 10;
  // How a stream's licensed packets divide over the levels, by magnitude.
  LevelShares level_shares = kTwoLevelShares;
  std::string plugin_version = "0.0.0";  // for messages only

  void tell(const Decision& decision) const {
    if (decisions) decisions->on_decision(decision);
  }
};

}  // namespace dlcp::core
