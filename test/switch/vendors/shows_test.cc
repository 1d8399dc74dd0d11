// The output of switches' show commands, read as each target's data describes it and compared with
// the plan.
#include "catch.h"
#include "switch/vendor_plan.h"

using namespace dlcp;
using namespace dlcp::fabric;
using namespace dlcp::test;

namespace {

// "VERDICT qQUEUE what" for each finding, or the problems.
std::string said(const std::string& os, const std::string& file, const std::string& port,
                 const std::string& captured) {
  const auto& vendor = *find_vendor(os);
  const auto running = read_text(std::string(DLCP_SWITCH_DATA) + "/" + os + "/" + file);
  const auto plan = make_plan(import_text(vendor, running), {port}, {});
  const auto judged = vendor.verify(plan, {"captured", captured});
  std::string text;
  for (const auto& problem : judged.problems)
    text += to_text(problem);
  if (judged.value)
    for (const Finding& finding : *judged.value)
      text += std::to_string(static_cast<int>(finding.verdict)) + " q" +
              std::to_string(finding.queue) + " " + text_of(finding) + "\n";
  return text;
}

constexpr const char* kEosTable =
    "Port         TxQ    Counter/pkts   Counter/bytes   Drop/pkts   Drop/bytes\n"
    "----------   ----   ------------   -------------   ---------   ----------\n"
    "Et1/1        UC2           1000          900000          12        10800\n"
    "Et1/1        UC5           2000         1800000           7         6300\n"
    "Et1/1        MC5           2000         1800000          99         6300\n";
constexpr const char* kEosMarks =
    "{\n    \"intfQueueCounters\": {\n        \"Ethernet1/1\": {\n            \"queueCounters\": "
    "{\n"
    "                \"2\": \"34\",\n                \"4\": 8\n            }\n        }\n    "
    "}\n}\n";

constexpr const char* kXr =
    "FourHundredGigE0/0/0/0 input: DLCP-1-SITE-IN\n\nClass DLCP-dscp-10\n"
    "  Classification statistics          (packets/bytes)     (rate - kbps)\n"
    "    Transmitted         :                 77/7700                  0\n"
    "    Total Dropped       :                 66/6600                  0\n"
    "FourHundredGigE0/0/0/0 output: DLCP-out1-SITE-OUT\n\nClass DLCP-q5\n"
    "  Classification statistics          (packets/bytes)     (rate - kbps)\n"
    "    Matched             :          4694465219/601917998750         178\n"
    "    Transmitted         :          4694465219/601918012926         182\n"
    "    Total Dropped       :                   3/300                  0\n"
    "  Queueing statistics\n    Queue ID                             : 65836\n"
    "    Taildropped(packets/bytes)           : 3/300\n"
    "    RED random drops(packets/bytes)            : N/A\n"
    "    RED ecn marked & transmitted(packets/bytes): 1883/2000\n"
    "Class DLCP-q2\n    Total Dropped       :                   44/4400                  0\n"
    "Class DLCP-q4\n    Total Dropped       :                   0/0                  0\n"
    "    RED ecn marked & transmitted(packets/bytes): 21/2000\n";

constexpr const char* kNvue =
    "cumulus@leaf1:mgmt:~$ nv show interface swp1 counters qos -o json\n{\n  "
    "\"egress-queue-stats\": {\n"
    "    \"2\": {\n      \"ecn-marked-frames\": 34,\n      \"tx-frames\": 900,\n"
    "      \"tx-uc-buffer-discards\": 0,\n      \"wred-discards\": 12\n    },\n"
    "    \"5\": {\n      \"ecn-marked-frames\": 99,\n      \"tx-frames\": 1000,\n"
    "      \"tx-uc-buffer-discards\": 7,\n      \"wred-discards\": 0\n    }\n  },\n"
    "  \"pfc-stats\": {\n    \"5\": {\n      \"rx-pause-frames\": 1\n    }\n  }\n}\n";

}  // namespace

