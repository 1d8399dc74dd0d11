// Settings of the protocol. The defaults suit a job that sets nothing. Ranges are enforced where
// settings are read (engine/settings/knobs), not here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "compression/gate.h"
#include "core/decision.h"
#include "core/placement/card.h"
#include "dlcp/traffic_class.h"
#include "gradient/chunk_judge.h"
#include "util/time.h"
#include "wire/data/cipher.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

// Of messages up to this size, 16 times eager_bytes may be sent before their receives are posted.
inline constexpr std::size_t kShortMessageBytes = std::size_t{8} << 10;

struct Config {
  // Largest datagram that the local interface carries (MTU - IP - UDP headers), 576..65507.
  std::size_t datagram_bytes_max = 1472;
  // Payload bytes that the receive side can hold before it drops packets, for all connections
  // together.
  std::size_t receive_capacity_bytes = std::size_t{256} << 10;
  // Number of local entropy values, 1..256.
  std::size_t paths = 16;
  // The datapath can send packets without DSCP and ECN, and reports both of received packets. Then
  // packets go without them to hosts that only such packets reach.
  bool can_unmark = false;
  // Bytes that the datapath can send as one unit (UDP GSO); 0 if it has no such unit.
  std::size_t unit_bytes = 0;
  // Packets that leave together on one path, 1..64; 0: derived from the send rate.
  std::size_t burst_packets_max = 0;
  // A peer that sends nothing for this time, although an answer is expected, counts as dead.
  Duration peer_timeout = 30s;
  wire::Protection protection = wire::Protection::kHeader;
  // Required for Protection::kEncrypted.
  std::shared_ptr<const wire::CipherSource> ciphers;
  // Reads the payloads of licensed messages instead of the core, which can read host memory only.
  // Null: the core reads them.
  std::shared_ptr<const gradient::WorthSource> worth;
  // Writes received packets into posted buffers (core/placement); null: there is no such card. It
  // must outlive the endpoint. Shorter messages than placed_bytes_min travel in ordinary packets.
  Card* card = nullptr;
  std::size_t placed_bytes_min = std::size_t{16} << 10;
  // Receives a trace of decisions; null: there is no trace.
  std::shared_ptr<DecisionSink> decisions;
  compression::Terms compression;
  // Queueing delay that congestion control aims at, in addition to the path's base delay; 0:
  // kQueueTarget.
  Duration target_delay{0};
  // Bytes per connection that may be sent before the receive is known to be posted; 16 times as
  // many of messages up to 8 KiB. A receiver keeps them; unposted_pool_bytes bounds the total.
  std::size_t eager_bytes = std::size_t{64} << 10;
  std::size_t unposted_pool_bytes = std::size_t{8} << 20;
  // Sends or receives outstanding on one connection. NCCL asks for 32 (NCCL_NET_MAX_REQUESTS); its
  // sends of short messages are done before they arrive, so that more are outstanding here.
  std::size_t requests_max = 512;
  // Shorter messages are exact even if they have a licence.
  std::size_t licence_bytes_min = std::size_t{64} << 10;
  // Shares of a stream's licensed packets in each level, by magnitude.
  LevelShares level_shares = kTwoLevelShares;

  void trace(const Decision& decision) const {
    if (decisions) decisions->on_decision(decision);
  }
};

}  // namespace dlcp::core
