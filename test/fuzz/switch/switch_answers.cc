// JSON of Prometheus and gNMI: reading any file ends with counters of the plan's switch or with a
// problem.
#include "fuzz_input.h"
#include "switch/telemetry/capture/capture.h"
#include "vendor_plan.h"

extern const char* const fuzz_vendor;  // fuzz_vendor.cc

using namespace dlcp;
using namespace dlcp::fabric;
using dlcp::test::require;

namespace {

const SwitchPlan& plan() {
  static const SwitchPlan kPlan = [] {
    auto made = test::make_plan(SiteConfig{}, {"Ethernet0"}, {"Ethernet8"});
    made.os = fuzz_vendor;
    return made;
  }();
  return kPlan;
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {
      R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":)"
      R"("sonic_queue_dropped_packets_total","switch":"leaf1","device":"Ethernet0","queue":"2"},)"
      R"("value":[1,"7"]},{"metric":{"__name__":"dlcp_switch_queue_marks:rate5m","switch":"leaf1",)"
      R"("port":"Ethernet0","queue":"2"},"value":[1,"0.5"]}]}})",
      R"([{"source":"leaf1:8080","updates":[{"Path":"COUNTERS/Ethernet0/Queues","values":{"x":)"
      R"({"Ethernet0:2":{"SAI_QUEUE_STAT_PACKETS":"7"}}}}]}])",
      R"([{"tags":{"source":"leaf1","interface_interface-id":"Ethernet0","queue_name":"DLCP-q2"},)"
      R"("values":{"/a/dropped-pkts":"5"}}])",
      R"({"openconfig-qos:qos":{"interfaces":{"interface":[{"interface-id":"Ethernet0","output":)"
      R"({"queues":{"queue":[{"name":"DLCP-q2","state":{"dropped-pkts":"5"}}]}}}]}}})"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const NamedText text{"captured", std::string(reinterpret_cast<const char*>(data), size)};
  const auto* const names = telemetry::find_names(fuzz_vendor);
  const auto read = telemetry::read_capture(
      {plan(), *names,
       [](int queue) { return find_vendor(fuzz_vendor)->queue_name(plan(), queue); }},
      text);
  require(read.value.has_value() != has_errors(read.problems), "counters or errors");
  if (!read.value) return 0;
  require(!read.value->empty(), "an answer without counters is refused");
  for (const auto& [place, counters] : *read.value)
    require(place.second >= 0 && place.second < kQueueCount, "queues are in range");
  require(!judge_counters(plan(), *read.value).empty(), "there is a finding");
  return 0;
}
