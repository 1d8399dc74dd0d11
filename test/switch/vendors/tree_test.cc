// Targets that are data: configurations are read as statements and imported, or refused.
// tree_apply.py tests that a rollback after apply restores the configuration, and that the vendors'
// models accept it.
#include <algorithm>

#include "catch.h"
#include "switch/vendor_plan.h"
#include "switch/vendors/tree/target/target.h"

using namespace dlcp;
using namespace dlcp::fabric;
using namespace dlcp::test;

namespace {

std::string leaf(const std::string& os, const std::string& file) {
  return read_text(std::string(DLCP_SWITCH_DATA) + "/" + os + "/" + file);
}

std::vector<std::string> texts(const tree::Reader& reader, const std::string& text) {
  std::vector<std::string> list;
  const auto read = tree::read_statements(reader, "running", text);
  REQUIRE(read.value);
  for (const auto& statement : *read.value)
    list.push_back(statement.text);
  return list;
}

std::string problems_of(const std::string& os, const std::string& text) {
  std::string said;
  for (const auto& problem : find_vendor(os)->import({"running", text}).problems)
    said += to_text(problem) + "\n";
  return said;
}

struct Fixture {
  const char *os, *file, *port, *other;
};
constexpr Fixture kFixtures[] = {
    {"srlinux", "leaf.srl", "ethernet-1/1", "ethernet-1/31"},
    {"junos", "leaf.set", "et-0/0/0", "et-0/0/31"},
    {"nxos", "leaf.nxos", "Ethernet1/1", "Ethernet1/49"},
    {"openconfig", "leaf.json", "Ethernet1/1", "Ethernet31/1"},
    {"arcos", "leaf.json", "swp1", "swp31"},
    {"iosxr", "leaf.json", "FourHundredGigE0/0/0/0", "FourHundredGigE0/0/0/30"},
};

}  // namespace

TEST_CASE("a pattern's holes match words, text between fixed ends, and the rest of a line") {
  using tree::Pattern;
  const Pattern port("interface {port} > match dscp {dscp*}");
  const auto held = port.match("interface Ethernet1/1 > match dscp 8, 10-12");
  REQUIRE(held);
  CHECK(held->at("port") == "Ethernet1/1");
  CHECK(held->at("dscp") == "8, 10-12");
  CHECK_FALSE(port.match("interface Ethernet1/1 > match dscp"));
  CHECK_FALSE(port.match("interface Ethernet1/1"));
  CHECK(Pattern("class c-out-8q-q{queue}").match("class c-out-8q-q5")->at("queue") == "5");
  CHECK_FALSE(Pattern("class c-out-8q-q{queue}").match("class c-out-8q-q"));
  CHECK(Pattern("interface {port}.0").match("interface ethernet-1/1.0")->at("port") ==
        "ethernet-1/1");
  CHECK_FALSE(Pattern("interface {port}.0").match("interface ethernet-1/1.1"));
  CHECK(Pattern("a {*}").match("a"));
  std::size_t taken = 0;
  CHECK(Pattern("policy {name}").begins("policy P > class c", taken));
  CHECK(taken == 8);
  CHECK(Pattern("x {port}.0").filled({{"port", "e1"}}) == "x e1.0");
}

TEST_CASE("an index of patterns finds all that match, and few others") {
  using tree::Pattern;
  const tree::Captures holes = {{"port", "Ethernet1/1"}, {"name", "SITE"},  {"policy", "SITE"},
                                {"queue", "3"},          {"class", "be"},   {"dscp", "10"},
                                {"dscp*", "10"},         {"*", "something"}};
  std::size_t candidates = 0, matches = 0;
  for (const tree::Target& target : tree::targets()) {
    std::vector<std::string> statements;
    for (const tree::Meaning& meaning : target.meanings)
      statements.push_back(meaning.pattern->filled(holes));
    for (const tree::Refusal& row : target.refusals)
      statements.push_back(row.pattern.filled(holes) + " and more");
    for (const auto& statement : statements) {
      const auto ids = target.meaning_index.may_match(statement);
      candidates += ids.size();
      CHECK(std::is_sorted(ids.begin(), ids.end()));
      for (std::size_t id = 0; id < target.meanings.size(); ++id) {
        if (!target.meanings[id].pattern->match(statement)) continue;
        ++matches;
        INFO(target.os << ": " << statement << " by " << target.meanings[id].pattern->text());
        CHECK(std::count(ids.begin(), ids.end(), id) == 1);
      }
      const auto begun = target.scope_index.may_begin(statement);
      for (std::size_t rank = 0; rank < target.scopes.size(); ++rank) {
        std::size_t taken = 0;
        if (target.scopes[rank].pattern.covers(statement, taken))
          CHECK(std::count(begun.begin(), begun.end(), rank) == 1);
      }
    }
  }
  CHECK(matches > 100);
  CHECK(candidates < 2 * matches);
}

