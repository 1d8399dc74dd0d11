// Bytes in, bytes out: what every datapath (udp, verbs, sim, and the faulty decorator over any of
// them) offers the engine. A datapath takes no decisions about the protocol, keeps no packet, and
// is used by one thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datapath/path_report.h"
#include "util/result.h"
#include "wire/packet.h"

namespace dlcp::datapath {

struct Limits {
  std::size_t datagram_bytes_max =
      0;                  // largest datagram the interface carries unfragmented (MTU - IP - UDP)
  std::size_t paths = 1;  // local entropy values, 1..256
  std::size_t burst_packets_max =
      1;                       // packets of one class, path and size that one system call carries
  std::size_t unit_bytes = 0;  // that they may have together; 0: each goes for itself
  // What the receive side can hold before it drops, counted in payload bytes (socket buffers in
  // truesize, already halved or worse for the kernel's overhead).
  std::size_t receive_capacity_bytes = 0;
  // By how much round trips vary for reasons of the hosts, arrival times as they are reported: no
  // congestion is to be read into so little.
  Duration host_delay{0};
};

// One thing that a datapath counts; what is on or off counts as 1 or 0.
struct NamedCount {
  std::string_view name;
  std::uint64_t value = 0;
};

class Datapath {
 public:
  virtual ~Datapath() = default;

  // What kind it is, for statistics: "udp", "verbs".
  virtual std::string_view name() const = 0;
  // What it has counted, always the same rows in the same order.
  virtual std::vector<NamedCount> counts() const { return {}; }

  virtual const wire::EndpointAddress& local_address() const = 0;
  virtual Limits limits() const = 0;
  // For messages: the address as people write it; empty if this datapath has no such form.
  virtual std::string describe(const wire::EndpointAddress&) const { return {}; }

  // Likewise how packets to the peer on one path look to the network: "10.0.0.1:49152
  // > 10.0.0.2:49160".
  virtual std::string describe_path(const wire::EndpointAddress& peer, wire::PathIndex) const {
    return describe(peer);
  }

  // Whether packets can go between here and the peer at all.
  virtual Status check_reachable(const wire::EndpointAddress&) const { return Unit{}; }

  // Hands packets to the network, in order, and returns how many it took; the caller offers the
  // rest again later. Payload memory is not touched after return, except registered memory as long
  // as reads() says so. A packet that the kernel refuses for itself (unreachable, no buffer) counts
  // as taken, and as lost.
  virtual std::size_t send(std::span<const wire::TxPacket> packets) = 0;

  // Fills `out` with what has arrived and returns how many. The bytes stay valid until the next
  // call. `now` anchors arrival times.
  virtual std::size_t receive(Time now, std::span<wire::RxPacket> out) = 0;

  // When receive() is due though nothing arrives, because packets are held back on purpose
  // (faulty); kNever on a real network.
  virtual Time next_release() const { return kNever; }

  // The first bytes of a packet of ours that the peer's own host rejects: its process is gone, a
  // firewall rejects, or somebody forges. Empty when there is none; valid until the next call.
  virtual std::span<const std::byte> next_refused() { return {}; }

  // The last report of the network, or of this host's kernel, about packets to that peer.
  virtual PathReport last_report(const wire::EndpointAddress&) const { return {}; }

  // A descriptor that polls readable (EPOLLIN) while packets wait; -1 where there is none (sim).
  virtual int wait_descriptor() const = 0;
  // Call before waiting on it. True: look once more with receive(), as what came before the call
  // may not be reported.
  virtual bool arm() { return false; }

  // Once it has a value the datapath is dead, for good.
  virtual std::optional<Error> failure() const { return std::nullopt; }

  // --- zero copy: what a datapath offers whose hardware fetches payloads by itself, later than
  // send() returns. The others copy, and have nothing to say here.

  // Payloads within `memory` may be fetched from where they lie; it stays mapped until it is
  // released, once for each time it was registered and when reads() has said no. If it fails,
  // payloads are copied.
  virtual Status register_memory(std::span<std::byte>) { return Unit{}; }
  virtual void release_memory(std::span<std::byte>) {}
  // Whether packets taken earlier still need `memory`. It is given back in the background.
  virtual bool reads(std::span<const std::byte>) { return false; }
  // Afterwards reads(memory) is false, at the cost of packets, of any memory, that had not left.
  virtual void abandon(std::span<const std::byte>) {}
};

}  // namespace dlcp::datapath
