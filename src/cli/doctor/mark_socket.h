// A UDP socket for looking at what the network does to the IP header: every datagram is sent with a
// given TOS byte and never fragmented, and received with the TOS byte it arrived with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "datapath/ip_address.h"
#include "util/fd.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::cli {

class MarkSocket {
 public:
  struct Received {
    std::size_t size = 0;
    std::size_t segment_bytes =
        0;  // of the datagrams that the kernel merged into this; 0: just one
    std::uint8_t tos = 0;
    datapath::SocketAddress from;
    datapath::IpAddress to;  // our address that it was sent to
  };

  // Port 0: any free one of 49152 and above.
  static Result<MarkSocket> open(const datapath::IpAddress& local, std::uint16_t port);

  // From now on only to and from `peer`; a refusal by its host then shows as ECONNREFUSED in
  // send().
  Status connect(const datapath::SocketAddress& peer);
  bool enable_merging();  // UDP_GRO; false where the kernel has none
  // Every datagram without a source of its own leaves from that address by that link, whatever the
  // kernel would choose (0: its choice).
  void send_from(const datapath::IpAddress& ip, int link) {
    from_ = ip;
    link_ = link;
  }

  // 0, or the errno. `to` is null on a connected socket; `from` picks our address where there are
  // several; with segment_bytes the kernel cuts the bytes into datagrams of that size
  // (UDP_SEGMENT).
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
  // The route's MTU as the kernel knows it, IP header included; 0 if it does not. Connected only.
  std::size_t route_mtu() const;

 private:
  MarkSocket(Fd fd, datapath::IpFamily family) : fd_(std::move(fd)), family_(family) {}

  Fd fd_;
  datapath::IpFamily family_;
  std::uint16_t port_ = 0;
  std::optional<datapath::IpAddress> from_;
  int link_ = 0;
};

// Bytes of IP and UDP header in front of a datagram.
std::size_t header_bytes(datapath::IpFamily family);

}  // namespace dlcp::cli
