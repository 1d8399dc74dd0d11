// Shared parts of the UDP tests: datapaths on loopback, packets with known bytes, and a receive
// loop that ends when all have arrived or a second has passed.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "datapath/udp/udp_datapath.h"

namespace dlcp::datapath::test {

inline Time steady_now() {
  return Time(std::chrono::steady_clock::now().time_since_epoch());
}

inline IpAddress loopback_ip(IpFamily family) {
  return parse_ip_address(family == IpFamily::kV4 ? "127.0.0.1" : "::1").value();
}

inline UdpOptions loopback_options(IpFamily family = IpFamily::kV4) {
  UdpOptions options;
  options.local_ip = loopback_ip(family);
  options.paths = 4;
  return options;
}

// Buffers so small that peers send to all sockets.
inline UdpOptions many_sockets_options(IpFamily family = IpFamily::kV4) {
  UdpOptions options = loopback_options(family);
  options.receive_buffer_bytes = 128u << 10;
  return options;
}

// Null, with the reason printed, where the host has no such loopback address.
inline std::unique_ptr<UdpDatapath> open_datapath(const UdpOptions& options) {
  Result<std::unique_ptr<UdpDatapath>> datapath = UdpDatapath::open(options);
  if (!datapath) {
    WARN("skipped: " << datapath.error().message());
    return nullptr;
  }
  return std::move(datapath).value();
}

struct DatapathPair {
  std::unique_ptr<UdpDatapath> sender, receiver;
};
inline DatapathPair open_pair(const UdpOptions& options = loopback_options()) {
  DatapathPair pair{open_datapath(options), open_datapath(options)};
  REQUIRE(pair.sender);
  REQUIRE(pair.receiver);
  return pair;
}

// A byte that depends on the packet's number and the offset in it.
inline std::byte pattern(std::size_t packet, std::size_t offset) {
  return static_cast<std::byte>((packet * 131 + offset * 7 + offset / 251) & 0xff);
}

// Packets to one destination, each with a header of `header_bytes` and the rest as payload.
class Packets {
 public:
  explicit Packets(const wire::EndpointAddress& destination) : destination_(destination) {}

  void add(std::size_t bytes, wire::PathIndex path = 0,
           TrafficClass traffic_class = TrafficClass::kExact, std::size_t header_bytes = 40) {
    const std::size_t number = packets_.size();
    header_bytes = std::min(header_bytes, bytes);
    wire::TxPacket packet;
    packet.header_bytes = static_cast<std::uint8_t>(header_bytes);
    packet.path = path;
    packet.traffic_class = traffic_class;
    packet.destination = &destination_;
    for (std::size_t i = 0; i < header_bytes; ++i)
      packet.header[i] = pattern(number, i);
    auto payload = std::make_unique<std::vector<std::byte>>(bytes - header_bytes);
    for (std::size_t i = header_bytes; i < bytes; ++i)
      (*payload)[i - header_bytes] = pattern(number, i);
    packet.payload = *payload;
    payloads_.push_back(std::move(payload));
    packets_.push_back(packet);
  }
  const std::vector<wire::TxPacket>& all() const { return packets_; }

 private:
  wire::EndpointAddress destination_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> payloads_;
  std::vector<wire::TxPacket> packets_;
};

// A received packet with its bytes copied out.
struct Arrival {
  std::vector<std::byte> bytes;
  wire::RxPacket packet;
};

inline std::vector<Arrival> receive_count(Datapath& datapath, std::size_t count,
                                          std::size_t at_once = 64) {
  std::vector<Arrival> arrivals;
  std::vector<wire::RxPacket> out(at_once);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (arrivals.size() < count && std::chrono::steady_clock::now() < give_up) {
    const std::size_t got = datapath.receive(steady_now(), out);
    for (std::size_t i = 0; i < got; ++i)
      arrivals.push_back({{out[i].bytes.begin(), out[i].bytes.end()}, out[i]});
    if (got == 0) std::this_thread::yield();
  }
  return arrivals;
}

inline bool has_pattern(const std::vector<std::byte>& bytes, std::size_t packet) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != pattern(packet, i)) return false;
  return true;
}

}  // namespace dlcp::datapath::test
