// Opens a UDP datapath and computes its receive capacity.
#include "datapath/udp/udp_datapath.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "datapath/udp/interfaces/interfaces.h"
#include "datapath/udp/interfaces/netlink.h"
#include "datapath/udp/receive/receive_capacity.h"
#include "util/system/random_seed.h"

namespace dlcp::datapath {
namespace {

constexpr std::size_t kPathsMax = 256;
constexpr std::size_t kUdpHeaderBytes = 8;
// If packets cannot carry DF, probes larger than the path's MTU would be fragmented and succeed.
// Datagrams of this size cross every IPv6 network in one piece (RFC 8200: MTU 1280).
constexpr std::size_t kFragmentableBytes = 1232;
// Desired total capacity of the receiving sockets, in the kernel's truesize.
constexpr std::size_t kReceiveBudgetBytes = 8u << 20;

std::vector<int> descriptors_of(const std::vector<UdpSocket>& sockets) {
  std::vector<int> descriptors;
  for (const UdpSocket& socket : sockets)
    descriptors.push_back(socket.fd.get());
  return descriptors;
}

std::size_t header_bytes(IpFamily family) {
  return (family == IpFamily::kV4 ? 20 : 40) + kUdpHeaderBytes;
}

// The 16-bit length of IPv4 limits both families, so that a burst is never larger.
std::size_t datagram_bytes_of(std::size_t mtu, IpFamily family) {
  const std::size_t headers = header_bytes(family);
  return mtu <= headers ? 0 : std::min(mtu - headers, kUdpBurstBytesMax);
}

// True if packets may reach the sockets one by one through the CPU's backlog queue, as from a
// virtual interface without GRO. A card's driver merges them first, and loopback never splits
// bursts.
bool arrives_singly(const UdpOptions& options, bool is_burst_capable) {
  if (!is_burst_capable) return true;
  const std::string name =
      options.interface_name.empty() ? interface_of(options.local_ip) : options.interface_name;
  return !options.local_ip.is_loopback() && read_properties(name).is_virtual;
}

std::size_t netdev_backlog_packets() {
  std::size_t packets = 0;
  std::ifstream("/proc/sys/net/core/netdev_max_backlog") >> packets;
  return packets > 0 ? packets : 1000;  // the kernel's default
}

// Number of sockets that peers should send to: as few as have enough capacity, because one socket
// preserves the order of arrival over all paths, and several sockets, read in turn, do not. Several
// are needed if rmem_max is small. No packets leave through them, because the kernel would call the
// epoll that watches them for each of these.
std::size_t receiving_sockets(const UdpSocket& like, std::size_t most) {
  const std::size_t each = std::max<std::size_t>(like.receive_budget_bytes, 1);
  const std::size_t wanted = (kReceiveBudgetBytes + each - 1) / each;
  return std::min({wanted, most, kUdpPortsMax});
}

Result<std::size_t> choose_datagram_bytes(const UdpOptions& options) {
  const Result<std::size_t> mtu = interface_mtu(options.interface_name, options.local_ip);
  if (!mtu) return mtu.error();
  const std::size_t carried = datagram_bytes_of(mtu.value(), options.local_ip.family);
  const std::size_t wanted = options.datagram_bytes_max == 0 ? carried : options.datagram_bytes_max;
  const std::string ip = to_string(options.local_ip);
  if (carried < kUdpDatagramBytesMin) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("the interface of {} has MTU {}; with this address family DLCP needs "
                             "at least {}",
                             ip, mtu.value(), udp_mtu_min(options.local_ip.family)),
                 "raise it (ip link set dev NAME mtu NUMBER), or choose another interface "
                 "(DLCP_IFNAME)"};
  }
  if (wanted < kUdpDatagramBytesMin) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("packets of {} bytes are too small for {}; with this address family "
                             "DLCP needs at least {}",
                             wanted + header_bytes(options.local_ip.family), ip,
                             udp_mtu_min(options.local_ip.family)),
                 "raise DLCP_MTU, or the MTU of the interfaces that lead out of this host"};
  }
  if (wanted > carried) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("datagrams of {} bytes do not fit on {} with MTU {}", wanted, ip, mtu.value()),
        fmt::format("choose a size from {} to {} bytes", kUdpDatagramBytesMin, carried)};
  }
  return wanted;
}

