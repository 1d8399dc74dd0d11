// Networks that drop packets by their DSCP or ECN, but pass packets without them.
#include "catch.h"
#include "random_world.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;

namespace {

// The simulated time in which messages cross the network in both directions.
Duration time_to_cross(bool (*drops)(const Frame& frame)) {
  World world(behind_a_switch());
  LinkFaults faults;
  faults.drops = drops;
  world.network().set_faults(faults);
  const auto flow = world.open_flow(0, 1);
  const auto back = world.open_flow(1, 0);
  world.transfer(flow, 1'000'000);
  world.transfer(back, 1'000'000);
  world.finish(10s);
  return world.ledger().last_done_at() - Time{};
}

constexpr std::uint8_t kControl = row_of(TrafficClass::kControl).dscp;
constexpr std::uint8_t kExact = row_of(TrafficClass::kExact).dscp;

bool drops_control(const Frame& frame) {
  return frame.dscp == kControl;
}
bool drops_exact(const Frame& frame) {
  return frame.dscp == kExact;
}

// A policy that drops nothing, and counts data packets without marks.
unsigned unmarked_data = 0;
bool count_unmarked(const Frame& frame) {
  if (frame.bytes.size() > 1000 && frame.dscp == 0) ++unmarked_data;
  return false;
}

}  // namespace

TEST_CASE("a network that drops the DSCP of control packets delays the set-up by half a second") {
  CHECK(time_to_cross([](const Frame& frame) { return frame.dscp == kControl; }) < 600ms);
  CHECK(time_to_cross([](const Frame& frame) {
          return frame.dscp == kControl && frame.source == 0;
        }) < 600ms);
  CHECK(time_to_cross([](const Frame& frame) {
          return frame.dscp == kControl && frame.source == 1;
        }) < 600ms);
}

TEST_CASE("a network that drops packets with ECN delays the set-up by half a second") {
  CHECK(time_to_cross([](const Frame& frame) { return frame.ecn != Ecn::kNotEct; }) < 600ms);
  CHECK(time_to_cross([](const Frame& frame) {
          return frame.ecn != Ecn::kNotEct && frame.destination == 1;
        }) < 600ms);
}

TEST_CASE("a network that drops only the DSCP of data delays the first message by a second") {
  CHECK(time_to_cross([](const Frame& frame) { return frame.dscp == kExact; }) < 1s);
  CHECK(time_to_cross(
            [](const Frame& frame) { return frame.dscp == kExact && frame.source == 0; }) < 1s);
}

TEST_CASE("a network that drops marks delays a listener that does not run at first no further") {
  World world(behind_a_switch());
  LinkFaults faults;
  faults.drops = drops_control;
  world.network().set_faults(faults);
  world.freeze(1, 2s);
  world.transfer(world.open_flow(0, 1), 1'000'000);
  world.finish(3s);
}

TEST_CASE("a network that drops marks and has one path with a long RTT delays the set-up only") {
  WorldConfig config;
  config.network = single_switch(2, {.link = {.delay = 15ms}, .paths = 1});
  World world(config);
  LinkFaults faults;
  faults.drops = drops_control;
  world.network().set_faults(faults);
  world.transfer(world.open_flow(0, 1), 1'000);
  world.finish(1s);
}

TEST_CASE("data that is lost for a while costs no marks at a host that has received data before") {
  World world(behind_a_switch());
  LinkFaults faults;
  faults.drops = count_unmarked;
  world.network().set_faults(faults);
  unmarked_data = 0;
  const auto first = world.open_flow(0, 1);
  world.transfer(first, 1'000'000);
  world.finish(1s);
  world.close_sender(first);
  world.close_receiver(first);
  faults.drops = drops_exact;
  world.network().set_faults(faults);
  world.transfer(world.open_flow(0, 1), 1'000'000);
  world.run_for(2s);
  faults.drops = count_unmarked;
  world.network().set_faults(faults);
  world.finish(5s);
  CHECK(unmarked_data == 0);
}

TEST_CASE("an outage, or a process that is stopped during the set-up, costs no marks") {
  for (const bool stops : {false, true}) {
    CAPTURE(stops);
    World world(behind_a_switch());
    LinkFaults faults;
    faults.drops = count_unmarked;
    world.network().set_faults(faults);
    unmarked_data = 0;
    if (stops)
      world.freeze(1, 2s);
    else
      world.network().add_outage(Time{}, Time{} + 2s);
    const auto flow = world.open_flow(0, 1);
    const auto back = world.open_flow(1, 0);
    world.transfer(flow, 1'000'000);
    world.transfer(back, 1'000'000);
    world.finish(6s);
    CHECK(unmarked_data == 0);
  }
}
