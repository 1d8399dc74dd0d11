#include "datapath/udp/interfaces/netlink.h"

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <span>

#include "util/system/fd.h"

namespace dlcp::datapath {
namespace {

constexpr std::size_t kAnswerBytes = 32768;  // the largest datagram that the kernel sends
constexpr timeval kAnswerTime{1, 0};         // the kernel answers at once or not at all

// A request: header, fixed part and attributes.
template <class Body>
class Request {
 public:
  Request(std::uint16_t type, std::uint16_t flags) {
    header_.nlmsg_len = NLMSG_LENGTH(sizeof(Body));
    header_.nlmsg_type = type;
    header_.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    header_.nlmsg_seq = 1;
  }
  Body body{};

  void add(std::uint16_t type, std::span<const std::uint8_t> value) {
    const rtattr attribute{static_cast<std::uint16_t>(RTA_LENGTH(value.size())), type};
    std::byte* const at = attributes_.data() + attribute_bytes_;
    std::memcpy(at, &attribute, sizeof attribute);
    std::memcpy(at + RTA_LENGTH(0), value.data(), value.size());
    attribute_bytes_ += RTA_SPACE(value.size());
  }
  void add(std::uint16_t type, int value) {
    std::array<std::uint8_t, sizeof value> bytes;
    std::memcpy(bytes.data(), &value, sizeof value);
    add(type, bytes);
  }

  bool send(int socket) {
    std::array<std::byte, NLMSG_SPACE(sizeof(Body)) + kAttributesMax> bytes{};
    header_.nlmsg_len = static_cast<std::uint32_t>(NLMSG_SPACE(sizeof(Body)) + attribute_bytes_);
    std::memcpy(bytes.data(), &header_, sizeof header_);
    std::memcpy(bytes.data() + NLMSG_HDRLEN, &body, sizeof body);
    std::memcpy(bytes.data() + NLMSG_SPACE(sizeof(Body)), attributes_.data(), attribute_bytes_);
    return ::send(socket, bytes.data(), header_.nlmsg_len, 0) ==
           static_cast<ssize_t>(header_.nlmsg_len);
  }

 private:
  static constexpr std::size_t kAttributesMax = 128;
  nlmsghdr header_{};
  std::array<std::byte, kAttributesMax> attributes_{};
  std::size_t attribute_bytes_ = 0;
};

Fd open_netlink() {
  Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (socket.valid())
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kAnswerTime, sizeof kAnswerTime);
  return socket;
}

using Visit = std::function<void(const nlmsghdr&)>;

// Calls `visit` for each message of the answer. False on an error.
bool read_answer(int socket, bool is_list, const Visit& visit) {
  alignas(nlmsghdr) std::array<std::byte, kAnswerBytes> bytes;
  for (;;) {
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (got <= 0) return false;
    auto left = static_cast<std::uint32_t>(got);
    for (auto* message = reinterpret_cast<const nlmsghdr*>(bytes.data()); NLMSG_OK(message, left);
         message = NLMSG_NEXT(message, left)) {
      if (message->nlmsg_type == NLMSG_ERROR) return false;
      if (message->nlmsg_type == NLMSG_DONE) return true;
      visit(*message);
      if (!is_list) return true;
    }
  }
}

using VisitAttribute = std::function<void(const rtattr&)>;

void for_each_attribute(const rtattr* first, std::size_t bytes, const VisitAttribute& visit) {
  auto left = static_cast<int>(bytes);
  for (const rtattr* at = first; RTA_OK(at, left); at = RTA_NEXT(at, left))
    visit(*at);
}

template <class Body>
void for_each_attribute(const nlmsghdr& message, const VisitAttribute& visit) {
  const auto* body = reinterpret_cast<const std::byte*>(NLMSG_DATA(&message));
  const std::size_t bytes = message.nlmsg_len - NLMSG_LENGTH(0);
  if (bytes < NLMSG_ALIGN(sizeof(Body))) return;
  for_each_attribute(reinterpret_cast<const rtattr*>(body + NLMSG_ALIGN(sizeof(Body))),
                     bytes - NLMSG_ALIGN(sizeof(Body)), visit);
}

int number_in(const rtattr& attribute) {
  int value = 0;
  if (RTA_PAYLOAD(&attribute) >= sizeof value)
    std::memcpy(&value, RTA_DATA(&attribute), sizeof value);
  return value;
}

std::string text_in(const rtattr& attribute) {
  const char* const text = static_cast<const char*>(RTA_DATA(&attribute));
  return std::string(text, ::strnlen(text, RTA_PAYLOAD(&attribute)));
}

std::size_t bytes_of(IpFamily family) {
  return family == IpFamily::kV4 ? 4 : 16;
}

std::span<const std::uint8_t> bytes_in(const IpAddress& ip) {
  return std::span(ip.bytes).first(bytes_of(ip.family));
}

Link link_in(const nlmsghdr& message) {
  Link link;
  link.index = static_cast<const ifinfomsg*>(NLMSG_DATA(&message))->ifi_index;
  for_each_attribute<ifinfomsg>(message, [&](const rtattr& attribute) {
    if (attribute.rta_type == IFLA_IFNAME) link.name = text_in(attribute);
    if (attribute.rta_type == IFLA_MASTER) link.master = number_in(attribute);
    if (attribute.rta_type != IFLA_LINKINFO) return;
    for_each_attribute(static_cast<const rtattr*>(RTA_DATA(&attribute)), RTA_PAYLOAD(&attribute),
                       [&](const rtattr& inner) {
                         if (inner.rta_type == IFLA_INFO_KIND) link.kind = text_in(inner);
                       });
  });
  return link;
}

KernelRoute route_in(const nlmsghdr& message, IpFamily family) {
  KernelRoute route;
  route.is_local = static_cast<const rtmsg*>(NLMSG_DATA(&message))->rtm_type == RTN_LOCAL;
  for_each_attribute<rtmsg>(message, [&](const rtattr& attribute) {
    if (attribute.rta_type == RTA_OIF) route.interface = number_in(attribute);
    if (attribute.rta_type == RTA_PREFSRC && RTA_PAYLOAD(&attribute) == bytes_of(family)) {
      IpAddress source;
      source.family = family;
      std::memcpy(source.bytes.data(), RTA_DATA(&attribute), bytes_of(family));
      route.source = source;
    }
  });
  return route;
}

}  // namespace