PathReport::Kind kind_of_rejection(int error) {
  return error == EACCES ? PathReport::Kind::kProhibited : PathReport::Kind::kNotPermitted;
}

}  // namespace

std::size_t udp_mtu_min(IpFamily family) {
  return kUdpDatagramBytesMin + header_bytes(family);
}

Result<std::unique_ptr<UdpDatapath>> UdpDatapath::open(const UdpOptions& options) {
  if (options.paths < 1 || options.paths > kPathsMax) {
    return Error{ErrorCode::kInvalidUsage, fmt::format("{} paths were requested", options.paths),
                 fmt::format("choose 1 to {}", kPathsMax)};
  }
  Result<std::size_t> datagram_bytes = choose_datagram_bytes(options);
  if (!datagram_bytes) return datagram_bytes.error();
  Egress egress(options.local_ip, options.interface_name.empty() ? interface_of(options.local_ip)
                                                                 : options.interface_name);
  UdpSocketOptions socket_options;
  socket_options.local_ip = options.local_ip;
  socket_options.receive_buffer_bytes = options.receive_buffer_bytes;
  socket_options.send_buffer_bytes = options.send_buffer_bytes;
  socket_options.gro = options.gro;
  socket_options.vrf = egress.vrf();
  Rng rng(options.seed != 0 ? options.seed : random_seed());
  std::vector<UdpSocket> sockets, receiving;
  const auto open_one = [&](std::vector<UdpSocket>& of) -> Status {
    Result<UdpSocket> socket = open_udp_socket(socket_options, rng);
    if (!socket) return socket.error();
    of.push_back(std::move(socket).value());
    return Unit{};
  };
  std::size_t count = 1;
  while (receiving.size() < count) {
    if (const auto opened = open_one(receiving); !opened) return opened.error();
    count = receiving_sockets(receiving.front(), options.paths);
  }
  socket_options.receive_buffer_bytes = 0;
  socket_options.reports_errors = true;
  while (sockets.size() < options.paths)
    if (const auto opened = open_one(sockets); !opened) return opened.error();
  if (!sockets.front().unfragmented)
    datagram_bytes = std::min(datagram_bytes.value(), kFragmentableBytes);
  Result<std::unique_ptr<BurstReceiver>> receiver = BurstReceiver::open(descriptors_of(receiving));
  if (!receiver) return receiver.error();
  return std::unique_ptr<UdpDatapath>(
      new UdpDatapath(options, datagram_bytes.value(), std::move(egress), std::move(sockets),
                      std::move(receiving), std::move(receiver).value()));
}

UdpDatapath::UdpDatapath(const UdpOptions& options, std::size_t datagram_bytes_max, Egress egress,
                         std::vector<UdpSocket> sockets, std::vector<UdpSocket> receiving,
                         std::unique_ptr<BurstReceiver> receiver)
    : sockets_(std::move(sockets)),
      receiving_(std::move(receiving)),
      datagram_bytes_max_(datagram_bytes_max),
      sender_({.family = options.local_ip.family,
               .scope = options.local_ip.scope,
               .segment_bytes_max = datagram_bytes_max,
               .gso = options.gso && sockets_.front().gso_known,
               .tos = options.tos},
              descriptors_of(sockets_), std::move(egress)),
      receiver_(std::move(receiver)),
      refusals_(descriptors_of(sockets_)) {
  address_.ip = options.local_ip;
  for (const UdpSocket& socket : receiving_)
    address_.add(LocatorKind::kUdpPort, socket.port);
  address_blob_ = encode(address_);
  counters_.gso_on = sender_.gso_on();
  counters_.gro_on = std::all_of(receiving_.begin(), receiving_.end(),
                                 [](const UdpSocket& socket) { return socket.gro_on; });
  ReceiveBuffers buffers;
  buffers.datagram_bytes = datagram_bytes_max_;
  buffers.sockets = receiving_.size();
  buffers.socket_budget_bytes = receiving_.front().receive_budget_bytes;
  buffers.backlog_packets = arrives_singly(options, counters_.gso_on != 0 && counters_.gro_on != 0)
                                ? netdev_backlog_packets()
                                : 0;
  receive_capacity_bytes_ = receive_capacity(buffers);
}

std::vector<NamedCount> UdpDatapath::counts() const {
  return counts_of<UdpCounters>(counters_, kUdpCounterRows);
}

