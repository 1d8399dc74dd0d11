#include "cli/aggregator/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "util/system/system_text.h"

namespace dlcp::cli {
namespace {

constexpr int kPacketsPerTurn = 256;
constexpr int kBufferBytes = 8 << 20;

std::string text_of(const sockaddr_in6& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&address.sin6_addr);
  ::inet_ntop(is_mapped ? AF_INET : AF_INET6, &address.sin6_addr.s6_addr[is_mapped ? 12 : 0], text,
              sizeof text);
  return text;
}

// A message in one buffer, with the control data for the address of this host that it is sent to,
// or from.
struct Envelope {
  Envelope(std::span<const std::byte> bytes, sockaddr_in6& peer)
      : data{const_cast<std::byte*>(bytes.data()), bytes.size()} {
    message.msg_name = &peer;
    message.msg_namelen = sizeof peer;
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  Envelope(const Envelope&) = delete;
  Envelope& operator=(const Envelope&) = delete;

  iovec data;
  msghdr message{};
  alignas(cmsghdr) std::byte control[CMSG_SPACE(sizeof(in6_pktinfo))]{};
};

}  // namespace

Result<Fd> open_udp_socket(std::uint16_t port, bool loopback_only) {
  Fd socket(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) {
    return Error{
        ErrorCode::kSystem, std::string("cannot open an IPv6 socket: ") + system_text(errno),
        "enable IPv6 in the kernel (remove ipv6.disable=1 from its command line); the host "
        "needs no IPv6 address"};
  }
  const int no = 0, yes = 1;
  (void)::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  (void)::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO, &yes, sizeof yes);
  // SO_RCVBUFFORCE, which exceeds net.core.rmem_max, requires root.
  for (const int buffer : {SO_RCVBUF, SO_SNDBUF, SO_RCVBUFFORCE})
    (void)::setsockopt(socket.get(), SOL_SOCKET, buffer, &kBufferBytes, sizeof kBufferBytes);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  if (loopback_only) {  // ::ffff:127.0.0.1
    address.sin6_addr.s6_addr[10] = address.sin6_addr.s6_addr[11] = 0xff;
    address.sin6_addr.s6_addr[12] = 127;
    address.sin6_addr.s6_addr[15] = 1;
  }
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Error{ErrorCode::kSystem,
                 "UDP port " + std::to_string(port) + " is not available: " + system_text(errno),
                 "stop the process that uses it (ss -ulnp), or choose another port with --port"};
  }
  return socket;
}

Result<AggregatorServer> AggregatorServer::open(const ServerOptions& options, bool loopback_only) {
  AggregatorServer server(options);
  if (options.port + options.terms.workers > 65536u) {
    return Error{ErrorCode::kInvalidUsage,
                 "worker " + std::to_string(options.terms.workers - 1) + " would send to port " +
                     std::to_string(options.port + options.terms.workers - 1),
                 "choose --port so that the ports of all workers are below 65536"};
  }
  for (unsigned i = 0; i < server.aggregator_.terms().workers; ++i) {
    auto socket = open_udp_socket(static_cast<std::uint16_t>(options.port + i), loopback_only);
    if (!socket) return socket.error();
    server.workers_.push_back({std::move(socket).value()});
  }
  return server;
}

std::size_t AggregatorServer::serve(Duration wait) {
  std::vector<pollfd> ready;
  for (const Worker& worker : workers_)
    ready.push_back({worker.socket.get(), POLLIN, 0});
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  if (::poll(ready.data(), ready.size(), static_cast<int>(ms)) <= 0) return 0;
  now_ = std::chrono::steady_clock::now();
  const std::uint64_t before = counts_.received;
  for (unsigned i = 0; i < workers_.size(); ++i) {
    for (int turn = 0; ready[i].revents != 0 && turn < kPacketsPerTurn && receive(i); ++turn) {
    }
  }
  return counts_.received - before;
}

