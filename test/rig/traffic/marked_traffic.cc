// Sends UDP packets of chosen marks at chosen rates, and counts those that arrive: per flow the
// packets, the CE marks, the TOS bytes and the delay. Sender and receiver run in two network
// namespaces of one machine, so that they share a clock.
//
//   marked_traffic receive PORT                       until SIGTERM; then one JSON line
//   marked_traffic send ADDRESS PORT SIZE SECONDS FLOW...     a paced mix; then one JSON line
//     FLOW = NAME:TOS:RATE  packets per second, all flows in parallel
//          | NAME:TOS:xN    N packets at once; such flows are sent first, one after the other
// SIZE is that of the IP packet. A delayed sender skips the packets it missed: it never sends a
// burst of more than 8 packets per flow to catch up.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int kNameBytes = 32;
constexpr int kSocketBuffer = 32 << 20;
constexpr int kCatchUpMax = 8;

struct Head {
  std::array<char, kNameBytes> name;  // zero-terminated
  std::int64_t sent_ns;
};

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "marked_traffic: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

volatile std::sig_atomic_t stopped = 0;

struct Flow {
  std::string name;
  int tos = 0;
  double rate = 0;
  long at_once = 0;
  long sent = 0;
  int socket = -1;
};

struct Arrivals {
  long packets = 0;
  long bytes = 0;
  long ce = 0;
  std::map<int, long> tos;
  std::vector<std::int64_t> delay_ns;
  std::vector<std::int64_t> arrived_ns;
};

struct Span {
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
};

int udp_socket(int family) {
  const int fd = socket(family, SOCK_DGRAM, 0);
  if (fd < 0) fail("socket");
  for (const int option : {SO_SNDBUFFORCE, SO_RCVBUFFORCE})
    setsockopt(fd, SOL_SOCKET, option, &kSocketBuffer, sizeof kSocketBuffer);
  return fd;
}

Flow parse_flow(const std::string& text) {
  const auto first = text.find(':');
  const auto second = text.find(':', first + 1);
  Flow flow;
  if (first == std::string::npos || second == std::string::npos || first >= kNameBytes) {
    errno = EINVAL;
    fail(text.c_str());
  }
  flow.name = text.substr(0, first);
  flow.tos = std::stoi(text.substr(first + 1, second - first - 1), nullptr, 0);
  const std::string amount = text.substr(second + 1);
  if (amount.starts_with("x"))
    flow.at_once = std::stol(amount.substr(1));
  else
    flow.rate = std::stod(amount);
  return flow;
}

void connect_flow(Flow& flow, const char* address, int port) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  const bool is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;
  if (!is_v4 && inet_pton(AF_INET6, address, &v6.sin6_addr) != 1) {
    errno = EINVAL;
    fail(address);
  }
  flow.socket = udp_socket(is_v4 ? AF_INET : AF_INET6);
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(static_cast<std::uint16_t>(port));
  const auto* to = is_v4 ? reinterpret_cast<sockaddr*>(&v4) : reinterpret_cast<sockaddr*>(&v6);
  if (setsockopt(flow.socket, is_v4 ? IPPROTO_IP : IPPROTO_IPV6, is_v4 ? IP_TOS : IPV6_TCLASS,
                 &flow.tos, sizeof flow.tos) != 0 ||
      connect(flow.socket, to, is_v4 ? sizeof v4 : sizeof v6) != 0)
    fail(address);
}

void send_one(Flow& flow, std::vector<char>& packet) {
  Head head{};
  std::copy(flow.name.begin(), flow.name.end(), head.name.begin());
  head.sent_ns = now_ns();
  std::memcpy(packet.data(), &head, sizeof head);
  // The first qdisc may report that it dropped the packet (ENOBUFS): it counts as sent and lost.
  if (send(flow.socket, packet.data(), packet.size(), 0) < 0 && errno != ENOBUFS) fail("send");
  ++flow.sent;
}

