// The interface between the engine and what sends and receives datagrams: udp, verbs, sim, and the
// decorators over any of them, such as faulty. A datapath makes no protocol decisions, and is used
// by one thread at a time.
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
  // Limit on the total size of packets of one class, path and size that one system call carries; 0:
  // they are sent one by one.
  std::size_t unit_bytes = 0;
  // Payload bytes that the receiving side can hold before it drops packets. (Socket buffers are
  // limited in truesize; half or more of it is kernel overhead and not counted here.)
  std::size_t receive_capacity_bytes = 0;
  // Variation of round-trip times that the hosts cause, given how arrival times are measured.
  // Congestion control must ignore variations below it.
  Duration host_delay{0};
  bool can_unmark = false;  // TxPacket::unmarked has an effect; RxPacket reports DSCP and ECN
};

// One counter of a datapath. The value of an on/off state is 1 or 0.
struct NamedCount {
  std::string_view name;
  std::uint64_t value = 0;
};

class Placer;

class Datapath {
 public:
  virtual ~Datapath() = default;

  // The type of datapath, for statistics: "udp", "verbs".
  virtual std::string_view name() const = 0;
  // The counters: always the same rows in the same order.
  virtual std::vector<NamedCount> counts() const { return {}; }

  virtual const wire::EndpointAddress& local_address() const = 0;
  virtual Limits limits() const = 0;
  // The address in readable form, for messages; empty if this datapath has none.
  virtual std::string describe(const wire::EndpointAddress&) const { return {}; }

  // The addresses and ports of packets to the peer on one path, for messages: "10.0.0.1:49152 >
  // 10.0.0.2:49160".
  virtual std::string describe_path(const wire::EndpointAddress& peer, wire::PathIndex) const {
    return describe(peer);
  }

  // Succeeds if packets can travel between this host and the peer at all.
  virtual Status check_reachable(const wire::EndpointAddress&) const { return Unit{}; }

  // Sends packets in order and returns how many were accepted; the caller offers the rest again
  // later. Payload memory is not used after return, except registered memory for which reads() is
  // true. A packet that the kernel rejects individually (unreachable, no buffer) counts as accepted
  // and is lost.
  virtual std::size_t send(std::span<const wire::TxPacket> packets) = 0;

  // Fills `out` with received packets and returns their number. The bytes remain valid until the
  // next call. `now` is the reference for arrival times.
  virtual std::size_t receive(Time now, std::span<wire::RxPacket> out) = 0;

  // When receive() must be called even if nothing arrives, because packets are delayed on purpose
  // (faulty); kNever on a real network.
  virtual Time next_release() const { return kNever; }

  // The first bytes of a packet from this datapath that the peer's own host rejected: its process
  // has ended, a firewall rejects the packet, or the rejection is forged. Empty if there is none.
  // Valid until the next call. wait_descriptor() does not report it.
  virtual std::span<const std::byte> next_refused() { return {}; }

  // The last report of the network or of this host's kernel about packets to that peer.
  virtual PathReport last_report(const wire::EndpointAddress&) const { return {}; }
  // A peer to which this host's kernel has refused to send since the last call, if there is one.
  virtual std::optional<RefusedPeer> take_refused_peer() { return std::nullopt; }
  // Why the kernel refused it: kNothing if no cause on this host explains that error.
  virtual PathReport report_of(const RefusedPeer&) const { return {}; }

  // A descriptor that is readable (EPOLLIN) while packets are available; -1 if there is none (sim).
  virtual int wait_descriptor() const = 0;
  // Must be called before waiting on the descriptor. If true, call receive() again first: packets
  // that arrived before this call may not be reported.
  virtual bool arm() { return false; }

  // The error that has ended the datapath permanently, if any.
  virtual std::optional<Error> failure() const { return std::nullopt; }

  // --- Zero copy: for datapaths whose hardware fetches payloads after send() has returned. All
  // other datapaths copy payloads and use these defaults.

  // Allows the hardware to fetch payloads directly from `memory`. The memory must remain mapped
  // until it has been released as often as it was registered and reads() returns false. If
  // registration fails, payloads are copied, and the memory is released all the same.
  virtual Status register_memory(std::span<std::byte>) { return Unit{}; }
  virtual void release_memory(std::span<std::byte>) {}
  // True while packets that were sent earlier need `memory`. Completions are processed in the
  // background.
  virtual bool reads(std::span<const std::byte>) { return false; }
  // Makes reads(memory) false. Packets that have not left yet are lost, whatever their memory.
  virtual void abandon(std::span<const std::byte>) {}

  // The interface for packets whose payload the card of the receiver writes directly into its
  // memory (placer.h); nullptr if this datapath has none. It belongs to the datapath.
  virtual Placer* placer() { return nullptr; }
};

}  // namespace dlcp::datapath
