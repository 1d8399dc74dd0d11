#include "engine/opening/peer_trouble.h"

#include <fmt/format.h>

#include "datapath/address/device_address.h"
#include "datapath/udp/interfaces/interfaces.h"

namespace dlcp::engine {
namespace {

using Kind = datapath::PathReport::Kind;

constexpr const char* kPorts = "UDP ports 49152-65535";

// A report and its possible causes. `report` completes the sentence that describes the
// observation.
struct Explanation {
  std::string report;
  std::string causes;
};

std::string test_command(const PeerTrouble& trouble) {
  return fmt::format(
      "test with `dlcp doctor --listen` on that host and `dlcp doctor --peer {}` here",
      trouble.host.empty() ? "HOST" : trouble.host);
}

Explanation port_unreachable(const PeerTrouble& trouble, bool by_peer, const std::string& speaker) {
  const std::string report = fmt::format("{} answers with ICMP port unreachable", speaker);
  if (by_peer)
    return {report, fmt::format("either that rank has ended, or a firewall there rejects {}: see "
                                "that rank's log and exit status",
                                kPorts)};
  const std::string ports =
      trouble.host.empty() ? kPorts : fmt::format("{} to {}", kPorts, trouble.host);
  return {report,
          fmt::format("a firewall or NAT between the hosts rejects {}: let them pass both ways",
                      ports)};
}

Explanation unreachable(const PeerTrouble& trouble, const std::string& speaker) {
  if (trouble.report.from.empty())
    return {"this host's kernel reports the host as unreachable",
            fmt::format("either that host is down or not connected, or its address is not in "
                        "the subnet of this interface: see `ip neigh show {0}` and `ip route "
                        "get {0}`",
                        trouble.host)};
  return {fmt::format("{} answers with ICMP host or network unreachable", speaker),
          fmt::format("either that host is down or not connected, or a router on the path has no "
                      "route: see `ip route get {}` here and on the routers",
                      trouble.host)};
}

Explanation explanation_of(const PeerTrouble& trouble) {
  const std::string& from = trouble.report.from;
  const bool by_peer = from == trouble.host;
  const std::string speaker = by_peer        ? "its host"
                              : from.empty() ? "this host"
                                             : fmt::format("{}, on the path,", from);
  switch (trouble.report.kind) {
    case Kind::kPortUnreachable:
      return port_unreachable(trouble, by_peer || from.empty(), speaker);
    case Kind::kProhibited:
      if (from.empty())
        return {"this host's kernel forbids outgoing packets",
                fmt::format(
                    "either a routing rule or route prohibits them (`ip rule`, `ip route "
                    "get {} ipproto udp`), or a packet filter or security policy (SELinux) does",
                    trouble.host)};
      return {fmt::format("{} answers with ICMP administratively prohibited", speaker),
              fmt::format("a firewall rejects {}: let them pass both ways", kPorts)};
    case Kind::kUnreachable:
      return unreachable(trouble, speaker);
    case Kind::kNoRoute:
      return {fmt::format("this host has no route to {}", trouble.host),
              fmt::format("choose interfaces on both hosts that reach each other "
                          "(NCCL_SOCKET_IFNAME), or add a route: see `ip route get {} ipproto "
                          "udp` and `ip rule`",
                          trouble.host)};
    case Kind::kNoAddress:
      return {fmt::format("this host no longer has its address {}", from),
              "either it was removed or changed, as by a renewed DHCP lease or a network restart, "
              "or its interface is gone: see `ip address` and the log of the network manager"};
    case Kind::kNotPermitted:
      return {"this host's packet filter rejects outgoing packets",
              fmt::format("let {} pass in the output rules (`nft list ruleset`, `iptables -S`)",
                          kPorts)};
    case Kind::kNothing:
      break;
  }
  if (trouble.seen.fault == PeerFault::kRejects)
    return {"",
            fmt::format("either that rank has ended, or a firewall rejects {}: see that rank's log "
                        "and exit status",
                        kPorts)};
  return {"", fmt::format(
                  "either that rank hangs or has ended with its host, or {} do not pass "
                  "in one direction, {}or NAT changes addresses on the path: see that "
                  "rank's log",
                  kPorts,
                  trouble.needs_marks ? "or packets with DSCPs or ECN bits are dropped, " : "")};
}

}  // namespace

Error explain(const PeerTrouble& trouble) {
  Error error = trouble.seen;
  if (!trouble.peer.empty()) error.what += fmt::format(" (peer {})", trouble.peer);
  if (error.fault == PeerFault::kNone) return error;
  const auto [report, causes] = explanation_of(trouble);
  if (!report.empty()) error.what += "; " + report;
  error.hint = fmt::format("{}; {}", causes, test_command(trouble));
  if (trouble.is_own_address)
    error.hint += fmt::format(
        "; if that rank runs on another host: this host also has the address {}, so give each "
        "host or container an address of its own (containers: --network host)",
        trouble.host);
  return error;
}

std::optional<LogLine> refusal_of(const datapath::Datapath& datapath,
                                  const datapath::RefusedPeer& peer) {
  PeerTrouble trouble;
  trouble.report = datapath.report_of(peer);
  const Kind kind = trouble.report.kind;
  if (kind == Kind::kNothing) return std::nullopt;
  trouble.peer = datapath.describe(peer.address);
  if (const auto address = datapath::decode_device_address(peer.address))
    trouble.host = to_string(address->ip);
  const bool is_forbidden = kind == Kind::kNotPermitted || kind == Kind::kProhibited;
  const auto [report, causes] = explanation_of(trouble);
  return LogLine{is_forbidden ? LogLevel::kWarn : LogLevel::kInfo,
                 fmt::format("cannot send to {}: {}; {}", trouble.peer, report, causes)};
}

std::string explain_unmarked(const wire::EndpointAddress& peer) {
  PeerTrouble trouble;
  if (const auto address = datapath::decode_device_address(peer))
    trouble.host = to_string(address->ip);
  return fmt::format(
      "only packets without marks get through between this host and {}: the network drops packets "
      "with a DSCP or with ECN bits. All packets to that host go without them from now on, so "
      "switches cannot give them queues of their own or report congestion. Let firewalls, routers "
      "and switches pass both, or choose other DSCPs (DLCP_CLASSES); {}",
      trouble.host.empty() ? "a peer" : trouble.host, test_command(trouble));
}

PeerTrouble trouble_of(const datapath::Datapath& datapath, const core::Event& closed, Time now,
                       Duration memory) {
  PeerTrouble trouble;
  trouble.seen = closed.error;
  trouble.peer = datapath.describe(closed.peer);
  const auto address = datapath::decode_device_address(closed.peer);
  if (!address || closed.error.fault == PeerFault::kNone) return trouble;
  trouble.host = to_string(address->ip);
  // Only a connection that is being opened tries both kinds of packets.
  trouble.needs_marks = !datapath.limits().can_unmark || !closed.ends_alone;
  const auto report = datapath.last_report(closed.peer);
  if (now - report.at <= memory) trouble.report = report;
  trouble.is_own_address = !datapath::interface_of(address->ip).empty();
  return trouble;
}

}  // namespace dlcp::engine