TEST_CASE("blocks, flat text and JSON are read as statements of the same form") {
  tree::Reader blocks{tree::Syntax::kBlocks, "", {"policy", "interface"}, {}, {}, ""};
  CHECK(
      texts(blocks, "policy P\n !\n class a\n  set q 3\n class b\n!\nhostname x\ninterface E1\n") ==
      std::vector<std::string>{"policy P", "policy P > class a", "policy P > class a > set q 3",
                               "policy P > class b", "interface E1"});
  tree::Reader flat{tree::Syntax::kFlat, "set ", {"cos "}, {}, {}, ""};
  CHECK(texts(flat, "set cos  a points [ 1 2 ]\nset system x\nset cos b\n") ==
        std::vector<std::string>{"cos a points 1", "cos a points 2", "cos b"});
  tree::Reader json{tree::Syntax::kJson, "", {"qos "}, {}, {}, ""};
  json.json.keys = {{"queues queue", "name"}, {"input classifiers classifier", "type"}};
  CHECK(
      texts(json,
            R"([{"oc:qos": {"queues": {"queue": [{"name": "q", "config": {"id": 5, "on": true}}]},)"
            R"("input": {"classifiers": {"classifier": [{"type": "IPV4", "set": [1, 2]}]}}}}])") ==
      std::vector<std::string>{"qos input classifiers classifier IPV4 set 1",
                               "qos input classifiers classifier IPV4 set 2",
                               "qos queues queue q config id 5",
                               "qos queues queue q config on true"});
}

TEST_CASE("a line with several numbers gives a statement for each, and DLCP's comments are kept") {
  tree::Reader reader{tree::Syntax::kBlocks,           "",      {"qos "}, {},
                      {{"qos map dscp ", " to ", 63}}, "!! own"};
  CHECK(texts(reader,
              "qos map dscp 8 10-11,13 to class 1\nqos map dscp to class name x\n"
              "qos profile P\n   !! own queue\n   ! other\n") ==
        std::vector<std::string>{"qos map dscp 8 to class 1", "qos map dscp 10 to class 1",
                                 "qos map dscp 11 to class 1", "qos map dscp 13 to class 1",
                                 "qos map dscp to class name x", "qos profile P",
                                 "qos profile P > !! own queue"});
  for (const char* list : {"64", "5-3", "x", "8-", "1,99999999999"}) {
    const auto read = tree::read_statements(reader, "running",
                                            std::string("qos map dscp ") + list + " to class 1\n");
    INFO(list);
    CHECK_FALSE(read.value);
    CHECK_THAT(to_text(read.problems.at(0)), Contains("not a list of numbers"));
  }
}

TEST_CASE("JSON: entries with several keys, empty containers, and the output of gnmic") {
  tree::Reader json{tree::Syntax::kJson, "", {"map "}, {}, {}, ""};
  json.json.keys = {{"map class", "name type"}};
  const std::vector<std::string> expected{"map class c qos", "map class c qos ecn",
                                          "map class c qos set tc 3"};
  const std::string tree =
      R"({"class":[{"name":"c","type":"qos","ecn":{},"set":{"tc":3}},{"name":"half"},)"
      R"({"name":"c","type":"qos"}]})";
  auto seen = texts(json, R"({"x:map":)" + tree + "}");
  std::sort(seen.begin(), seen.end());
  CHECK(seen == expected);
  seen = texts(
      json, R"([{"source":"leaf","updates":[{"Path":"x:map","values":{"x:map":)" + tree + "}}]}]");
  std::sort(seen.begin(), seen.end());
  CHECK(seen == expected);
}

TEST_CASE("a name that occurs twice in an object of a JSON tree is refused with its line") {
  const auto refused = find_vendor("openconfig")
                           ->import({"x.json",
                                     "{\"qos\": {\n  \"queues\": {\"queue\": []},\n"
                                     "  \"queues\": {\"queue\": []}}}\n"});
  REQUIRE_FALSE(refused.value);
  CHECK_THAT(to_text(refused.problems.at(0)),
             Contains("x.json:3") && Contains("a key occurs twice: 'queues'"));
}

