// The conclusions from packet filters, reverse-path filters and shared subnets.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "catch.h"
#include "cli/doctor/host/packet_rules.h"

using namespace dlcp;
using namespace dlcp::cli;

namespace {

datapath::Interface card(const char* name, const char* ip) {
  datapath::Interface interface;
  interface.name = name;
  interface.ip = datapath::parse_ip_address(ip).value();
  interface.prefix_bits = 24;
  return interface;
}

}  // namespace

TEST_CASE("rules that block the data ports are named, others are not") {
  const auto levels = [](const char* rules) { return count(judge_ruleset(rules), Level::kWarn); };
  const std::string head =
      "table inet f {\n\tchain in {\n\t\ttype filter hook input priority filter; policy ";
  const auto chain = [&](const char* policy, const std::string& rules) {
    return head + policy + ";\n" + rules + "\t}\n}\n";
  };
  CHECK(levels("") == 0);
  CHECK(levels(chain("accept", "\t\tudp dport 49152-65535 drop\n").c_str()) == 1);
  CHECK(levels(chain("accept", "\t\tudp dport 55000 counter reject\n").c_str()) == 1);
  CHECK(levels(chain("accept", "\t\tudp dport 53 drop\n").c_str()) == 0);
  CHECK(levels(chain("drop", "\t\ttcp dport 22 accept\n").c_str()) == 1);
  CHECK(levels(chain("drop", "\t\tudp dport 49152-65535 accept\n").c_str()) == 0);
  CHECK(levels(chain("drop", "\t\tip saddr 10.0.0.0/8 accept\n").c_str()) == 0);
}

TEST_CASE("two NICs in one subnet are a warning, NICs in two subnets are not") {
  const auto first = card("eth0", "10.0.0.1");
  const auto second = card("eth1", "10.0.0.2");
  const auto apart = card("eth1", "10.0.1.1");
  CHECK(check_shared_subnets({first, apart}, {first, apart}).empty());
  const auto findings = check_shared_subnets({first, second}, {first, second});
  REQUIRE(findings.size() == 1);
  CHECK_THAT(findings[0].value, Contains("eth0 and eth1 are both in 10.0.0.0/24"));
}

TEST_CASE("a NIC that the job does not use may receive the packets for one in the same subnet") {
  const auto used = card("eth1", "10.0.0.2");
  const auto unused = card("eth0", "10.0.0.1");
  const auto other = card("eth2", "10.0.0.3");
  CHECK(check_shared_subnets({used}, {unused, used}).size() == 1);
  CHECK(check_shared_subnets({card("eth3", "10.0.3.1")}, {unused, other}).empty());
}

TEST_CASE("a service address on loopback does not compete with a NIC of the same subnet") {
  const auto nic = card("eth0", "10.0.0.1");
  auto lo = card("lo", "10.0.0.7");
  lo.is_loopback = true;
  CHECK(check_shared_subnets({nic}, {lo, nic}).empty());
}

TEST_CASE("a strict reverse-path filter is a risk if another NIC is in the same subnet") {
  std::string proc = (std::filesystem::temp_directory_path() / "dlcp-filter-XXXXXX").string();
  REQUIRE(::mkdtemp(proc.data()) != nullptr);
  const std::filesystem::path conf = proc + "/sys/net/ipv4/conf/eth1";
  std::filesystem::create_directories(conf);
  std::ofstream(conf / "rp_filter") << 1;
  const auto used = card("eth1", "10.0.0.2");
  const auto judge = [&](const datapath::Interface& unused) {
    return check_reverse_path_filter({used}, {unused, used}, proc);
  };
  CHECK(judge(card("eth0", "10.0.1.1")).empty());
  const auto findings = judge(card("eth0", "10.0.0.1"));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].level == Level::kWarn);
  CHECK_THAT(findings[0].value, Contains("strict on eth1"));
  std::filesystem::remove_all(proc);
}