TEST_CASE("counters of Junos, NX-OS and SR Linux are compared with the plan") {
  // Queue 2 drops and marks as planned. Queue 5 only marks, and has dropped packets when it was
  // full.
  const auto junos = said("junos", "leaf.set", "et-0/0/0",
                          "Physical interface: et-0/0/0, up, Physical link is Up\n"
                          "Queue: 2, Forwarding classes: DLCP-fc2\n  Transmitted:\n"
                          "    Packets              :      900      0 pps\n"
                          "    Tail-dropped packets :        0      0 pps\n"
                          "    RED-dropped packets  :       12      0 pps\n"
                          "    ECN-CE packets       :       34      0 pps\n"
                          "Queue: 5, Forwarding classes: DLCP-fc5\n"
                          "    Tail-dropped packets :        7      0 pps\n"
                          "    RED-dropped packets  :        0      0 pps\n"
                          "    ECN-CE packets       :       99      0 pps\n");
  CHECK_THAT(junos, Contains("0 q2 bulk: 12 packets dropped early, 34 marked"));
  CHECK_THAT(junos, Contains("1 q5 exact: 7 packets dropped by a full queue"));
  const std::string nxos_text =
      "Egress Queuing for Ethernet1/1 [System]\n+----+\n|      QOS GROUP 5     |\n"
      "|                   Tx Pkts |      1,050|      0|\n"
      "| WRED/AFD & Tail Drop Pkts |          3|      0|\n"
      "|      QOS GROUP 2     |\n| WRED/AFD & Tail Drop Pkts |   44|   0|\n";
  const auto nxos = said("nxos", "leaf.nxos", "Ethernet1/1", nxos_text);
  CHECK_THAT(nxos, Contains("1 q5 exact: 3 packets dropped by a full queue"));
  CHECK_THAT(nxos,
             Contains("2 q2 bulk: 44 packets dropped; this system does not count early drops"));
  CHECK_THAT(nxos, Contains("2 q4 urgent: no counters in the capture"));
  const std::string queue =
      "/ qos interfaces interface ethernet-1/1 output queues queue DLCP-q5 queue-statistics "
      "aggregate-statistics ";
  const auto nokia = said("srlinux", "leaf.srl", "ethernet-1/1",
                          queue + "dropped-packets 0\n" + queue + "ecn-marked-packets 8\n");
  CHECK_THAT(nokia, Contains("0 q5 exact: 0 packets dropped early, 8 marked"));
  CHECK_THAT(said("junos", "leaf.set", "et-0/0/0", "nothing\n"),
             Contains("output of `show interfaces queue {port}`"));
}

TEST_CASE(
    "EOS: drops are read from the rows and marks from the JSON; multicast queues are ignored") {
  const auto eos = said("eos", "leaf.eos", "Ethernet1/1", std::string(kEosTable) + kEosMarks);
  CHECK_THAT(eos, Contains("1 q5 exact: 7 packets dropped by a full queue"));
  CHECK_THAT(eos,
             Contains("2 q2 bulk: 12 packets dropped; this system does not count early drops"));
  CHECK_THAT(eos, Contains("q4 urgent: 0 packets dropped early, 8 marked"));
  CHECK_THAT(said("eos", "leaf.eos", "Ethernet1/1", kEosMarks), Contains("8 marked"));
  // The published reader uses the positions of columns; full port names are printed, too.
  const std::string rows = std::string(kEosTable).substr(std::string(kEosTable).find("Et1/1"));
  CHECK(said("eos", "leaf.eos", "Ethernet1/1",
             "a header that nobody has seen\n" + rows + kEosMarks) == eos);
  CHECK_THAT(said("eos", "leaf.eos", "Ethernet1/1", "Ethernet1/1 UC5 2000 1800000 7 6300\n"),
             Contains("1 q5 exact: 7 packets dropped by a full queue"));
}

TEST_CASE(
    "IOS XR: only output policies are read, packets precede the slash, and N/A is not a count") {
  const auto xr = said("iosxr", "leaf.json", "FourHundredGigE0/0/0/0", kXr);
  CHECK_THAT(xr, Contains("1 q5 exact: 3 packets dropped by a full queue"));
  CHECK_THAT(xr, Contains("2 q2 bulk: 44 packets dropped; this system does not count early drops"));
  CHECK_THAT(xr, Contains("q4 urgent: 0 packets dropped early, 21 marked"));
  CHECK(xr.find("66") == std::string::npos);
}

TEST_CASE("Cumulus: JSON is read after a line with the command that printed it") {
  const auto nvue = said("cumulus", "leaf.yaml", "swp1", kNvue);
  CHECK_THAT(nvue, Contains("0 q2 bulk: 12 packets dropped early, 34 marked"));
  CHECK_THAT(nvue, Contains("1 q5 exact: 7 packets dropped by a full queue"));
}

TEST_CASE("a capture without counters of the plan is refused, and the hint says what to capture") {
  const std::string json = std::string(kNvue).substr(std::string(kNvue).find('{'));
  for (const std::string& text :
       {std::string(), std::string("x"), json, json.substr(0, json.size() / 2),
        std::string("nv show interface swp1 counters qos -o json\n{]\n}\n"),
        std::string("traffic-class  tx-frames  wred-discards\n0  75.19 KB  0\n")}) {
    INFO(text);
    CHECK_THAT(said("cumulus", "leaf.yaml", "swp1", text),
               Contains("no queue counters found") && Contains("for p in swp1 swp2"));
  }
  CHECK_THAT(said("eos", "leaf.eos", "Ethernet1/1", "Et1/1 UC5 many 1 2 3\n"),
             Contains("show interfaces {port} counters queue"));
  CHECK_THAT(said("iosxr", "leaf.json", "FourHundredGigE0/0/0/0",
                  "Class DLCP-q5\n Total Dropped : 3/4 0\n"),
             Contains("output of `show policy-map interface {port} output`"));
  // Counters of another port cannot be compared with the plan.
  CHECK_THAT(said("cumulus", "leaf.yaml", "swp2", kNvue), Contains("no port of the plan"));
}