TEST_CASE("ArcOS: each drop precedence has its own entry, which marks or drops") {
  const auto& vendor = *find_vendor("arcos");
  const auto plan = make_plan(import_text(vendor, leaf("arcos", "leaf.json")), {"swp1"}, {});
  const auto rendering = vendor.render(plan);
  const auto& guard = file_of(rendering, "guard/10-definitions.json").text;
  const auto at =
      guard.find("DLCP-out1-SITE-OUT-q2\": [[]");  // the row and its text after the change
  REQUIRE(at != std::string::npos);
  const auto profile = guard.substr(at, guard.find('\n', at) - at);
  CHECK_THAT(profile, Contains("entry high config drop-precedence 2\""));
  CHECK_THAT(profile, Contains("entry high config ecn-mark false\""));
  CHECK_THAT(profile, Contains("entry low config ecn-mark true\""));
  CHECK_THAT(problems_of("arcos", R"({"openconfig-interfaces:interfaces":{"interface":[{"name":)"
                                  R"("swp1","q:qos":{"s:service-tablemaps":{"service-tablemap":[)"
                                  R"({"direction":"INGRESS","config":{"name":"T"}}]}}}]}})"),
             Contains("classified by a tablemap"));
}

TEST_CASE("IOS XR: paths contain the modules of their nodes and all keys of their entries") {
  const auto& vendor = *find_vendor("iosxr");
  const auto plan =
      make_plan(import_text(vendor, leaf("iosxr", "leaf.json")), {"FourHundredGigE0/0/0/0"}, {});
  const auto rendering = vendor.render(plan);
  CHECK_THAT(
      file_of(rendering, "20-ports-01-host.gnmi.json").text,
      Contains("/Cisco-IOS-XR-um-interface-cfg:interfaces/interface[interface-name="
               "FourHundredGigE0/0/0/0]/Cisco-IOS-XR-um-if-service-policy-qos-cfg:service-policy"));
  const auto& text = file_of(rendering, "10-definitions.gnmi.json").text;
  CHECK_THAT(text, Contains("\"minimum-threshold-unit\": \"bytes\""));
  CHECK_THAT(text, Contains("\"random-detect-ecn\": {}"));
  CHECK_THAT(problems_of("iosxr", R"({"c:class-map":{"type":{"qos":[{"class-map-name":"A",)"
                                  R"("match-all":{},"match":{}}]}}})"),
             Contains("use match-any on DSCPs"));
}

TEST_CASE("a text that is not a configuration is refused with the line that shows it") {
  CHECK_THAT(problems_of("nxos", "% Invalid command\n"), Contains("running:1"));
  CHECK_THAT(problems_of("junos", "error: syntax\n"), Contains("error message of the switch"));
  CHECK_THAT(problems_of("openconfig", "{"), Contains("the JSON is incomplete"));
  CHECK_THAT(problems_of("srlinux", ""), Contains("neither QoS"));
}

