// Paths whose bandwidth-delay product is far larger than the receiver's buffers.
#include <fmt/format.h>

#include <algorithm>

#include "catch.h"
#include "world.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;

namespace {

struct Carried {
  double share = 0;  // payload, as a share of the link's bits
  std::uint64_t overflowed = 0;
  std::uint64_t retransmitted = 0;
};

struct LongPath {
  BitsPerSecond rate = 1'000'000'000;
  Duration round_trip = 100ms;
  std::size_t message_bytes = 4 << 20;
  int warm = 20;  // round trips before the measured ones
  int counted = 6;
  double drop = 0;
};

// Eight messages are outstanding, as with NCCL.
Carried run(const LongPath& path) {
  WorldConfig config;
  config.network = single_switch(2, {.link = {.rate = path.rate, .delay = path.round_trip / 4}});
  config.network.port.queue_bytes = 64 << 20;
  config.core.requests_max = 8;
  World world(std::move(config));
  world.network().host(0).nic().link().set_faults({.drop = path.drop});
  const auto flow = world.open_flow(0, 1);
  const double bytes = static_cast<double>(path.rate) / 8e9 *
                       static_cast<double>(((path.warm + path.counted) * path.round_trip).count());
  for (std::size_t sent = 0; sent < static_cast<std::size_t>(bytes); sent += path.message_bytes)
    world.transfer(flow, path.message_bytes);
  world.run_for(path.warm * path.round_trip);
  const auto before = world.ledger().placed_bytes(1);
  world.run_for(path.counted * path.round_trip);
  const auto placed = static_cast<double>(world.ledger().placed_bytes(1) - before);
  const auto ns = static_cast<double>((path.counted * path.round_trip).count());
  return {placed * 8e9 / ns / static_cast<double>(path.rate),
          world.network().host(1).counters().receive_dropped,
          world.sum(core::Counter::kPacketsRetransmitted)};
}

void print(const char* what, const Carried& carried) {
  fmt::print("{}: {:.3f} of the link, {} overflowed, {} retransmitted\n", what, carried.share,
             carried.overflowed, carried.retransmitted);
}

}  // namespace

TEST_CASE(
    "a path of 10 ms and 10 Gbit/s is filled though the receiver's buffers hold only a tenth") {
  const Carried carried = run({.rate = 10'000'000'000, .round_trip = 10ms});
  print("10 ms, 10 Gbit/s", carried);
  CHECK(carried.overflowed == 0);
  REQUIRE(carried.share >= 0.8);
}

TEST_CASE(
    "a path of 100 ms and 1 Gbit/s is filled though the receiver's buffers hold only a tenth") {
  const Carried carried = run({});
  print("100 ms, 1 Gbit/s", carried);
  CHECK(carried.overflowed == 0);
  REQUIRE(carried.share >= 0.8);
}

TEST_CASE("a path of 100 ms and 1 Gbit/s is filled at a loss of 0.1%") {
  const Carried carried = run({.drop = 0.001});
  print("100 ms, 1 Gbit/s, 0.1% loss", carried);
  REQUIRE(carried.share >= 0.8);
}