// False if no packet is waiting.
bool AggregatorServer::receive(unsigned index) {
  Worker& worker = workers_[index];
  sockaddr_in6 from{};
  Envelope envelope(buffer_, from);
  const auto size = ::recvmsg(worker.socket.get(), &envelope.message, 0);
  if (size < 0) return errno == ECONNREFUSED || errno == EINTR;  // refused: the worker has exited
  ++counts_.received;
  if (rng_.chance(drop_)) {
    ++counts_.dropped;
    return true;
  }
  const auto packet = std::span<const std::byte>(buffer_).first(static_cast<std::size_t>(size));
  // Only packets that can be added identify a worker.
  if (const auto head = collective::read_switch_head(packet); head && aggregator_.fits(*head)) {
    if (!knows(index, from)) return true;
    const cmsghdr* const to = CMSG_FIRSTHDR(&envelope.message);
    if (to != nullptr && to->cmsg_type == IPV6_PKTINFO)
      std::memcpy(&worker.own, CMSG_DATA(to), sizeof worker.own);
  }
  using To = collective::SwitchAggregator::To;
  const std::uint64_t unsound = aggregator_.counts().unsound;
  const To to = aggregator_.on_packet(index, packet);
  if (unsound == 0 && aggregator_.counts().unsound > 0) tell_unsound(from, packet);
  if (to == To::kSender) answer(worker);
  if (to == To::kEveryone)
    for (Worker& each : workers_)
      answer(each);
  return true;
}

bool AggregatorServer::knows(unsigned index, const sockaddr_in6& from) {
  Worker& worker = workers_[index];
  const bool is_first = worker.address.sin6_family == 0;
  const bool is_other = !is_first && std::memcmp(&worker.address.sin6_addr, &from.sin6_addr,
                                                 sizeof from.sin6_addr) != 0;
  const std::chrono::duration<double> silence = now_ - worker.heard_at;
  if (is_other && silence.count() < keep_for_s_) {
    ++counts_.strangers;
    if (!std::exchange(worker.has_stranger, true))
      news_ += fmt::format(
          "worker {} is at {}; packets from {} are ignored until it has been silent for {} s "
          "(--keep-for)\n",
          index, text_of(worker.address), text_of(from), keep_for_s_);
    return false;
  }
  worker.heard_at = now_;
  if (is_first || is_other || worker.address.sin6_port != from.sin6_port) {
    worker.address = from;
    if (is_other) worker.has_stranger = false;
    if (!is_first) aggregator_.restart();
  }
  return true;
}

void AggregatorServer::tell_unsound(const sockaddr_in6& from, std::span<const std::byte> packet) {
  const auto head = collective::read_switch_head(packet);
  const auto& terms = aggregator_.terms();
  const std::string why =
      !head ? "it has another format"
      : head->values != terms.values
          ? fmt::format("it has {} numbers, but --values is {}", head->values, terms.values)
          : fmt::format("it is for slot {}, but --slots is {}", head->slot, terms.slots);
  news_ +=
      fmt::format("ignored a packet from {}, and will ignore others: {}\n", text_of(from), why);
}

// From the address that the worker sends to: its socket accepts no other, and the kernel may choose
// another one on a host with several addresses.
void AggregatorServer::answer(Worker& worker) {
  if (rng_.chance(drop_)) {
    ++counts_.dropped;
    return;
  }
  Envelope envelope(aggregator_.answer(), worker.address);
  const in6_pktinfo own{worker.own.ipi6_addr, 0};  // any interface
  cmsghdr* const from = CMSG_FIRSTHDR(&envelope.message);
  from->cmsg_level = IPPROTO_IPV6;
  from->cmsg_type = IPV6_PKTINFO;
  from->cmsg_len = CMSG_LEN(sizeof own);
  std::memcpy(CMSG_DATA(from), &own, sizeof own);
  // If it fails, the answer is lost, and the worker repeats its request.
  if (::sendmsg(worker.socket.get(), &envelope.message, 0) >= 0) ++counts_.sent;
}

}  // namespace dlcp::cli
