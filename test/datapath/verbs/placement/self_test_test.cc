// The self-test on fake devices that lack something, or do something wrong.
#include "datapath/verbs/placement/self_test/self_test.h"

#include "../../../catch.h"
#include "datapath/verbs/placement/fake_card/fake_write_card.h"

namespace dlcp::datapath::test {
namespace {

constexpr const char* kWindowsAndRegions =
    ", permissions by memory windows, in a dma-buf by regions, drivers for GPU memory by dma-buf";

struct Device {
  Device() {
    card->copy_steps = 4;
    card->steps_on_poll = true;
    port.device = "fake";
    port.driver = "mlx5_core";
    port.gid.ip = parse_ip_address("10.0.0.1").value();
  }
  ~Device() {
    CHECK(card->regions.empty());
    CHECK(card->others.empty());
    CHECK(card->queue_pairs() == 0);
  }
  PlacementAbility test(bool only_reliable = false) {
    return self_test(card, port, only_reliable, "/nonexistent").value();
  }

  std::shared_ptr<FakeWriteCard> card = std::make_shared<FakeWriteCard>();
  RocePort port;
};

TEST_CASE("a card with UC and windows uses both") {
  Device device;
  const PlacementAbility ability = device.test();
  CHECK(to_string(ability) == "UC, permissions by memory windows");
  CHECK(ability.reason.empty());
}

TEST_CASE("a device without windows revokes regions") {
  Device device;
  device.card->has_windows = false;
  const PlacementAbility ability = device.test();
  CHECK(to_string(ability) == "UC, permissions by memory regions");
  CHECK_THAT(ability.reason, Contains("memory windows: cannot allocate a memory window"));
}

TEST_CASE("a software device revokes regions, however its windows behave") {
  Device device;
  device.port.driver = "rdma_rxe";
  const PlacementAbility ability = device.test();
  CHECK(ability.permissions == PermissionKind::kRegion);
  CHECK_THAT(ability.reason, Contains("software device"));
}

TEST_CASE("an unbind that does not wait for writes in progress is noticed") {
  Device device;
  device.card->unbind_waits = false;
  const PlacementAbility ability = device.test();
  CHECK(ability.permissions == PermissionKind::kRegion);
  CHECK_THAT(ability.reason, Contains("bytes changed after the permission was revoked"));
}

TEST_CASE("over RC too, an unbind that does not wait for writes in progress is noticed") {
  Device device;
  device.card->unbind_waits = false;
  const PlacementAbility ability = device.test(true);
  CHECK(to_string(ability) == "RC, permissions by memory regions");
  CHECK_THAT(ability.reason, Contains("bytes changed after the permission was revoked"));
}

TEST_CASE("a card that writes with revoked keys is not used, over UC or RC") {
  Device device;
  device.card->has_windows = false;
  device.card->keys_outlive_regions = true;
  const PlacementAbility ability = device.test();
  CHECK_FALSE(ability.places());
  CHECK_THAT(ability.reason, Contains("a write with a revoked key is not dropped silently") &&
                                 Contains("a write with a revoked key is not refused"));
}

TEST_CASE("binds that fail leave regions") {
  Device device;
  device.card->fails_binds = true;
  CHECK(device.test().permissions == PermissionKind::kRegion);
}

TEST_CASE("a device without UC uses RC") {
  Device device;
  device.card->has_uc = false;
  const PlacementAbility ability = device.test();
  CHECK(to_string(ability) == "RC, permissions by memory windows");
  CHECK_THAT(ability.reason, Contains("UC: cannot create a connected queue pair on fake:1"));
}

TEST_CASE("a device with UC uses RC if that is asked for") {
  Device device;
  const PlacementAbility ability = device.test(true);
  CHECK(to_string(ability) == "RC, permissions by memory windows");
  CHECK(ability.reason.empty());
}

TEST_CASE("a dead key that consumes a receive rules the way out") {
  Device device;
  device.card->dead_keys_take_receives = true;
  const PlacementAbility ability = device.test();
  CHECK(ability.transport == PlacementTransport::kRc);
  CHECK_THAT(ability.reason, Contains("is not dropped silently"));
}

TEST_CASE("a device with windows uses dma-bufs if the end of a region is proven to revoke") {
  Device device;
  device.card->has_dma_buf = true;
  const bool only_reliable = GENERATE(false, true);
  PlacementAbility ability = device.test(only_reliable);
  CHECK(to_string(ability) == (only_reliable ? "RC" : "UC") + std::string(kWindowsAndRegions));
  CHECK(ability.reason.empty());
  CHECK(ability.places_in_gpus().dma_buf);
  CHECK(ability.region_time > Duration::zero());
  std::string wrong;
  SECTION("a deregistered region can still be written to") {
    device.card->keys_outlive_regions = true;
    wrong = only_reliable ? "a write with a revoked key is not refused"
                          : "a write with a revoked key is not dropped silently";
  }
  SECTION("the end of a region does not wait for writes in progress") {
    device.card->dereg_waits = false;
    wrong = "bytes changed after the permission was revoked";
  }
  ability = device.test(only_reliable);
  CHECK(ability.permissions == PermissionKind::kWindow);
  CHECK_FALSE(ability.places_in_gpus().dma_buf);
  CHECK(ability.reason == "GPU memory: dma-buf needs permissions by memory regions: " + wrong);
}

TEST_CASE("without dma-buf, a device with windows does not test regions") {
  Device device;
  const PlacementAbility ability = device.test();
  CHECK(ability.permissions == PermissionKind::kWindow);
  CHECK(ability.region_time == Duration::zero());
}

TEST_CASE("GPU memory is used only by a device that can read from itself") {
  Device device;
  device.card->has_dma_buf = true;
  device.card->has_windows = false;
  CHECK(device.test().places_in_gpus().dma_buf);
  device.card->fails_reads = true;
  const PlacementAbility ability = device.test();
  CHECK(ability.places());
  CHECK_FALSE(ability.places_in_gpus().dma_buf);
  CHECK_THAT(ability.reason, Contains("GPU memory: the device cannot read from itself"));
}

TEST_CASE("a device that places nothing, or cannot revoke, is not used") {
  Device device;
  SECTION("no write arrives") {
    device.card->refuses_posts = true;
  }
  SECTION("no queue pairs") {
    device.card->refuses_queue_pairs = true;
  }
  const PlacementAbility ability = device.test();
  CHECK_FALSE(ability.places());
  CHECK(to_string(ability) == "no placed packets");
  CHECK_THAT(ability.reason, Contains("UC: ") && Contains("; RC: "));
}

}  // namespace
}  // namespace dlcp::datapath::test