void send_paced(std::vector<Flow>& flows, double seconds, std::vector<char>& packet) {
  const std::int64_t start = now_ns();
  std::int64_t last = start;
  std::vector<double> due(flows.size(), 0);
  while (last - start < static_cast<std::int64_t>(seconds * 1e9)) {
    const std::int64_t now = now_ns();
    for (std::size_t i = 0; i < flows.size(); ++i) {
      due[i] = std::min<double>(due[i] + flows[i].rate * static_cast<double>(now - last) * 1e-9,
                                kCatchUpMax);
    }
    last = now;
    for (bool any = true; any;) {
      any = false;
      for (std::size_t i = 0; i < flows.size(); ++i) {
        if (due[i] >= 1) {
          send_one(flows[i], packet);
          due[i] -= 1;
          any = true;
        }
      }
    }
    const timespec pause{.tv_sec = 0, .tv_nsec = 500'000};
    nanosleep(&pause, nullptr);
  }
}

int send_all(int count, char** arguments) {
  if (count < 5) {
    std::fputs("marked_traffic: send ADDRESS PORT SIZE SECONDS FLOW...\n", stderr);
    return 2;
  }
  const bool is_v4 = std::strchr(arguments[0], ':') == nullptr;
  const std::size_t headers = is_v4 ? 28 : 48;
  std::vector<char> packet(std::max(std::stoul(arguments[2]), headers + sizeof(Head)) - headers,
                           'x');
  std::vector<Flow> flows;
  for (int i = 4; i < count; ++i) {
    flows.push_back(parse_flow(arguments[i]));
    connect_flow(flows.back(), arguments[0], std::atoi(arguments[1]));
  }
  for (Flow& flow : flows)
    for (long i = 0; i < flow.at_once; ++i)
      send_one(flow, packet);
  send_paced(flows, std::atof(arguments[3]), packet);
  const char* separator = "{";
  for (const Flow& flow : flows) {
    std::printf("%s\"%s\": %ld", separator, flow.name.c_str(), flow.sent);
    separator = ", ";
  }
  std::puts("}");
  return 0;
}

void note(std::map<std::string, Arrivals>& arrivals, Span& sent, const char* data, long bytes,
          msghdr& message) {
  Head head{};
  if (bytes < static_cast<long>(sizeof head)) return;
  std::memcpy(&head, data, sizeof head);
  head.name.back() = 0;
  Arrivals& flow = arrivals[head.name.data()];
  ++flow.packets;
  flow.bytes += bytes;
  flow.arrived_ns.push_back(now_ns());
  flow.delay_ns.push_back(flow.arrived_ns.back() - head.sent_ns);
  sent.first_ns = sent.first_ns == 0 ? head.sent_ns : std::min(sent.first_ns, head.sent_ns);
  sent.last_ns = std::max(sent.last_ns, head.sent_ns);
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    const bool v4 = c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS;
    const bool v6 = c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS;
    if (v4 || v6) {
      int tos = 0;
      std::memcpy(&tos, CMSG_DATA(c), v4 ? 1 : sizeof tos);
      ++flow.tos[tos];
      flow.ce += (tos & 3) == 3;
    }
  }
}

void print(std::map<std::string, Arrivals>& arrivals, const Span& sent) {
  const char* separator = "";
  const std::int64_t from_ns = sent.first_ns + (sent.last_ns - sent.first_ns) / 5;
  std::fputs("{", stdout);
  for (auto& [name, arrived] : arrivals) {
    Arrivals& flow = arrived;  // Clang 14 cannot capture structured bindings
    std::sort(flow.delay_ns.begin(), flow.delay_ns.end());
    const auto delay_us = [&flow](double share) {
      return flow.delay_ns[static_cast<std::size_t>(
                 share * static_cast<double>(flow.delay_ns.size() - 1))] /
             1000;
    };
    const auto busy = std::count_if(
        flow.arrived_ns.begin(), flow.arrived_ns.end(),
        [&](std::int64_t at_ns) { return at_ns >= from_ns && at_ns <= sent.last_ns; });
    std::printf(
        "%s\"%s\": {\"packets\": %ld, \"busy\": %ld, \"bytes\": %ld, \"ce\": %ld, \"p50_us\": %ld, "
        "\"p99_us\": %ld, \"tos\": {",
        separator, name.c_str(), flow.packets, static_cast<long>(busy), flow.bytes, flow.ce,
        static_cast<long>(delay_us(0.5)), static_cast<long>(delay_us(0.99)));
    const char* comma = "";
    for (const auto& [tos, count] : flow.tos) {
      std::printf("%s\"%d\": %ld", comma, tos, count);
      comma = ", ";
    }
    std::fputs("}}", stdout);
    separator = ", ";
  }
  std::puts("}");
}

int receive(int port) {
  const int fd = udp_socket(AF_INET6);
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(static_cast<std::uint16_t>(port));
  const int on = 1;
  const timeval wake{.tv_sec = 0, .tv_usec = 100'000};  // so that the signal's flag is checked
  setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
  setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wake, sizeof wake);
  if (bind(fd, reinterpret_cast<sockaddr*>(&any), sizeof any) != 0) fail("bind");
  std::signal(SIGTERM, [](int) { stopped = 1; });
  std::map<std::string, Arrivals> arrivals;
  Span sent;
  std::vector<char> packet(65536);
  while (stopped == 0) {
    std::array<char, 256> control{};
    iovec data{.iov_base = packet.data(), .iov_len = packet.size()};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const long bytes = recvmsg(fd, &message, 0);
    if (bytes >= 0)
      note(arrivals, sent, packet.data(), bytes, message);
    else if (errno != EAGAIN && errno != EINTR)
      fail("recvmsg");
  }
  print(arrivals, sent);
  close(fd);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "receive") == 0) return receive(std::atoi(argv[2]));
  if (argc > 2 && std::strcmp(argv[1], "send") == 0) return send_all(argc - 2, argv + 2);
  std::fputs("marked_traffic: receive PORT | send ADDRESS PORT SIZE SECONDS FLOW...\n", stderr);
  return 2;
}
