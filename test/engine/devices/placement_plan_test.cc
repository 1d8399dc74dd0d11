// Whether the card of a RoCE device places data, and what the log says about it.
#include "engine/devices/roce/placement_plan.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::engine;
using datapath::PermissionKind;
using datapath::PlacementAbility;
using datapath::PlacementTransport;

namespace {

struct Device {
  PlacementPlan plan() {
    return plan_placement(
        settings, port,
        [this] {
          ++tests;
          return result;
        });
  }
  Settings settings = default_settings();
  datapath::RocePort port;
  Result<PlacementAbility> result =
      PlacementAbility{PlacementTransport::kUc, PermissionKind::kWindow, "", {}, 1us};
  int tests = 0;
};

}  // namespace

TEST_CASE("by default data is copied, and no device is tested") {
  Device device;
  const PlacementPlan plan = device.plan();
  CHECK_FALSE(plan.ability.places());
  CHECK(plan.text == "received data is copied, because DLCP_ROCE_PLACEMENT is off");
  CHECK(device.tests == 0);
}

TEST_CASE("a card that passes the test places data") {
  Device device;
  device.settings.placement = GENERATE(PlacementChoice::kAuto, PlacementChoice::kOn);
  const PlacementPlan plan = device.plan();
  CHECK(plan.ability.places());
  CHECK(plan.text == "the card places received data (UC, permissions by memory windows)");
}

TEST_CASE("an emulated card places data only if the user asks for it") {
  Device device;
  device.port.driver = "rdma_rxe";
  device.settings.placement = PlacementChoice::kAuto;
  CHECK_FALSE(device.plan().ability.places());
  CHECK(device.tests == 0);
  device.settings.placement = PlacementChoice::kOn;
  CHECK(device.plan().ability.places());
}

TEST_CASE("a card that fails the test does not place data, and the reason is logged") {
  Device device;
  device.settings.placement = PlacementChoice::kOn;
  device.result =
      PlacementAbility{PlacementTransport::kUc, PermissionKind::kNone, "no keys", {}, 0us};
  CHECK_FALSE(device.plan().ability.places());
  CHECK(device.plan().text == "received data is copied, because the card cannot place it: no keys");
  device.result = Error{ErrorCode::kSystem, "cannot open it", "try again"};
  CHECK_FALSE(device.plan().ability.places());
  CHECK(device.plan().text ==
        "received data is copied, because the card could not be tested: cannot open it; try again");
}

TEST_CASE("over reliable queue pairs data is placed, except where it may be lost") {
  Device device;
  device.result->transport = PlacementTransport::kRc;
  SECTION("the card has no others") {
    device.settings.placement = PlacementChoice::kAuto;
  }
  SECTION("the user asks for them, on an emulated card too") {
    device.settings.placement = PlacementChoice::kRc;
    device.port.driver = "rdma_rxe";
  }
  CHECK(device.plan().ability.places());
  CHECK(device.plan().text ==
        "the card places received data (RC, permissions by memory windows), but not of messages "
        "that may lose data");
}

TEST_CASE("settings that need headers on all packets are stronger") {
  Device device;
  device.settings.placement = PlacementChoice::kOn;
  SECTION("DLCP_CHECKSUM") {
    device.settings.protection = wire::Protection::kFull;
  }
  SECTION("DLCP_FAULT") {
    device.settings.fault = "drop=0.1";
  }
  SECTION("DLCP_TRACE") {
    device.settings.trace_file = "/tmp/trace";
  }
  CHECK_FALSE(device.plan().ability.places());
  CHECK(device.tests == 0);
}