std::string UdpDatapath::describe(const wire::EndpointAddress& address) const {
  const auto decoded = decode_device_address(address);
  return decoded ? to_string(*decoded) : std::string();
}

std::string UdpDatapath::describe_path(const wire::EndpointAddress& peer,
                                       wire::PathIndex path) const {
  const auto theirs = decode_device_address(peer);
  const auto ports = theirs ? theirs->of(LocatorKind::kUdpPort) : std::span<const Locator>();
  if (ports.empty()) return {};
  return fmt::format("{}:{} > {}:{}", to_string(address_.ip), sockets_[path % sockets_.size()].port,
                     to_string(theirs->ip), ports[path % ports.size()].value);
}

Status UdpDatapath::check_reachable(const wire::EndpointAddress& peer) const {
  const auto theirs = decode_device_address(peer);
  if (!theirs) {
    return Error{ErrorCode::kInvalidUsage, "the address in the peer's handle has an unknown form",
                 "run the same plugin version on all ranks"};
  }
  if (!theirs->has(LocatorKind::kUdpPort)) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("this rank sends over UDP ({}), but the peer's rank at {} only "
                             "over RoCE",
                             to_string(address_.ip), to_string(*theirs)),
                 "set DLCP_DATAPATH to the same on all ranks, or leave it at auto"};
  }
  if (address_.ip.family != theirs->ip.family) {
    const auto name = [](const DeviceAddress& address) {
      return address.ip.family == IpFamily::kV4 ? "IPv4" : "IPv6";
    };
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("this rank is at {} ({}), but the peer's rank is at {} ({})",
                    to_string(address_.ip), name(address_), to_string(theirs->ip), name(*theirs)),
        "choose interfaces of one address family on all ranks (NCCL_SOCKET_FAMILY, DLCP_IFNAME)"};
  }
  return Unit{};
}

Limits UdpDatapath::limits() const {
  Limits limits;
  limits.datagram_bytes_max = datagram_bytes_max_;
  limits.paths = sockets_.size();
  limits.unit_bytes = sender_.gso_on() ? kUdpBurstBytesMax : 0;
  limits.receive_capacity_bytes = receive_capacity_bytes_;
  limits.can_unmark = sockets_.front().reads_marks;
  return limits;
}

std::size_t UdpDatapath::send(std::span<const wire::TxPacket> packets) {
  const std::uint64_t rejected = counters_.tx_error_not_permitted;
  const std::size_t taken = sender_.send(packets, now_, counters_);
  if (counters_.tx_error_not_permitted != rejected) not_permitted_at_ = now_;
  counters_.gso_on = sender_.gso_on();
  return taken;
}

std::size_t UdpDatapath::receive(Time now, std::span<wire::RxPacket> out) {
  now_ = now;
  return receiver_->receive(now, out, counters_);
}

std::span<const std::byte> UdpDatapath::next_refused() {
  return refusals_.next(now_, counters_);
}

// Errors of sendmsg() are counted for all peers together, so they are used as an explanation only
// if there is no other one.
PathReport UdpDatapath::last_report(const wire::EndpointAddress& peer) const {
  const auto theirs = decode_device_address(peer);
  if (!theirs) return {};
  PathReport report = refusals_.last_report(*theirs);
  if (report.from == to_string(address_.ip)) report.from.clear();
  if (report.kind != PathReport::Kind::kNothing) return report;
  if (counters_.tx_error_unreachable != 0 || counters_.tx_error_other != 0)
    report = missing_for(theirs->ip);
  if (report.kind != PathReport::Kind::kNothing) return report;
  if (counters_.tx_error_not_permitted != 0)
    return {kind_of_rejection(sender_.not_permitted_error()), {}, not_permitted_at_};
  return {};
}

PathReport UdpDatapath::report_of(const RefusedPeer& peer) const {
  const auto theirs = decode_device_address(peer.address);
  if (!theirs) return {};
  if (peer.error == EPERM || peer.error == EACCES) return {kind_of_rejection(peer.error), {}, now_};
  return missing_for(theirs->ip);
}

PathReport UdpDatapath::missing_for(const IpAddress& peer) const {
  if (is_gone(address_.ip)) return {PathReport::Kind::kNoAddress, to_string(address_.ip), now_};
  if (!peer.is_link_local() && !find_route({peer, address_.ip, 0}))
    return {PathReport::Kind::kNoRoute, {}, now_};
  return {};
}

}  // namespace dlcp::datapath
