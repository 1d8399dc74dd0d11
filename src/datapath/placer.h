// The interface of a datapath that places data (placement.h has the types and the rules). Used by
// the same thread as the datapath itself. Datapath::placer() returns it, or nullptr.
//
// Setting up a link: each side calls open_link() and widen(), sends its introduction() to the peer,
// and calls connect() with the peer's. connect() may create queue pairs for paths that only the
// peer has widened; the introduction is then sent again. A side may send on a path once both
// introductions have arrived at both sides, which paths() tells. All of these calls can be repeated
// at any time, with old introductions too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datapath/gpu_memory.h"
#include "datapath/placement.h"
#include "util/result.h"
#include "wire/data/placed_packet.h"
#include "wire/packet.h"

namespace dlcp::datapath {

class Placer {
 public:
  virtual ~Placer() = default;

  // --- Links

  // `peer` is the address that ordinary packets are sent to. Fails if placed packets cannot reach
  // it, or if the device has no room for the queue pairs of another link. `round_trip`: that of
  // ordinary packets, 0 if unknown; reliable links repeat packets after 4 times as long, or 34 ms.
  virtual Result<LinkId> open_link(const wire::EndpointAddress& peer, Duration round_trip) = 0;
  // Creates queue pairs until the class has `paths` of them, or as many as the limits allow, which
  // is not an error. It fails if the card refuses. Creating one may take milliseconds.
  virtual Status widen(LinkId link, TrafficClass traffic_class, std::size_t paths) = 0;
  // Contains the data that the peer needs for connect(). `introduction_version` changes whenever it
  // has to be sent again; 0 if there is no such link.
  virtual Introduction introduction(LinkId link) const = 0;
  virtual std::uint32_t introduction_version(LinkId link) const = 0;
  // Fails if the introduction, which comes from the network, is malformed, or if the two sides have
  // no common way to place data; use ordinary packets then.
  virtual Status connect(LinkId link, std::span<const std::byte> introduction) = 0;
  // The paths of the class that can carry packets in both directions. They become fewer if the card
  // fails.
  virtual wire::LinkPaths paths(LinkId link, TrafficClass traffic_class) const = 0;
  virtual LinkLimits link_limits(LinkId link) const = 0;
  // For reliable links (RC), whose card repeats packets that are lost: grows whenever the path
  // fails. Packets placed on it before have arrived or are lost, and are not repeated any more.
  // Until then the caller must not send their bytes in another way, because it could then end a
  // permission that a repeated packet needs, which breaks the path. The path works again after both
  // sides have exchanged introductions again, whose version changes.
  virtual std::uint32_t failures(LinkId, TrafficClass, wire::PathIndex) const { return 0; }
  // For reliable links: true if a path works again, or for the first time, once introductions have
  // been exchanged. A path that has failed is not offered for a while, and does not count then.
  virtual bool awaits_peer(LinkId) const { return false; }
  // Destroys the queue pairs: packets that have not left are lost. Permissions of the link are
  // revoked before it returns, without events.
  virtual void close_link(LinkId link) = 0;

  // --- Permissions of this receiver

  // Begins to allow the peer to write to `memory`, part of registered memory. One event kGranted or
  // kRefused follows.
  virtual PermissionId permit(LinkId link, std::span<std::byte> memory) = 0;
  // Begins to take it back, at any time after permit(), once. One event kRevoked follows; without
  // it, the card may still write. If permit() had no event yet, kRevoked is the only one, unless
  // kRefused is.
  virtual void revoke(PermissionId id) = 0;
  // Revokes all permissions in this memory, of every link, before it returns. Events follow as
  // after revoke(). Datapath::release_memory() does this too, also if the memory is registered more
  // than once.
  virtual void revoke_all(std::span<const std::byte> memory) = 0;
  // Makes progress with all of these and reports what is finished; a number below out.size() means
  // that nothing else is.
  virtual std::size_t poll_permissions(Time now, std::span<PermissionEvent> out) = 0;
  // True if poll_permissions() has work or reports that Datapath::wait_descriptor() does not
  // announce.
  virtual bool awaits_poll() const = 0;

  // --- GPU memory, for placers whose card can access it

  virtual GpuAccess gpu_access() const { return {}; }
  // Registers it for permissions and for place(); Datapath::release_memory() ends this. Fails if
  // the card cannot access it.
  virtual Status register_gpu_memory(const GpuMemory&) {
    return Error{ErrorCode::kInvalidUsage, "this device cannot access the memory of GPUs", ""};
  }
  // True if the memory is registered as GPU memory.
  virtual bool is_gpu_memory(std::span<const std::byte>) { return false; }
  // Begins to make all that the card has written so far visible to the GPU of this memory. False
  // if the memory is not registered GPU memory.
  virtual bool flush(std::span<const std::byte>) { return false; }
  // How many flushes have finished since the last call, in the order in which they began.
  virtual std::size_t flushed(Time) { return 0; }

  // Begins to write the bytes, or zeros if `from` is empty, to registered GPU memory. `from` is not
  // used after return. False if the memory is not registered GPU memory, or if the card fails.
  virtual bool write(std::span<std::byte>, std::span<const std::byte>) { return false; }
  // How many writes have finished since the last call, in the order in which they began.
  virtual std::size_t written(Time) { return 0; }
  // True if a write to the memory has not finished.
  virtual bool writes(std::span<const std::byte>) const { return false; }
  // Ends these writes, which count as finished: the card does not write there when this returns.
  virtual void stop_writes(std::span<const std::byte>) {}

  // --- Packets

  // True if place() can send from this memory, because it is registered.
  virtual bool can_place_from(std::span<const std::byte> memory) = 0;
  // Sends packets in order and returns how many were accepted; the caller offers the rest later.
  // The card reads the payloads after return: Datapath::reads() and abandon() include them. A
  // packet of a path or key that does not work any more counts as accepted and is lost; on a
  // reliable link its path fails then.
  virtual std::size_t place(std::span<const PlacedPacket> packets) = 0;
  // Reports arrived packets, at most out.size() runs. Their bytes are in memory already.
  virtual std::size_t placed(Time now, std::span<PlacedRun> out) = 0;
};

}  // namespace dlcp::datapath
