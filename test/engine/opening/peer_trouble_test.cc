// Every text about a peer that is unreachable or gone.
#include "engine/opening/peer_trouble.h"

#include <string>
#include <vector>

#include "catch.h"
#include "core/liveness/peer_errors.h"
#include "datapath/address/device_address.h"

namespace dlcp::engine {
namespace {

using Kind = datapath::PathReport::Kind;

constexpr const char* kTest =
    "; test with `dlcp doctor --listen` on that host and `dlcp doctor --peer 10.0.0.2` here";

PeerTrouble silent(Kind kind = Kind::kNothing, const std::string& from = "10.0.0.2") {
  PeerTrouble trouble;
  trouble.seen = core::peer_silent(core::Silence::kNoAnswer, 4s, "the connection was being opened");
  trouble.peer = "10.0.0.2:50123";
  trouble.host = "10.0.0.2";
  trouble.report = {kind, from, {}};
  return trouble;
}

PeerTrouble rejected(Kind kind, const std::string& from = "10.0.0.2") {
  PeerTrouble trouble = silent(kind, from);
  trouble.seen = core::peer_gone();
  return trouble;
}

struct Row {
  PeerTrouble trouble;
  std::string what;  // after the core's observation
  std::string hint;  // before the test command
};

TEST_CASE("every network error has a text that names all causes that fit it") {
  const std::vector<Row> rows = {
      {silent(), "",
       "either that rank hangs or has ended with its host, or UDP ports 49152-65535 do not pass in "
       "one direction, or NAT changes addresses on the path: see that rank's log"},
      {silent(Kind::kPortUnreachable), "; its host answers with ICMP port unreachable",
       "either that rank has ended, or a firewall there rejects UDP ports 49152-65535: see that "
       "rank's log and exit status"},
      {rejected(Kind::kPortUnreachable), "; its host answers with ICMP port unreachable",
       "either that rank has ended, or a firewall there rejects UDP ports 49152-65535: see that "
       "rank's log and exit status"},
      {rejected(Kind::kNothing), "",
       "either that rank has ended, or a firewall rejects UDP ports 49152-65535: see that rank's "
       "log and exit status"},
      {silent(Kind::kPortUnreachable, ""), "; this host answers with ICMP port unreachable",
       "either that rank has ended, or a firewall there rejects UDP ports 49152-65535: see that "
       "rank's log and exit status"},
      {silent(Kind::kPortUnreachable, "10.9.0.1"),
       "; 10.9.0.1, on the path, answers with ICMP port unreachable",
       "a firewall or NAT between the hosts rejects UDP ports 49152-65535 to 10.0.0.2: let them "
       "pass both ways"},
      {rejected(Kind::kProhibited), "; its host answers with ICMP administratively prohibited",
       "a firewall rejects UDP ports 49152-65535: let them pass both ways"},
      {silent(Kind::kProhibited, "10.9.0.1"),
       "; 10.9.0.1, on the path, answers with ICMP administratively prohibited",
       "a firewall rejects UDP ports 49152-65535: let them pass both ways"},
      {silent(Kind::kUnreachable, "10.9.0.1"),
       "; 10.9.0.1, on the path, answers with ICMP host or network unreachable",
       "either that host is down or not connected, or a router on the path has no route: see `ip "
       "route get 10.0.0.2` here and on the routers"},
      {silent(Kind::kUnreachable, ""), "; this host's kernel reports the host as unreachable",
       "either that host is down or not connected, or its address is not in the subnet of this "
       "interface: see `ip neigh show 10.0.0.2` and `ip route get 10.0.0.2`"},
      {silent(Kind::kNoRoute, ""), "; this host has no route to 10.0.0.2",
       "choose interfaces on both hosts that reach each other (NCCL_SOCKET_IFNAME), or add a "
       "route: "
       "see `ip route get 10.0.0.2 ipproto udp` and `ip rule`"},
      {silent(Kind::kNoAddress, "10.0.0.1"), "; this host no longer has its address 10.0.0.1",
       "either it was removed or changed, as by a renewed DHCP lease or a network restart, or its "
       "interface is gone: see `ip address` and the log of the network manager"},
      {silent(Kind::kNotPermitted, ""), "; this host's packet filter rejects outgoing packets",
       "let UDP ports 49152-65535 pass in the output rules (`nft list ruleset`, `iptables -S`)"},
      {silent(Kind::kProhibited, ""), "; this host's kernel forbids outgoing packets",
       "either a routing rule or route prohibits them (`ip rule`, `ip route get 10.0.0.2 ipproto "
       "udp`), or a packet filter or security policy (SELinux) does"},
  };
  for (const Row& row : rows) {
    const Error error = explain(row.trouble);
    CHECK(error.code == ErrorCode::kRemote);
    CHECK(error.what == row.trouble.seen.what + " (peer 10.0.0.2:50123)" + row.what);
    CHECK(error.hint == row.hint + kTest);
  }
}

TEST_CASE("dropped marks are a cause of silence unless packets without them were tried") {
  PeerTrouble trouble = silent();
  CHECK(explain(trouble).hint.find("DSCPs") == std::string::npos);
  trouble.needs_marks = true;
  CHECK(explain(trouble).hint.find("or packets with DSCPs or ECN bits are dropped, or NAT") !=
        std::string::npos);
}

TEST_CASE("no text claims that a process has ended if another cause is possible") {
  for (const Kind kind :
       {Kind::kNothing, Kind::kPortUnreachable, Kind::kProhibited, Kind::kUnreachable,
        Kind::kNoRoute, Kind::kNoAddress, Kind::kNotPermitted}) {
    for (const PeerTrouble& trouble : {silent(kind), rejected(kind), silent(kind, "")}) {
      const std::string text = explain(trouble).message();
      const auto ended = text.find("has ended");
      CHECK((ended == text.npos || text.rfind("either", ended) != text.npos));
    }
  }
}

TEST_CASE("an address that this host has as well is mentioned") {
  PeerTrouble trouble = rejected(Kind::kPortUnreachable, "");
  trouble.is_own_address = true;
  CHECK(explain(trouble).hint.ends_with(
      "; if that rank runs on another host: this host also has the address 10.0.0.2, so give each "
      "host or container an address of its own (containers: --network host)"));
}

TEST_CASE("the peer's own message is passed on with only its address added") {
  PeerTrouble trouble = silent(Kind::kProhibited);
  trouble.seen = {ErrorCode::kRemote, "the peer reported an error: no memory",
                  "see the peer's log"};
  const Error error = explain(trouble);
  CHECK(error.what == "the peer reported an error: no memory (peer 10.0.0.2:50123)");
  CHECK(error.hint == "see the peer's log");
}

// Its last report is an old one about another error.
class RefusingDatapath final : public datapath::Datapath {
 public:
  explicit RefusingDatapath(Kind kind) { report_.kind = kind; }

