// A network card that writes received packets directly into the memory of their receiver (RDMA
// WRITE WITH IMMEDIATE), as the core needs it. The engine implements it over the datapath, and
// passes what the card reports to Endpoint::on_placed_run() and on_permission().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dlcp/traffic_class.h"
#include "util/time.h"
#include "wire/data/placed_packet.h"
#include "wire/packet.h"

namespace dlcp::core {

using LinkId = std::uint64_t;        // the queue pairs of an association; 0: none
using PermissionId = std::uint64_t;  // of one segment of one receive; never used twice

struct PermissionEvent {
  enum class Kind : std::uint8_t {
    kGranted,  // the peer may be told
    kRefused,  // there is no permission: ordinary packets are used
    kRevoked,  // the card does not write there any more, whatever still arrives
  };
  PermissionId id = 0;
  Kind kind = Kind::kGranted;
  std::uint64_t address = 0;  // kGranted only: what the peer needs
  std::uint32_t key = 0;
};

class Card {
 public:
  virtual ~Card() = default;

  // 0 if placed packets cannot reach the peer. `round_trip`: as measured; 0 if this end sends none.
  virtual LinkId open_link(const wire::EndpointAddress& peer, Duration round_trip) = 0;
  virtual void close_link(LinkId link) = 0;  // also revokes its permissions, without events
  // Prepares that many paths of the class, or as many as the card can have.
  virtual void widen(LinkId link, TrafficClass traffic_class, std::size_t paths) = 0;
  // The paths that can be used now.
  virtual wire::LinkPaths paths(LinkId link, TrafficClass traffic_class) const = 0;
  // For reliable links: true if a path can be used once the peer has answered the introduction.
  virtual bool awaits_peer(LinkId) const { return false; }
  // The argument of the peer's connect(). Its version changes if it has to be sent again.
  virtual std::vector<std::byte> introduction(LinkId link) const = 0;
  virtual std::uint32_t introduction_version(LinkId link) const = 0;
  virtual bool connect(LinkId link, std::span<const std::byte> introduction) = 0;
  struct Limits {
    std::uint32_t payload_bytes_max = 0;     // of one packet
    std::uint32_t packets_per_path_max = 0;  // that are not acknowledged
    // The card repeats what is lost on a path until the path fails. Before that, the bytes of a
    // placed packet must not be sent in another way: the message could then be complete, and its
    // permissions revoked, while the card still repeats the packet, which ends the path.
    bool is_reliable = false;
  };
  // Over longer paths a reliable card would repeat packets that have arrived (its time-out is 34 ms
  // at most, datapath/repeat_time.h). The shortest round trip counts: cards answer at once.
  static constexpr Duration kReliableRoundTripMost = std::chrono::milliseconds(17);
  virtual Limits limits(LinkId link) const = 0;  // all 0 before connect()
  // For reliable links: grows when the path fails. What was placed on it before has arrived or is
  // lost.
  virtual std::uint32_t failures(LinkId, TrafficClass, wire::PathIndex) const { return 0; }

  // 0: refused at once. Otherwise an event kGranted or kRefused follows.
  virtual PermissionId permit(LinkId link, std::span<std::byte> memory) = 0;
  // An event kRevoked follows, even if there was none before.
  virtual void revoke(PermissionId id) = 0;
  // True if only the card can access the memory, as that of a GPU: it is slow to write there what
  // is not placed.
  virtual bool is_device_memory(std::span<const std::byte>) { return false; }
  // True if packets can be sent from this memory.
  virtual bool can_place_from(std::span<const std::byte> memory) = 0;
  // For the log: data to the peer travels in ordinary packets. Not called if open_link() or
  // connect() has failed.
  virtual void copies(const wire::EndpointAddress&, std::string_view /*why*/) {}
};

}  // namespace dlcp::core
