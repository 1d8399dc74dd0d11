// The doctor's conclusions from given measurements; nothing here uses the network.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "catch.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/host/host_checks.h"
#include "cli/doctor/nccl/collnet_check.h"
#include "cli/doctor/nccl/nccl_checks.h"
#include "cli/doctor/nccl/net_abi.h"
#include "cli/doctor/path/path_report.h"
#include "cli/doctor/peer/pair_check.h"
#include "cli/doctor/peer/peer_name.h"

using namespace dlcp;
using namespace dlcp::cli;

namespace {

PathMeasurement healthy() {
  PathMeasurement m;
  m.answers = true;
  m.there.open = {50000, 60000};
  m.back.open = {51000, 61000};
  m.route_mtu = m.mtu_forward = m.mtu_both = 9000;
  m.mtu_needed = 576;
  for (const TrafficClassRow& row : kTrafficClasses)
    m.marks.push_back({row.traffic_class, tos_of(row), tos_of(row), tos_of(row)});
  for (std::uint16_t port = 50000; port < 50016; ++port)
    m.lanes.push_back({port, 100, 100, 100, 50us, 90us});
  return m;
}

Finding find(const Findings& findings, const std::string& check) {
  for (const Finding& finding : findings)
    if (finding.check == check && finding.level != Level::kOk) return finding;
  for (const Finding& finding : findings)
    if (finding.check == check) return finding;
  return {};
}

}  // namespace

TEST_CASE("a healthy path has no findings") {
  const Findings findings = judge(healthy());
  CHECK(count(findings, Level::kOk) == findings.size());
  CHECK(findings.size() == 5);
}

TEST_CASE("closed ports are named with the range and the direction") {
  PathMeasurement closed;
  closed.there.closed = {50000, 60000};
  closed.back.open = {51000};
  Findings findings = judge(closed);
  CHECK(findings.size() == 1);  // there is no other finding
  CHECK(find(findings, "path_ports").level == Level::kFail);
  CHECK(find(findings, "path_ports").value == "UDP 49152-65535 is closed towards the peer");
  CHECK_THAT(find(findings, "path_ports").fix, Contains("udp dport 49152-65535 accept"));

  PathMeasurement one_way = healthy();
  one_way.back = {{}, {51000, 61000}, {}};
  CHECK(find(judge(one_way), "path_ports").value ==
        "UDP 49152-65535 is closed from the peer to this host");

  PathMeasurement unanswered = closed;
  unanswered.there = {{50000}, {}, {}};
  CHECK_THAT(find(judge(unanswered), "path_ports").value, Contains("no answer reaches this host"));

  PathMeasurement partly = healthy();
  partly.there.closed = {49200, 50100, 50200};
  CHECK_THAT(
      find(judge(partly), "path_ports").value,
      Contains("of 5 UDP ports tried towards the peer, 3 are closed: 49200-50200 (3 ports)"));
}

TEST_CASE("findings are wrapped next to their names") {
  const Findings findings = {{"path_mtu", Level::kWarn, "a value of several words", "raise it"}};
  CHECK(to_text(findings, 40) ==
        "warn  path_mtu        a value of several\n"
        "                      words\n"
        "                      fix: raise it\n");
  const Findings same(2, {"pair", Level::kFail, "one", "open the ports"});
  CHECK(to_text(same, 80) ==
        "fail  pair            one\n"
        "fail  pair            one\n"
        "                      fix for 2 rows: open the ports\n");
}

TEST_CASE("a path with a smaller MTU than its interface is a warning with the direction") {
  PathMeasurement m = healthy();
  m.mtu_both = 1500;
  const Finding finding = find(judge(m), "path_mtu");
  CHECK(finding.level == Level::kWarn);
  CHECK_THAT(finding.value, Contains("way back"));
  CHECK_THAT(finding.fix, Contains("DLCP_MTU=1500"));
}