  std::string_view name() const override { return "refusing"; }
  const wire::EndpointAddress& local_address() const override { return address_; }
  std::string describe(const wire::EndpointAddress&) const override { return "10.0.0.2:50123"; }
  std::size_t send(std::span<const wire::TxPacket>) override { return 0; }
  std::size_t receive(Time, std::span<wire::RxPacket>) override { return 0; }
  int wait_descriptor() const override { return -1; }
  datapath::Limits limits() const override { return {}; }
  datapath::PathReport last_report(const wire::EndpointAddress&) const override {
    return {Kind::kNotPermitted, "", {}};
  }
  datapath::PathReport report_of(const datapath::RefusedPeer&) const override { return report_; }

 private:
  wire::EndpointAddress address_;
  datapath::PathReport report_;
};

TEST_CASE("the warning about a network that drops marks names the host, the effect and the test") {
  datapath::DeviceAddress peer;
  peer.ip = datapath::parse_ip_address("10.0.0.2").value();
  peer.add(datapath::LocatorKind::kUdpPort, 50123);
  const std::string text = explain_unmarked(encode(peer));
  for (const char* part :
       {"10.0.0.2", "DSCP", "ECN", "DLCP_CLASSES", "`dlcp doctor --peer 10.0.0.2`"})
    CHECK(text.find(part) != text.npos);
}

TEST_CASE("the line about a refused peer names only the cause of the refused send") {
  const auto line_of = [](Kind kind) {
    return refusal_of(RefusingDatapath(kind), datapath::RefusedPeer{});
  };
  CHECK_FALSE(line_of(Kind::kNothing));
  const auto filtered = line_of(Kind::kNotPermitted);
  REQUIRE(filtered);
  CHECK(filtered->level == LogLevel::kWarn);
  CHECK(filtered->text ==
        "cannot send to 10.0.0.2:50123: this host's packet filter rejects outgoing packets; let "
        "UDP ports 49152-65535 pass in the output rules (`nft list ruleset`, `iptables -S`)");
  const auto unrouted = line_of(Kind::kNoRoute);
  REQUIRE(unrouted);
  CHECK(unrouted->level == LogLevel::kInfo);
}

}  // namespace
}  // namespace dlcp::engine