std::vector<Link> read_links() {
  std::vector<Link> links;
  const Fd socket = open_netlink();
  Request<ifinfomsg> request(RTM_GETLINK, NLM_F_DUMP);
  if (!socket.valid() || !request.send(socket.get())) return links;
  const bool ok = read_answer(socket.get(), true, [&](const nlmsghdr& message) {
    if (message.nlmsg_type == RTM_NEWLINK) links.push_back(link_in(message));
  });
  return ok ? links : std::vector<Link>();
}

const Link* find_link(const std::vector<Link>& links, const std::string& name) {
  const auto found = std::ranges::find(links, name, &Link::name);
  return found == links.end() ? nullptr : &*found;
}

const Link* find_link(const std::vector<Link>& links, int index) {
  const auto found = std::ranges::find(links, index, &Link::index);
  return found == links.end() ? nullptr : &*found;
}

std::optional<KernelRoute> find_route(const RouteQuestion& question) {
  const IpFamily family = question.to.family;
  const Fd socket = open_netlink();
  Request<rtmsg> request(RTM_GETROUTE, 0);
  request.body.rtm_family = family == IpFamily::kV4 ? AF_INET : AF_INET6;
  request.body.rtm_dst_len = static_cast<std::uint8_t>(8 * bytes_of(family));
  request.add(RTA_DST, bytes_in(question.to));
  if (question.from) {
    request.body.rtm_src_len = request.body.rtm_dst_len;
    request.add(RTA_SRC, bytes_in(*question.from));
  }
  if (question.interface != 0) {
    request.add(RTA_OIF, question.interface);
    if (family == IpFamily::kV4) request.body.rtm_flags = RTM_F_FIB_MATCH;
  }
  if (!socket.valid() || !request.send(socket.get())) return std::nullopt;
  std::optional<KernelRoute> route;
  const bool ok = read_answer(socket.get(), false, [&](const nlmsghdr& message) {
    if (message.nlmsg_type == RTM_NEWROUTE) route = route_in(message, family);
  });
  if (!ok || !route) return std::nullopt;
  if (question.interface == 0 || route->interface == question.interface) return route;
  // The result for a multipath route has no link; a VRF returns its own link.
  if (route->interface == 0) route->interface = question.interface;
  return route;
}

}  // namespace dlcp::datapath