TEST_CASE("a path is a failure only if its MTU is below the one that jobs need") {
  PathMeasurement m = healthy();
  m.mtu_forward = m.mtu_both = 576;
  CHECK(find(judge(m), "path_mtu").level == Level::kWarn);
  m.mtu_forward = m.mtu_both = 575;
  CHECK(find(judge(m), "path_mtu").level == Level::kFail);
  CHECK_THAT(find(judge(m), "path_mtu").fix, Contains("packets of at least 576 bytes"));
}

TEST_CASE("a rewritten DSCP is named with both values and the direction") {
  PathMeasurement m = healthy();
  m.marks[1].back = 0;  // class exact: DSCP 18, ECT(0)
  const Finding finding = find(judge(m), "path_marks");
  CHECK(finding.level == Level::kWarn);
  CHECK_THAT(finding.value, Contains("exact"));
  CHECK_THAT(finding.value, Contains("way back DSCP 18 arrives as 0, ECN 2 arrives as 0"));
  CHECK(finding.value.find("way there") == std::string::npos);
}

TEST_CASE("a congestion mark does not count as a rewritten mark, but an added one does") {
  PathMeasurement m = healthy();
  *m.marks[1].forward |= 3;  // ECT(0) became CE
  CHECK(find(judge(m), "path_marks").level == Level::kOk);
  *m.marks[3].forward |= 3;  // not ECN-capable became CE
  CHECK_THAT(find(judge(m), "path_marks").value, Contains("ECN 0 arrives as 3"));
}

TEST_CASE("a class that gets no answer is a warning, which tells if jobs send without marks") {
  const auto without = [](TrafficClass dropped) {
    PathMeasurement m = healthy();
    MarkResult& mark = m.marks[static_cast<std::size_t>(dropped)];
    mark.forward = mark.back = std::nullopt;
    return find(judge(m), "path_marks");
  };
  const Finding control = without(TrafficClass::kControl);
  CHECK(control.level == Level::kWarn);
  CHECK(control.value ==
        "class control: packets with DSCP 40 and ECN get no answer; packets without marks do, and "
        "jobs send all packets without marks");
  CHECK_THAT(control.fix, Contains("control.dscp = 0"));
  CHECK_THAT(without(TrafficClass::kExact).value, Contains("jobs send all packets without"));
  CHECK(without(TrafficClass::kBulkDroppable).value ==
        "class bulk-droppable: packets with DSCP 14 get no answer; packets without marks do");
}

TEST_CASE("congestion marks on all probes of data are a warning with the direction") {
  PathMeasurement m = healthy();
  for (LaneResult& lane : m.lanes)
    lane.marked_there = lane.replies;
  const Finding finding = find(judge(m), "path_marks");
  CHECK(finding.level == Level::kWarn);
  CHECK(finding.value ==
        "all 1600 probes of class exact arrive with a congestion mark towards the peer");
  CHECK_THAT(finding.fix, Contains("ECN threshold"));
  --m.lanes[0].marked_there;
  CHECK(find(judge(m), "path_marks").level == Level::kOk);
}

TEST_CASE("loss is a warning up to one percent, and a failure above or if a path is dead") {
  PathMeasurement m = healthy();
  m.lanes[0].replies = m.lanes[0].seen = 84;  // 16 of 1600
  CHECK(find(judge(m), "path_loss").level == Level::kWarn);
  m.lanes[0].replies = m.lanes[0].seen = 83;
  const Finding lossy = find(judge(m), "path_loss");
  CHECK(lossy.level == Level::kFail);
  CHECK_THAT(lossy.fix, Contains("one link"));
  m.lanes[0].replies = m.lanes[0].seen = 0;
  CHECK_THAT(find(judge(m), "path_loss").value, Contains("1 carry nothing"));
}

TEST_CASE("loss is reported by direction") {
  PathMeasurement m = healthy();
  for (LaneResult& lane : m.lanes)
    lane.replies = 90;  // the peer received all 100
  CHECK_THAT(find(judge(m), "path_loss").value, Contains("0.00% there, 10.00% back"));
}

