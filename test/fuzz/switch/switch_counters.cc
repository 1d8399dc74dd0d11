// Captured counters of a switch: judging any file ends with findings or with a problem, and no
// finding names a port that the plan does not have.
#include <algorithm>

#include "fuzz_input.h"
#include "vendor_plan.h"

extern const char* const fuzz_vendor;  // fuzz_vendor.cc

using namespace dlcp;
using namespace dlcp::fabric;
using dlcp::test::require;

namespace {

const SwitchPlan& plan() {
  static const SwitchPlan kPlan = test::make_plan(SiteConfig{}, {"eth0"}, {"eth1"});
  return kPlan;
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {
      "Port TxQ Counter/pkts Counter/bytes Drop/pkts Drop/bytes\neth0 UC2 1 2 3 4\nEt0 UC2 1 2 3 "
      "4\n",
      "{\n \"intfQueueCounters\": {\"eth0\": {\"queueCounters\": {\"2\": \"34\"}}}\n}\n",
      "eth0 output: P\nClass DLCP-q2\n Transmitted : 7/9 1\n Total Dropped : 3/300 0\n"
      "RED ecn marked & transmitted(packets/bytes): 18/20\n",
      "nv show interface eth0 counters qos -o json\n{\n \"egress-queue-stats\": {\"2\": "
      "{\"tx-frames\": 9,\n"
      "\"tx-uc-buffer-discards\": 1, \"wred-discards\": 2, \"ecn-marked-frames\": 3}}\n}\n",
      "Physical interface: eth0, up\nQueue: 2, Forwarding classes: DLCP-fc2\n Packets : 9 0 pps\n",
      "Egress Queuing for eth0 [System]\n| QOS GROUP 2 |\n| WRED/AFD & Tail Drop Pkts | 44| 0|\n",
      "/ qos interfaces interface eth0 output queues queue DLCP-q2 queue-statistics "
      "aggregate-statistics dropped-packets 1\n",
      "[{\"kind\":\"ets\",\"handle\":\"d1c0:\",\"dev\":\"eth0\",\"options\":{\"bands\":5}},"
      "{\"kind\":\"tbf\",\"handle\":\"d1c1:\",\"dev\":\"eth0\",\"options\":{\"rate\":2500000000},"
      "\"packets\":7,\"drops\":1},{\"kind\":\"red\",\"handle\":\"d1c2:\",\"dev\":\"eth0\","
      "\"options\":"
      "{\"min\":103680,\"limit\":4000000},\"drops\":2},{\"kind\":\"gred\",\"handle\":\"d1c3:\","
      "\"dev\":"
      "\"eth0\",\"options\":{\"limit\":4000000,\"vqs\":[{\"vq\":0,\"limit\":150016,\"pdrop\":5},{"
      "\"vq\":1,"
      "\"limit\":4000000,\"min\":150016,\"forced_mark\":1}]}}]"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const NamedText text{"captured", std::string(reinterpret_cast<const char*>(data), size)};
  const auto judged = find_vendor(fuzz_vendor)->verify(plan(), text);
  require(judged.value.has_value() != has_errors(judged.problems), "findings or errors");
  if (!judged.value) return 0;
  require(std::all_of(judged.value->begin(), judged.value->end(),
                      [](const Finding& finding) {
                        // No port of the plan: the capture has other ports.
                        return finding.port.empty() || finding.port == "eth0" ||
                               finding.port == "eth1";
                      }),
          "findings are of the plan's ports");
  return 0;
}
