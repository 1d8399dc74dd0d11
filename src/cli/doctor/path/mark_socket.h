// A UDP socket for observing changes of the IP header by the network: datagrams are sent with a
// given TOS byte and without fragmentation, and are received with the TOS byte with which they
// arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "datapath/address/ip_address.h"
#include "util/result.h"
#include "util/system/fd.h"
#include "util/time.h"

namespace dlcp::cli {

class MarkSocket {
 public:
  struct Received {
    std::size_t size = 0;
    std::size_t segment_bytes =
        0;  // size of the datagrams that the kernel merged into this one; 0: not merged
    std::uint8_t tos = 0;
    datapath::SocketAddress from;
    datapath::IpAddress to;  // local address that it was sent to
  };

  // Port 0: any free one from 49152 up.
  static Result<MarkSocket> open(const datapath::IpAddress& local, std::uint16_t port);

  // Restricts the socket to `peer`; an ICMP rejection by its host then appears as ECONNREFUSED in
  // send().
  Status connect(const datapath::SocketAddress& peer);
  bool enable_merging();  // UDP_GRO; false if the kernel lacks it
  // Sets the default source address and link of datagrams; link 0: chosen by the kernel.
  void send_from(const datapath::IpAddress& ip, int link) {
    from_ = ip;
    link_ = link;
  }

  // send() returns 0 or the errno. `to` is null on a connected socket; `from` selects a local
  // address if the socket has several. With segment_bytes the kernel cuts the bytes into datagrams
  // of that size (UDP_SEGMENT).
  struct Route {
    const datapath::SocketAddress* to = nullptr;
    const datapath::IpAddress* from = nullptr;
    std::uint16_t segment_bytes = 0;
  };
  int send(std::span<const std::byte> bytes, std::uint8_t tos, const Route& route) const;
  int send(std::span<const std::byte> bytes, std::uint8_t tos) const {
    return send(bytes, tos, Route{});
  }

  // Waits at most `wait` (0: not at all).
  std::optional<Received> receive(std::span<std::byte> into, Duration wait) const;

  std::uint16_t port() const { return port_; }
  int descriptor() const { return fd_.get(); }
  // The route's MTU according to the kernel, IP header included; 0 if unknown. Connected sockets
  // only.
  std::size_t route_mtu() const;

 private:
  MarkSocket(Fd fd, datapath::IpFamily family) : fd_(std::move(fd)), family_(family) {}

  Fd fd_;
  datapath::IpFamily family_;
  std::uint16_t port_ = 0;
  std::optional<datapath::IpAddress> from_;
  int link_ = 0;
};

// Bytes of the IP and UDP headers of a datagram.
std::size_t header_bytes(datapath::IpFamily family);

}  // namespace dlcp::cli