TEST_CASE("a path much slower than the best is a warning") {
  PathMeasurement m = healthy();
  m.lanes[3].rtt_median = 350us;
  CHECK(find(judge(m), "path_delay").level == Level::kOk);
  m.lanes[3].rtt_median = 351us;
  CHECK(find(judge(m), "path_delay").level == Level::kWarn);
}

TEST_CASE("the table has the first rows and the number of the rest") {
  const std::string table = lane_table(healthy(), 3);
  CHECK_THAT(table, Contains("50002"));
  CHECK(table.find("50003") == std::string::npos);
  CHECK_THAT(table, Contains("13 better paths not shown"));
}

TEST_CASE("every NCCL release is matched with the newest net ABI that it looks up") {
  CHECK(newest_net_abi(21304) == 6);
  CHECK(newest_net_abi(21903) == 7);
  CHECK(newest_net_abi(22005) == 8);
  CHECK(newest_net_abi(22403) == 9);
  CHECK(newest_net_abi(22602) == 10);
  CHECK(newest_net_abi(22809) == 11);
  CHECK(newest_net_abi(23007) == 12);
  CHECK(newest_net_abi(21210) == 0);
  CHECK(net_abi_taken(23007) == 12);
  CHECK(net_abi_taken(21903) == 6);  // DLCP has no v7, and this NCCL also accepts v6
  CHECK(net_abi_taken(21210) == 0);
  CHECK(nccl_version_text(22809) == "2.28.9");
}

TEST_CASE("a kernel without UDP GRO is a warning") {
  CHECK(check_kernel("4.19.0").level == Level::kWarn);
  CHECK(check_kernel("5.3.1").level == Level::kWarn);
  CHECK(check_kernel("5.4.0-100-generic").level == Level::kOk);
  CHECK(check_kernel("6.1.0-18-amd64").level == Level::kOk);
  CHECK(check_kernel("unheard of").level == Level::kWarn);
}

