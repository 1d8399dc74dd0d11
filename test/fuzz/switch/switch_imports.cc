// An importer of running configurations (fuzz_vendor): importing any file ends with a site or with
// problems that give the reasons, and an imported site can be planned: its numbers are in range.
#include "fuzz_input.h"
#include "switch/vendors/vendor.h"

extern const char* const fuzz_vendor;  // fuzz_vendor.cc

using namespace dlcp::fabric;
using dlcp::test::require;

namespace {

void check(const SiteConfig& site) {
  require(site.imported && site.document != nullptr, "an import keeps its document");
  for (const auto& traffic_class : site.dscp_to_class)
    require(!traffic_class || *traffic_class < kTrafficClassesMax, "a class is in range");
  for (const auto& queue : site.class_to_queue)
    require(!queue || *queue < kQueueCount, "a queue is in range");
  require(site.default_class < kTrafficClassesMax, "the default class is in range");
  for (const auto& queue : site.queues)
    require(!queue.lossless || queue.in_use, "a lossless queue is in use");
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  const std::string vendor = fuzz_vendor;
  if (vendor == "sonic")
    return {
        "{\"PORT\":{\"Ethernet0\":{}},\"DSCP_TO_TC_MAP\":{\"A\":{\"0\":\"1\",\"26\":\"3\"}},"
        "\"TC_TO_QUEUE_MAP\":{\"A\":{\"1\":\"1\"}},\"SCHEDULER\":{\"s\":{\"type\":\"DWRR\","
        "\"weight\":\"9\"}},\"QUEUE\":{\"Ethernet0|3-4\":{\"scheduler\":\"s\"}},"
        "\"PORT_QOS_MAP\":{\"Ethernet0\":{\"dscp_to_tc_map\":\"A\",\"tc_to_queue_map\":\"A\","
        "\"pfc_enable\":\"3,4\"}},\"BUFFER_POOL\":{\"egress_lossy_pool\":{\"size\":\"1000\"}}}"};
  if (vendor == "cumulus")
    return {
        "- header: {}\n- set:\n    interface:\n      swp1-3:\n        qos:\n          mapping:\n"
        "            profile: x\n    qos:\n      mapping:\n        x:\n          trust: l3\n"
        "          dscp:\n            0-7,9:\n              switch-priority: 2\n      pfc:\n"
        "        p:\n          switch-priority:\n            '3': {}\n"};
  if (vendor == "tc")
    return {
        "qdisc noqueue 0: dev lo root refcnt 2 \nqdisc mq 0: dev eth0 root \n"
        "qdisc tbf 8001: dev eth1 root refcnt 3 rate 20Mbit burst 3000b lat 119ms \n"
        "qdisc ets d1c0: dev eth1 parent 8001:1 bands 5\nqdisc gred d1c3: dev eth1 parent d1c0:3 "
        "vqs 2\n"
        " vq 0 prio 1 limit 5b\nqdisc clsact ffff: dev eth1 parent ffff:fff1 \n"};
  if (vendor == "srlinux")
    return {
        "set / interface ethernet-1/1 ethernet port-speed 100G\nset / qos queues queue a "
        "queue-index 3\nset / qos forwarding-classes forwarding-class c output unicast-queue a\n"
        "set / qos classifiers dscp-policy P dscp 26 forwarding-class c\nset / qos interfaces "
        "interface ethernet-1/1.0 input classifiers dscp-policy P\n"};
  if (vendor == "junos")
    return {
        "set class-of-service forwarding-classes class c queue-num 3 no-loss\nset class-of-service "
        "classifiers dscp P forwarding-class c loss-priority low code-points [ 011010 af21 ]\nset "
        "class-of-service interfaces et-0/0/0 unit 0 classifiers dscp P\nset class-of-service "
        "scheduler-maps S forwarding-class c scheduler x\n"};
  if (vendor == "nxos")
    return {
        "class-map type qos match-any A\n  match dscp 8,10-12\npolicy-map type qos P\n  class A\n"
        "    set qos-group 3\ninterface Ethernet1/1\n  speed 100000\n  service-policy type qos "
        "input P\nsystem qos\n  service-policy type queuing output Q\n"};
  if (vendor == "openconfig")
    return {
        "{\"openconfig-qos:qos\":{\"queues\":{\"queue\":[{\"name\":\"a\",\"config\":{\"name\":"
        "\"a\","
        "\"queue-id\":3}}]},\"interfaces\":{\"interface\":[{\"interface-id\":\"E1\",\"config\":{"
        "\"interface-id\":\"E1\"}}]}}}"};
  if (vendor == "arcos")
    return {
        "[{\"updates\":[{\"Path\":\"qos\",\"values\":{\"qos\":{\"a:classifiers\":{\"classifier\":[{"
        "\"name\":"
        "\"c\",\"filters\":{\"filter\":[{\"type\":\"t:DSCP\",\"config\":{\"dscp-value\":[26]}}]}}]}"
        "}}}]}]"};
  if (vendor == "iosxr")
    return {
        "{\"x:class-map\":{\"type\":{\"qos\":[{\"class-map-name\":\"c\",\"match-any\":{},\"match\":"
        "{"
        "\"dscp\":{\"value\":[26,\"af11\"]}}}]}},\"x:policy-map\":{\"type\":{\"qos\":[{"
        "\"policy-map-name\":\"P\",\"class\":[{\"name\":\"c\",\"type\":\"qos\",\"set\":{"
        "\"traffic-class\":3}}]}]}}}"};
  return {
      "qos map dscp 0 1 2-5,9 to traffic-class 3 drop-precedence 1\n"
      "qos map traffic-class 3 to tx-queue 3\nqos profile P\n   uc-tx-queue 3\n"
      "      bandwidth percent 20\n      shape rate 5 percent\n"
      "   priority-flow-control priority 3 no-drop\ninterface Ethernet1/1\n   service-profile P\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const NamedText text{"running", std::string(reinterpret_cast<const char*>(data), size)};
  const auto result = find_vendor(fuzz_vendor)->import(text);
  require(result.value.has_value() != has_errors(result.problems), "a site or errors, never both");
  if (result.value) check(*result.value);
  return 0;
}