TEST_CASE("an import contains the site's classes, queues, weights and PFC") {
  for (const Fixture& fixture : kFixtures) {
    INFO(fixture.os);
    const auto site = import_text(*find_vendor(fixture.os), leaf(fixture.os, fixture.file));
    CHECK(site.dscp_to_class[26] == 3);
    CHECK(site.dscp_to_class[48] == 6);
    CHECK(site.dscp_to_class[40] == 0);
    CHECK(site.default_class == 0);
    CHECK(site.queues[0].weight == 20u);
    CHECK(site.queues[3].weight.value_or(0) >= 30u);
    CHECK(site.queues[6].strict);
    CHECK_FALSE(site.queues[5].in_use);
    CHECK(site.ports.size() == 5);
    CHECK(site.imported);
  }
  const auto junos = import_text(*find_vendor("junos"), leaf("junos", "leaf.set"));
  CHECK(junos.pfc_priorities == 1U << 3);
  CHECK(junos.queues[3].lossless);
  const auto nxos = import_text(*find_vendor("nxos"), leaf("nxos", "leaf.nxos"));
  CHECK(nxos.queues[3].lossless);
  CHECK(find_port(nxos, "Ethernet1/1")->bits_per_second == 400'000'000'000);
  const auto nokia = import_text(*find_vendor("srlinux"), leaf("srlinux", "leaf.srl"));
  CHECK(find_port(nokia, "ethernet-1/1")->bits_per_second == 400'000'000'000);
}

TEST_CASE("every template stays within its scopes, with and without a site to merge into") {
  for (const Fixture& fixture : kFixtures) {
    INFO(fixture.os);
    const auto& vendor = *find_vendor(fixture.os);
    for (const bool imported : {true, false}) {
      SiteConfig site;
      if (imported) site = import_text(vendor, leaf(fixture.os, fixture.file));
      auto plan = make_plan(std::move(site), {fixture.port}, {fixture.other});
      plan.groups.front().group.trust = Trust::kRemarked;
      const auto rendering = vendor.render(plan);
      INFO(problems_of(rendering));
      CHECK(rendering.problems.empty());
      CHECK(rendering.changes.size() > 10);
    }
  }
}

TEST_CASE("configurations that DLCP cannot be merged with are refused with a hint") {
  const auto junos = leaf("junos", "leaf.set");
  CHECK_THAT(problems_of("junos", junos + "deactivate class-of-service interfaces et-0/0/0\n"),
             Contains("deactivated statements"));
  CHECK_THAT(problems_of("junos", junos + "set class-of-service interfaces et-* scheduler-map S\n"),
             Contains("a wildcard sets"));
  CHECK_THAT(problems_of("junos", junos + "set class-of-service interfaces et-0/0/0 "
                                          "forwarding-class-set a scheduler-map S\n"),
             Contains("use a scheduler-map on the port"));
  CHECK_THAT(problems_of("nxos", leaf("nxos", "leaf.nxos") +
                                     "system qos\n  service-policy type qos input X\n"),
             Contains("attach it to ports"));
  CHECK_THAT(problems_of("nxos", leaf("nxos", "leaf.nxos") +
                                     "class-map type qos match-all A\n  match dscp 3\n"
                                     "  match cos 3\n"),
             Contains("use match-any on DSCPs"));
  CHECK_THAT(problems_of("nxos",
                         "class-map type qos match-any A\n  match dscp 99\n"
                         "policy-map type qos P\n  class A\n    set qos-group 3\n"
                         "interface Ethernet1/1\n  service-policy type qos input P\n"),
             Contains("not a list of DSCPs"));
  CHECK_THAT(problems_of("srlinux", leaf("srlinux", "leaf.srl") +
                                        "set / qos pfc-mapping-profile P received-traffic "
                                        "unicast-mapping 3 dot1p 3\n"),
             Contains("declare the site"));
  CHECK_THAT(problems_of("srlinux", "set / qos queues queue a queue-index 9\n"),
             Contains("not a unicast queue"));
}

TEST_CASE(
    "a port with a different classifier than most is refused, as is a number that is out of "
    "range") {
  auto text = leaf("junos", "leaf.set");
  text +=
      "set class-of-service interfaces et-0/0/9 unit 0 classifiers dscp OTHER\n"
      "set class-of-service classifiers dscp OTHER forwarding-class roce loss-priority low "
      "code-points 011010\n";
  const auto& vendor = *find_vendor("junos");
  auto plan = make_plan(import_text(vendor, text), {"et-0/0/9"}, {});
  CHECK_THAT(dlcp::test::problems_of(vendor.render(plan)), Contains("different classifier"));
  plan = make_plan(import_text(vendor, text), {"et-0/0/0"}, {});
  plan.groups[0].queues[1].weight = 101;
  CHECK_THAT(dlcp::test::problems_of(vendor.render(plan)), Contains("expected 1..100"));
}

TEST_CASE(
    "Junos: a queue that drops early is not marked, because its ECN queues drop only when full") {
  const auto& vendor = *find_vendor("junos");
  auto plan = make_plan(import_text(vendor, leaf("junos", "leaf.set")), {"et-0/0/0"}, {});
  plan.groups[0].queues[3].mark_bytes.reset();
  const auto rendering = vendor.render(plan);
  const auto& text = file_of(rendering, "10-definitions.set").text;
  CHECK_THAT(text, Contains("schedulers DLCP-1-SITE-q5 explicit-congestion-notification\n"));
  CHECK(text.find("schedulers DLCP-1-SITE-q2 explicit") == std::string::npos);
  CHECK_THAT(text, Contains("drop-profiles DLCP-1-SITE-q2 interpolate fill-level 4\n"));
  CHECK(find_capabilities("junos", "24.4R1", "tomahawk4").value->mechanism == Mechanism::kQueues);
}

TEST_CASE(
    "a declared class leads to its queue where classes are queues, else it keeps its number") {
  SiteConfig site;
  site.dscp_to_class.fill(0);
  site.dscp_to_class[26] = 1;
  site.class_to_queue[0] = 0;
  site.class_to_queue[1] = 3;
  const auto planned = [&site](const char* port, const char* other) {
    auto plan = make_plan(site, {port}, {other});
    plan.groups[0].group.trust = Trust::kRemarked;
    plan.groups[0].group.remark_dscp = 26;
    return plan;
  };
  const auto rendering = find_vendor("junos")->render(planned("et-0/0/0", "et-0/0/31"));
  const auto& text = file_of(rendering, "10-definitions.set").text;
  const auto row = [](const char* name, const char* bits) {
    return std::string("classifiers dscp ") + name +
           " forwarding-class fcoe loss-priority low code-points " + bits + "\n";
  };
  CHECK_THAT(text, Contains(row("DLCP-1-none", "011010")));
  CHECK_THAT(text, Contains(row("DLCP-2-none", "011010")));
  CHECK_THAT(text, Contains(row("DLCP-1-none", "001010")));  // DLCP's DSCP 10 on untrusted ports
  CHECK(text.find("DLCP-fc1") == std::string::npos);
  const auto cumulus = find_vendor("cumulus")->render(planned("swp1", "swp31"));
  CHECK_THAT(file_of(cumulus, "10-definitions.yaml").text,
             Contains("'26':\n              switch-priority: 1\n"));
}

TEST_CASE("a new scheduler names the site's queues, also those without a name in the site") {
  SiteConfig site;
  site.dscp_to_class.fill(0);
  site.dscp_to_class[26] = 3;
  site.class_to_queue[0] = 0;
  site.class_to_queue[3] = 3;
  site.dscp_to_class[16] = site.class_to_queue[2].emplace(2);  // given up: DLCP uses it, too
  site.queues[0].weight = 20;
  site.queues[6].strict = site.queues[6].in_use = true;
  for (unsigned queue = 0; queue < kQueueCount; ++queue)
    site.queues[queue].queue = static_cast<std::uint8_t>(queue);
  const auto nokia = find_vendor("srlinux")->render(make_plan(site, {"ethernet-1/1"}, {}));
  const auto& text = file_of(nokia, "10-definitions.srl").text;
  const std::string policy = "scheduler-policy DLCP-1-none scheduler ";
  CHECK_THAT(text, Contains("queues queue unicast-0 queue-index 0\n"));
  CHECK_THAT(text, Contains("forwarding-class fc3 output unicast-queue unicast-3\n"));
  CHECK_THAT(text, Contains("fc2 output unicast-queue DLCP-q2\n") && !Contains("unicast-2"));
  CHECK_THAT(text, Contains(policy + "1 input unicast-0 weight 20\n"));
  CHECK_THAT(text, Contains(policy + "1 input unicast-3 weight "));
  CHECK_THAT(text, Contains(policy + "0 input unicast-6 queue-name unicast-6\n"));
  const auto open = find_vendor("openconfig")->render(make_plan(site, {"Ethernet1/1"}, {}));
  const auto& json = file_of(open, "10-definitions.gnmi.json").text;
  for (const char* queue : {"DLCP-q0", "DLCP-q3", "DLCP-q6"}) {
    CHECK_THAT(json, Contains(std::string("\"queue\": \"") + queue + "\""));
    CHECK_THAT(json, Contains(std::string("queue[name=") + queue + "]"));
  }
}

TEST_CASE("tunnels cause one warning, and filters that set DSCPs of IPv6 are refused") {
  const auto nxos = problems_of(
      "nxos", leaf("nxos", "leaf.nxos") + "interface nve1\n  no shutdown\ninterface nve2\n");
  CHECK_THAT(nxos, Contains("warning: tunnels are configured"));
  CHECK_THAT(nxos, Contains("'interface nve1'") && !Contains("nve2") && !Contains("error"));
  CHECK_THAT(problems_of("srlinux", leaf("srlinux", "leaf.srl") +
                                        "set / tunnel-interface vxlan1 vxlan-interface 1 type "
                                        "bridged\n"),
             Contains("overlay: vxlan-uniform"));
  CHECK_THAT(problems_of("eos", "interface Vxlan1\n" + leaf("eos", "leaf.eos")),
             Contains("tunnels are configured"));
  CHECK_THAT(problems_of("junos", leaf("junos", "leaf.set") +
                                      "set firewall family inet6 filter F term T then "
                                      "traffic-class 8\n"),
             Contains("error: a firewall filter sets DSCPs"));
}

TEST_CASE("pools of Cumulus that state more than the whole buffer get their parts of it") {
  auto text = leaf("cumulus", "leaf.yaml");
  for (auto at = text.find("memory-percent: 50"); at != std::string::npos;
       at = text.find("memory-percent: 50"))
    text.replace(at, 18, "memory-percent: 80");
  const auto site = import_text(*find_vendor("cumulus"), text);
  CHECK(site.lossy_pool_percent == 50);
  CHECK_THAT(site.pool_source, Contains("of 160 in all pools"));
}