TEST_CASE("a peer is a host or address, with or without a port") {
  const auto text = [](const char* peer) {
    const auto found = resolve_peer(peer);
    return datapath::to_string(found.value().address) + " " +
           std::to_string(found.value().port.value_or(0));
  };
  CHECK(text("127.0.0.1") == "127.0.0.1 0");
  CHECK(text("127.0.0.1:81") == "127.0.0.1 81");
  CHECK(text("::1") == "::1 0");
  CHECK(text("[::1]:81") == "::1 81");
  CHECK(text("[::1]") == "::1 0");
  for (const char* wrong :
       {"", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", "127.0.0.1:81x", "[::1:81"}) {
    CAPTURE(wrong);
    CHECK_FALSE(resolve_peer(wrong));
  }
  CHECK_THAT(resolve_peer("fe80::1").error().message(), Contains("fe80::1%eth0"));
}

TEST_CASE(
    "an NCCL release that drops the plugin's name is reported, with the setting that prevents it") {
  for (const int version : {22703, 22800, 23003, 23007})
    CHECK(judge_reload(version, false, false).level == Level::kOk);
  for (const int version : {22803, 22809, 22907, 23002}) {
    const Finding forgets = judge_reload(version, false, false);
    CHECK(forgets.level == Level::kWarn);
    CHECK_THAT(forgets.value, Contains("drops the plugin name (NCCL_NET_PLUGIN)"));
    CHECK(forgets.fix == "export NCCL_NET_PLUGIN_REF_COUNT=1");
    CHECK(judge_reload(version, true, false).level == Level::kOk);
    CHECK_THAT(judge_reload(version, false, true).value,
               Contains("libnccl-net.so, which is DLCP,"));
  }
}

TEST_CASE("a stale plugin in the loader's path is reported, with the tool's version") {
  const auto judged = [](const std::string& version, bool same) {
    return judge_plugin_version("/usr/lib/libnccl-net-dlcp.so", version,
                                "/opt/my dlcp/lib/libnccl-net-dlcp.so", same);
  };
  CHECK(judged(DLCP_VERSION, true).level == Level::kOk);
  const Finding stale = judged("0.0.9", false);
  CHECK(stale.level == Level::kWarn);
  CHECK_THAT(stale.value, Contains("/usr/lib/libnccl-net-dlcp.so (version 0.0.9)"));
  CHECK_THAT(stale.value, Contains("this program has version " DLCP_VERSION));
  CHECK_THAT(stale.fix, Contains("LD_LIBRARY_PATH='/opt/my dlcp/lib':"));
  CHECK_THAT(judged("", false).value, Contains("it reports no version"));
  CHECK(judged(DLCP_VERSION, false).level == Level::kWarn);
  CHECK_THAT(judged(DLCP_VERSION, false).value, Contains("a different build"));
  CHECK(judge_plugin_version("/a", DLCP_VERSION, "", false).level == Level::kOk);
  CHECK_THAT(judge_plugin_version("/a", "0.0.9", "", false).fix, Contains("of this release"));
}

TEST_CASE("whether sums use a switch is reported with the reason") {
  CollnetState state{.nccl_version = 23007};
  state.by_switch = "10.0.0.9";
  CHECK(judge_collnet(state).level == Level::kWarn);
  CHECK_THAT(judge_collnet(state).value, Contains("DLCP_COLLNET_SWITCH has no effect"));
  state.offered = true;
  CHECK(judge_collnet(state).level == Level::kOk);
  CHECK_THAT(judge_collnet(state).value,
             Contains("the switch 10.0.0.9 adds float32 sums, with rounding"));
  state.nccl_version = 22707;
  CHECK(judge_collnet(state).level == Level::kWarn);
  CHECK_THAT(judge_collnet(state).value, Contains("no sum uses the switch"));
  state.switch_fault = "'x' is not a port";
  CHECK(judge_collnet(state).level == Level::kFail);
  CHECK_THAT(judge_collnet(state).value, Contains("'x' is not a port"));
}

TEST_CASE("whether direct exchange is on is reported with the reason") {
  CollnetState state{.nccl_version = 23007};
  CHECK(judge_collnet(state).level == Level::kOk);
  CHECK_THAT(judge_collnet(state).value, Contains("off: NCCL_COLLNET_ENABLE is not 1"));
  state.by_plan = true;
  CHECK(judge_collnet(state).level == Level::kWarn);
  CHECK_THAT(judge_collnet(state).value, Contains("DLCP_PLAN has no effect"));
  state.by_plan = false;
  state.offered = true;
  CHECK_THAT(judge_collnet(state).value, Contains("on: ") && Contains("exact"));
  state.loss_budget_ppm = 10'000;
  CHECK_THAT(judge_collnet(state).value, Contains("sums of floats may lose 1%"));
  state.hubs = "a,b:1";
  CHECK_THAT(judge_collnet(state).value, Contains("on: all-reduces may use the hubs a,b:1"));
  state.bad_hubs = "'a,' is not a hub";
  CHECK(judge_collnet(state).level == Level::kWarn);
  CHECK_THAT(judge_collnet(state).value, Contains("off: DLCP_COLLNET_HUBS: 'a,' is not a hub"));
  state.bad_hubs = "";
  state.nccl_version = 22707;
  CHECK_THAT(judge_collnet(state).value, Contains("exact, because NCCL 2.27.7 does not report"));
  state.nccl_version = 21903;
  CHECK(judge_collnet(state).level == Level::kWarn);
  CHECK_THAT(judge_collnet(state).value, Contains("too old"));
  state.refused = true;
  CHECK_THAT(judge_collnet(state).value, Contains("DLCP_COLLNET=off disables"));
}

namespace {

PairResult pair_of(std::size_t here, std::size_t there, bool works) {
  const auto device = [](const char* net, std::size_t number) {
    return NamedDevice{fmt::format("eth{}", number),
                       datapath::parse_ip_address(fmt::format("10.{}.{}.1", net, number)).value()};
  };
  PairResult pair{device("1", here), device("2", there), here, there, {}, {}, {}, 0};
  pair.seen = DeviceAnswer{pair.here.ip, 50'000, {}};
  pair.sent_from = 50'000;
  if (!works) {
    pair.trouble = "no answer at UDP port 48555 or 61555";
    return pair;
  }
  PathMeasurement measured;
  measured.there.open = measured.back.open = {50'000};
  measured.answers = true;
  measured.route_mtu = measured.mtu_forward = measured.mtu_both = 1500;
  measured.mtu_needed = 576;
  measured.lanes.push_back({});
  pair.measurement = measured;
  return pair;
}

}  // namespace

TEST_CASE("the verdict names each device's pair, or the first problem to fix") {
  const std::vector<PairResult> both = {pair_of(0, 0, true), pair_of(0, 1, false),
                                        pair_of(1, 0, false), pair_of(1, 1, true)};
  CHECK(count(judge(both), Level::kFail) == 0);
  CHECK(verdict(both, judge(both), "10.2.0.1").value ==
        "NCCL will use DLCP between these hosts over eth0 (10.1.0.1) to eth0 (10.2.0.1), eth1 "
        "(10.1.1.1) to eth1 (10.2.1.1)");
  const std::vector<PairResult> crossed = {pair_of(0, 0, false), pair_of(0, 1, true),
                                           pair_of(1, 0, true), pair_of(1, 1, false)};
  CHECK(count(judge(crossed), Level::kWarn) == 2);
  CHECK(verdict(crossed, judge(crossed), "10.2.0.1").value ==
        "NCCL will use DLCP between these hosts over eth0 (10.1.0.1) to eth1 (10.2.1.1), eth1 "
        "(10.1.1.1) to eth0 (10.2.0.1)");
  const std::vector<PairResult> half = {pair_of(0, 0, true), pair_of(0, 1, false),
                                        pair_of(1, 0, false), pair_of(1, 1, false)};
  CHECK(count(judge(half), Level::kWarn) == 1);
  CHECK(verdict(half, judge(half), "10.2.0.1").value ==
        "NCCL will use DLCP between these hosts over eth0 (10.1.0.1) to eth0 (10.2.0.1); "
        "connections of eth1 use these addresses, too");
  const std::vector<PairResult> none = {pair_of(0, 0, false)};
  const Finding last = verdict(none, judge(none), "10.2.0.1");
  CHECK(last.level == Level::kFail);
  CHECK(last.value ==
        "NCCL cannot use DLCP between these hosts; first problem: pair: eth0 (10.1.0.1) to eth0 "
        "(10.2.0.1): no answer at UDP port 48555 or 61555");
  CHECK_FALSE(last.fix.empty());
}

TEST_CASE("a pair whose network drops the marks of the class control works") {
  PairResult pair = pair_of(0, 0, true);
  const auto tos = tos_of(row_of(TrafficClass::kControl));
  pair.measurement->marks.push_back({TrafficClass::kControl, tos, tos, tos});
  CHECK(pair.works());
  pair.measurement->marks[0].forward = pair.measurement->marks[0].back = std::nullopt;
  CHECK(pair.works());
  const std::vector<PairResult> pairs = {pair};
  CHECK(verdict(pairs, judge(pairs), "10.2.0.1").level == Level::kOk);
}

TEST_CASE("an address or port that the peer sees differently means NAT") {
  PairResult pair = pair_of(0, 0, true);
  CHECK_FALSE(pair.is_translated());
  pair.seen->seen_port = 20'000;
  CHECK(pair.is_translated());
  CHECK_FALSE(pair.works());
  const Findings findings = judge(std::vector{pair});
  CHECK_THAT(findings[0].value,
             Contains("NAT: 10.1.0.1:50000 of this host appears as 10.1.0.1:20000 at the peer"));
  PairResult back = pair_of(0, 0, true);
  back.measurement->back.other_sender = datapath::parse_ip_address("192.0.2.1").value();
  CHECK(back.is_translated());
  CHECK_THAT(judge(std::vector{back})[0].value,
             Contains("NAT: packets that the peer initiates arrive from 192.0.2.1"));
}
