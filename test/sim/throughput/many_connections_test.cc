// NCCL opens several connections (channels) between two ranks. They must cost no more than one: in
// time, bursts and acknowledgements, whatever the number of ranks and the size of the messages.
// Simulated time, so that the results do not depend on the machine.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "catch.h"
#include "world.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

struct Shape {
  const char* name = "";
  std::size_t ranks = 2;
  bool all_to_all = false;
  std::size_t message_bytes = 0;
  double drop = 0;
};

// Means over kSeeds worlds.
struct Cost {
  double time_us = 0;
  double acks_per_packet = 0;
  double packets_per_burst = 0;
  double repeated = 0;  // share of the packets
};

constexpr int kSeeds = 3;  // a single world's time varies by 10%

// Each rank sends about 2 MiB, but at least 16 messages, to its successor, or as much to all others
// together.
void add_run(const Shape& shape, std::size_t channels, std::uint64_t seed, Cost& cost) {
  WorldConfig config;
  config.seed = seed;
  config.network =
      single_switch(shape.ranks, {.link = {.rate = 10'000'000'000, .delay = 5us}, .paths = 16});
  World world(std::move(config));
  world.network().set_edge_faults({.drop = shape.drop});
  const std::size_t peers = shape.all_to_all ? shape.ranks - 1 : 1;
  const std::size_t wanted = (2 << 20) / peers / shape.message_bytes;
  const std::size_t messages = std::max<std::size_t>(wanted / 16, 1) * 16;
  std::vector<std::size_t> flows;
  for (HostIndex from = 0; from < shape.ranks; ++from) {
    for (std::size_t step = 1; step <= peers; ++step) {
      const auto to = static_cast<HostIndex>((from + step) % shape.ranks);
      for (std::size_t channel = 0; channel < channels; ++channel) {
        flows.push_back(world.open_flow(from, to));
        world.transfer(flows.back(), 1);
      }
    }
  }
  world.finish(1s);
  for (const std::size_t flow : flows)
    for (std::size_t message = 0; message < messages / channels; ++message)
      world.transfer(flow, shape.message_bytes);
  const Time begin = world.now();
  REQUIRE(world.run_until(begin + 10s, [&] { return world.finished(); }));
  const Duration time = world.now() - begin;
  world.finish(1s);
  const auto sum = [&](Counter counter) { return static_cast<double>(world.sum(counter)); };
  cost.time_us += std::chrono::duration<double, std::micro>(time).count() / kSeeds;
  cost.acks_per_packet += sum(Counter::kAcksSent) / sum(Counter::kPacketsSent) / kSeeds;
  cost.packets_per_burst += sum(Counter::kPacketsSent) / sum(Counter::kBurstsSent) / kSeeds;
  cost.repeated += sum(Counter::kPacketsRetransmitted) / sum(Counter::kPacketsSent) / kSeeds;
}

Cost run(const Shape& shape, std::size_t channels) {
  Cost cost;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    add_run(shape, channels, seed, cost);
  return cost;
}

constexpr double kTolerance = 1.15;

}  // namespace

TEST_CASE("several channels cost no more than one") {
  for (const Shape& shape :
       {Shape{"pair", 2, false, 64 << 10}, Shape{"pair", 2, false, 1 << 20},
        Shape{"ring", 4, false, 256 << 10}, Shape{"ring", 8, false, 64 << 10},
        Shape{"all to all", 4, true, 64 << 10}, Shape{"all to all", 8, true, 16 << 10},
        Shape{"all to all", 8, true, 4 << 10}, Shape{"ring, 1% lost", 4, false, 256 << 10, 0.01}}) {
    const Cost one = run(shape, 1);
    for (const std::size_t channels : {2u, 8u, 16u}) {
      const Cost many = run(shape, channels);
      const std::string text = fmt::format(
          "{} of {}, {} KiB, {} channels: time {:.0f} and {:.0f} us, ACKs per packet {:.4f} and "
          "{:.4f}, packets per burst {:.1f} and {:.1f}, repeated {:.4f} and {:.4f}",
          shape.name, shape.ranks, shape.message_bytes >> 10, channels, one.time_us, many.time_us,
          one.acks_per_packet, many.acks_per_packet, one.packets_per_burst, many.packets_per_burst,
          one.repeated, many.repeated);
      INFO(text);
      CHECK(many.time_us <= kTolerance * one.time_us);
      CHECK(many.acks_per_packet <= 1.4 * one.acks_per_packet);
      CHECK(many.packets_per_burst >= 0.75 * one.packets_per_burst);
      CHECK(many.repeated <= 1.2 * shape.drop);
    }
  }
}
