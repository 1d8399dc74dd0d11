// order.json: written files can be read again, and invalid ones are refused with a message.
#include "fabric/order_file.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::fabric;

namespace {

const std::string kHandWritten = R"({
  "version": 1,
  "hosts": [{"name": "a", "gb_per_s": 100}, {"name": "b"}, {"name": "c", "slots": 8}],
  "fabric": {"name": "fabric", "round_trip_us": 24, "groups": [
    {"name": "leaf0", "round_trip_us": 16, "uplink_gb_per_s": 100, "hosts": ["a", "c"]},
    {"name": "leaf1", "hosts": ["b"]}]},
  "order": ["a", "c", "b"]
})";

std::string complaint(const std::string& from, const std::string& to) {
  std::string text = kHandWritten;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  const auto read = read_order(text.replace(at, from.size(), to));
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().code == ErrorCode::kInvalidUsage);
  return read.error().message();
}

}  // namespace

TEST_CASE("a hand-written order file is read") {
  const auto read = read_order(kHandWritten);
  REQUIRE(read.ok());
  const OrderFile& file = read.value();
  CHECK(file.fabric.hosts[0].gb_per_s == 100);
  CHECK(file.fabric.hosts[2].slots == 8);
  CHECK(file.fabric.groups.size() == 3);
  CHECK(file.fabric.groups[1].uplink_gb_per_s == 100);
  CHECK(file.fabric.group_of == std::vector<int>{1, 2, 1});
  CHECK(file.order == std::vector<int>{0, 2, 1});
}

TEST_CASE("a written file is read back unchanged, unusual names included") {
  OrderFile file;
  for (const char* name : {"node 1", "k\xc3\xb6ln#2", "fd00::1%eth0", "\"quoted\\\""})
    file.fabric.hosts.push_back({name, {"10.0.0.1", "fd00::1"}, 12.5, 4, true, true});
  file.fabric.groups = {{"all", -1, 0, 31.25, false},
                        {"pod", 0, 40, 20, true},
                        {"x", 1, 0, 9, false},
                        {"y", 1, 0, 8, false}};
  file.fabric.group_of = {2, 3, 3, 1};
  file.order = {3, 1, 0, 2};
  file.report = R"({"probes": 12})";
  const std::string text = write_order(file);
  const auto read = read_order(text);
  REQUIRE(read.ok());
  CHECK(read.value().order == file.order);
  CHECK(read.value().fabric.group_of == file.fabric.group_of);
  CHECK(read.value().fabric.groups[1].slow);
  CHECK(read.value().fabric.groups[1].uplink_gb_per_s == 40);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(read.value().fabric.hosts[i].name == file.fabric.hosts[i].name);
    CHECK(read.value().fabric.hosts[i].addresses == file.fabric.hosts[i].addresses);
    CHECK(read.value().fabric.hosts[i].silent);
  }
  OrderFile again = read.value();
  again.report = file.report;
  CHECK(write_order(again) == text);
}

TEST_CASE("without an order hosts stay in the listed order; without groups the fabric is flat") {
  const auto read = read_order(
      R"({"version": 1, "hosts": [{"name": "b"}, {"name": "a"}], "fabric": {"name": "lab"}})");
  REQUIRE(read.ok());
  CHECK(read.value().order == std::vector<int>{0, 1});
  CHECK(read.value().fabric.group_of == std::vector<int>{0, 0});
}

TEST_CASE("an invalid file is refused with the place, the value and the expected values") {
  CHECK_THAT(complaint("\"version\": 1", "\"version\": 2"),
             Contains("version 2") && Contains("reads version 1"));
  CHECK_THAT(complaint("\"version\": 1,", ""), Contains("no version"));
  CHECK_THAT(complaint("\"gb_per_s\"", "\"gb_per_sec\""),
             Contains("gb_per_sec") && Contains("did you mean gb_per_s?"));
  CHECK_THAT(complaint("100}", "\"fast\"}"), Contains("host 0: gb_per_s is \"fast\""));
  CHECK_THAT(complaint("100}", "-3}"), Contains("gb_per_s is -3"));
  CHECK_THAT(complaint("8}", "0}"), Contains("slots is 0") && Contains("1..1024"));
  CHECK_THAT(complaint("{\"name\": \"b\"}", "{\"name\": \"a\"}"),
             Contains("two hosts are called 'a'"));
  CHECK_THAT(complaint("{\"name\": \"b\"}", "7"), Contains("host 1 is 7"));
  CHECK_THAT(complaint("[\"a\", \"c\"]", "[\"a\", \"d\"]"), Contains("'d', which is not a host"));
  CHECK_THAT(complaint("[\"b\"]", "[\"b\", \"a\"]"), Contains("'a' is in two groups"));
  CHECK_THAT(complaint("[\"b\"]", "[]"), Contains("'b' is in no group"));
  CHECK_THAT(complaint("\"c\", \"b\"]", "\"a\", \"b\"]"), Contains("'a' twice"));
  CHECK_THAT(complaint("\"c\", \"b\"]", "\"b\"]"), Contains("2 of 3 hosts"));
  CHECK_THAT(complaint("\"c\", \"b\"]", "\"x\", \"b\"]"), Contains("'x', which is not a host"));
  CHECK_THAT(complaint("\"fabric\": {", "\"fabric\": ["), Contains("not valid JSON"));
  CHECK_THAT(complaint("\"leaf1\"", "\"leaf0\""), Contains("two groups are called 'leaf0'"));
}

TEST_CASE("the nesting of groups is limited") {
  std::string inside = R"({"name": "z", "hosts": ["a"]})";
  for (int i = 0; i < 20; ++i)
    inside = R"({"name": "g)" + std::to_string(i) + R"(", "groups": [)" + inside + "]}";
  const auto read =
      read_order(R"({"version": 1, "hosts": [{"name": "a"}], "fabric": )" + inside + "}");
  REQUIRE_FALSE(read.ok());
  CHECK_THAT(read.error().message(), Contains("deep"));
  const std::string lists = std::string(300'000, '[') + std::string(300'000, ']');
  CHECK_THAT(complaint("\"version\": 1", "\"version\": " + lists), Contains("in each other"));
}
