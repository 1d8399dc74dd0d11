// The datapath over kernel UDP, IPv4 or IPv6: one sending socket per path and few receiving ones,
// with segmentation offload (GSO) and merging (GRO) if the kernel supports them. It owns the
// sockets; BurstSender and BurstReceiver do the work; core interprets the bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datapath/address/device_address.h"
#include "datapath/datapath.h"
#include "datapath/marks.h"
#include "datapath/udp/receive/burst_receiver.h"
#include "datapath/udp/send/burst_sender.h"
#include "datapath/udp/send/refusal_reader.h"
#include "datapath/udp/udp_counters.h"
#include "datapath/udp/udp_socket.h"
#include "util/result.h"

namespace dlcp::datapath {

// The least datagram of a device: the smallest with which the core opens a connection. It fits into
// an IPv4 packet of 576 bytes, which every host accepts (RFC 791).
inline constexpr std::size_t kUdpDatagramBytesMin = 548;
// The MTU that this needs.
std::size_t udp_mtu_min(IpFamily family);

struct UdpOptions {
  IpAddress local_ip;          // with its scope if link-local
  std::string interface_name;  // to read its MTU; empty: the interface that has local_ip
  std::size_t paths = 16;      // 1..256
  // The largest datagram, above UDP, at least kUdpDatagramBytesMin; 0: the largest that the
  // interface's MTU allows, which is also the upper limit.
  std::size_t datagram_bytes_max = 0;
  std::size_t receive_buffer_bytes = 4u << 20;  // requested per socket; rmem_max may reduce it
  std::size_t send_buffer_bytes = 4u << 20;
  bool gso = true;  // false: never used; true: used if it works
  bool gro = true;
  ClassMarks tos = default_tos();
  std::uint64_t seed = 0;  // for the choice of ports; 0: the system's random source
};

class UdpDatapath final : public Datapath {
 public:
  static Result<std::unique_ptr<UdpDatapath>> open(const UdpOptions& options);

  std::string_view name() const override { return "udp"; }
  std::vector<NamedCount> counts() const override;
  const wire::EndpointAddress& local_address() const override { return address_blob_; }
  Limits limits() const override;
  std::string describe(const wire::EndpointAddress& address) const override;
  std::string describe_path(const wire::EndpointAddress& peer, wire::PathIndex path) const override;
  Status check_reachable(const wire::EndpointAddress& peer) const override;
  std::size_t send(std::span<const wire::TxPacket> packets) override;
  // If fewer than out.size() packets are returned, wait_descriptor() reports all remaining ones.
  std::size_t receive(Time now, std::span<wire::RxPacket> out) override;
  std::span<const std::byte> next_refused() override;
  PathReport last_report(const wire::EndpointAddress& peer) const override;
  std::optional<RefusedPeer> take_refused_peer() override { return sender_.take_refused(); }
  PathReport report_of(const RefusedPeer& peer) const override;
  int wait_descriptor() const override { return receiver_->wait_descriptor(); }

  const DeviceAddress& address() const { return address_; }
  // The source port of a path. Peers send only to the ports in address().
  std::uint16_t port_of(wire::PathIndex path) const { return sockets_[path].port; }
  const UdpCounters& counters() const { return counters_; }

 private:
  UdpDatapath(const UdpOptions& options, std::size_t datagram_bytes_max, Egress egress,
              std::vector<UdpSocket> sockets, std::vector<UdpSocket> receiving,
              std::unique_ptr<BurstReceiver> receiver);

  // Whether this host has lost its address, or has no route to the peer; queries the kernel.
  PathReport missing_for(const IpAddress& peer) const;

  std::vector<UdpSocket> sockets_;    // of the paths; they only send
  std::vector<UdpSocket> receiving_;  // their ports are in address_
  DeviceAddress address_;
  wire::EndpointAddress address_blob_;
  std::size_t datagram_bytes_max_;
  std::size_t receive_capacity_bytes_ = 0;
  UdpCounters counters_;
  Time now_{};               // of the last receive()
  Time not_permitted_at_{};  // when the packet filter last rejected a packet
  BurstSender sender_;
  std::unique_ptr<BurstReceiver> receiver_;
  RefusalReader refusals_;
};

}  // namespace dlcp::datapath
