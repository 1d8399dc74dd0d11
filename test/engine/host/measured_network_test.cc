// The values of an order file for this host's devices.
#include "engine/host/measured_network.h"

#include "catch.h"

using namespace dlcp;

namespace {

const std::string kFile = R"({"version": 1,
  "hosts": [{"name": "a", "addresses": ["10.0.0.1", "10.0.1.1"], "gb_per_s": 97.5},
            {"name": "b", "addresses": ["10.0.0.2"]}],
  "fabric": {"name": "fabric", "groups": [
    {"name": "leaf0", "round_trip_us": 10, "hosts": ["a"]},
    {"name": "leaf1", "round_trip_us": 24, "hosts": ["b"]}]}})";

std::vector<datapath::Interface> interfaces(std::initializer_list<const char*> addresses) {
  std::vector<datapath::Interface> all;
  for (const char* address : addresses) {
    all.emplace_back();
    all.back().ip = datapath::parse_ip_address(address).value();
  }
  return all;
}

}  // namespace

TEST_CASE(
    "latency is half of the file's longest round trip on every host; the rate belongs to the "
    "address it was measured on") {
  const auto measured =
      engine::measured_devices("f", kFile, interfaces({"10.0.0.1", "10.0.1.1", "10.9.9.9"}));
  REQUIRE(measured.ok());
  REQUIRE(measured.value().size() == 3);
  CHECK(measured.value()[0].speed_mbps == 97500);
  CHECK(measured.value()[1].speed_mbps == 0);
  for (const engine::MeasuredDevice& device : measured.value())
    CHECK(device.latency_ns == 12'000);
  CHECK(engine::measured_devices("f", kFile, interfaces({"10.0.0.2"})).value()[0].latency_ns ==
        12'000);
}

TEST_CASE("an order file without this host is an error that names the host's addresses") {
  const auto measured = engine::measured_devices("f", kFile, interfaces({"10.9.9.9", "fd00::9"}));
  REQUIRE_FALSE(measured.ok());
  CHECK(measured.error().code == ErrorCode::kInvalidUsage);
  CHECK_THAT(measured.error().message(),
             Contains("DLCP_ORDER = 'f'") && Contains("10.9.9.9, fd00::9"));
}

TEST_CASE("an order file that cannot be read is an error that names the setting and the file") {
  const auto measured = engine::measured_devices("/x/order.json", "{}", interfaces({"10.0.0.1"}));
  REQUIRE_FALSE(measured.ok());
  CHECK_THAT(measured.error().message(),
             Contains("DLCP_ORDER = '/x/order.json'") && Contains("no version"));
}
