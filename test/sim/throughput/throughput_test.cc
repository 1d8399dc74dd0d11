// Throughput of the transport in simulated time: regression tests, not benchmarks.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "seeds.h"
#include "wire/data/data_header.h"
#include "world.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;

namespace {

// The share of payload in the bytes on the wire, with packets of `payload` bytes.
double payload_share(double payload) {
  return payload / (payload + 40 + static_cast<double>(kIpUdpBytes + kEthernetBytes));
}

struct Carried {
  double goodput = 0;          // payload bits per second in the measured interval
  double busiest_to_mean = 0;  // over the spines, by bytes on the wire
};

// Two leaves, two spines, two hosts each; both hosts of one leaf send to one of the other.
Carried run_two_spines(std::uint64_t seed, const std::function<void(Network&)>& disturb) {
  WorldConfig config;
  const LinkConfig link{.rate = 200'000'000, .delay = 2us};
  config.network = leaf_spine(2, 2, 2, {.link = link, .paths = 32}, link);
  config.network.seed = config.seed = seed;
  World world(std::move(config));
  disturb(world.network());
  for (HostIndex from : {0u, 1u}) {
    const auto flow = world.open_flow(from, from + 2);
    for (int k = 0; k < 60; ++k)
      world.transfer(flow, 512 << 10);
  }
  const auto placed = [&] {
    return world.ledger().placed_bytes(2) + world.ledger().placed_bytes(3);
  };
  const auto bytes_at = [&](std::size_t spine) {
    return static_cast<double>(world.network().leaf_to_spine(0, spine).link().counters().bytes);
  };
  world.run_for(200ms);
  const auto before = placed();
  const double first = bytes_at(0);
  const double second = bytes_at(1);
  world.run_for(400ms);
  Carried carried;
  carried.goodput = static_cast<double>(placed() - before) * 8 / 0.4;
  const double a = bytes_at(0) - first;
  const double b = bytes_at(1) - second;
  carried.busiest_to_mean = std::max(a, b) / ((a + b) / 2);
  return carried;
}

// Payload rate in bit/s from one host to the other at 10 Gbit/s and a round trip of 50 us.
double run_pair(const LinkFaults& faults, std::uint64_t seed) {
  WorldConfig config;
  config.network = single_switch(2, {.link = {.rate = 10'000'000'000, .delay = 12'500ns}});
  config.network.seed = config.seed = seed;
  World world(std::move(config));
  world.network().host(0).nic().link().set_faults(faults);
  const auto flow = world.open_flow(0, 1);
  for (int k = 0; k < 60; ++k)
    world.transfer(flow, 1 << 20);
  world.run_for(5ms);
  const auto before = world.ledger().placed_bytes(1);
  world.run_for(30ms);
  return static_cast<double>(world.ledger().placed_bytes(1) - before) * 8 / 0.03;
}

}  // namespace

TEST_CASE("a clean link of 10 Gbit/s is filled") {
  const double goodput = run_pair({}, 1);
  fmt::print("clean link: {:.3f} Gbit/s of payload\n", goodput / 1e9);
  REQUIRE(goodput >= 0.9 * 10e9 * payload_share(1408));
}

// Packets that were only overtaken count as lost until the reordering window has grown.
TEST_CASE("jitter of half a round trip does not slow the first forty round trips") {
  for (const Duration round_trip : {Duration(30us), Duration(200us)}) {
    WorldConfig config;
    config.network = single_switch(2, {.link = {.rate = 10'000'000'000, .delay = round_trip / 4}});
    config.network.port.queue_bytes = 512 << 10;
    config.core.requests_max = 8;
    World world(std::move(config));
    world.network().host(0).nic().link().set_faults(
        {.reorder = 1, .reorder_delay = round_trip / 2});
    const auto flow = world.open_flow(0, 1);
    for (int k = 0; k < 60; ++k)
      world.transfer(flow, 256 << 10);
    world.run_for(40 * round_trip / 3);
    const auto before = world.ledger().placed_bytes(1);
    world.run_for(80 * round_trip / 3);
    const double seconds = static_cast<double>((80 * round_trip / 3).count()) * 1e-9;
    const auto placed = static_cast<double>(world.ledger().placed_bytes(1) - before);
    fmt::print("{} us, jitter of half of it: {:.3f} of the link\n", round_trip.count() / 1000,
               placed * 8 / seconds / 10e9);
    CHECK(placed * 8 / seconds >= 0.7 * 10e9);
  }
}

TEST_CASE("one percent of random loss costs at most a tenth of the throughput") {
  for_each_seed(
      3,
      [](std::uint64_t seed) {
        const double clean = run_pair({}, seed);
        const double lossy = run_pair({.drop = 0.01}, seed);
        fmt::print("1% loss: {:.3f} of clean\n", lossy / clean);
        REQUIRE(lossy >= 0.9 * clean);
      });
}

namespace {

// Three hosts send 40 messages each to a fourth, whose link is slower. Completion times are
// relative to those of ideal fluid flows that share the link evenly.
struct Incast {
  double last = 0;  // message
  double p99 = 0;
};

Incast run_incast(std::uint64_t seed) {
  WorldConfig config;
  config.network = single_switch(4, {.link = {.rate = 1'000'000'000, .delay = 2us}});
  config.network.hosts[3].link.rate = 200'000'000;
  // Without random elements all seeds would give the same run.
  Rng rng(seed);
  for (auto& host : config.network.hosts)
    host.link.delay += Duration(static_cast<std::int64_t>(rng.below(2000)));
  config.network.port.queue_bytes = 64 << 10;
  config.network.port.early_bytes = 16 << 10;
  config.network.seed = config.seed = seed;
  World world(std::move(config));
  constexpr std::size_t kBytes = 256 << 10;
  constexpr std::size_t kMessages = 40;
  for (HostIndex from : {0u, 1u, 2u}) {
    const auto flow = world.open_flow(from, 3);
    for (std::size_t k = 0; k < kMessages; ++k)
      world.transfer(flow, kBytes);
  }
  world.finish(60s);
  std::vector<std::int64_t> done;
  for (const auto& flow : world.ledger().flows())
    for (const auto& message : flow.messages)
      done.push_back(ns_of(message.done_at));
  // In the fluid model message k of each sender is complete when 3 (k + 1) messages have crossed.
  const double fluid_ns = 3 * kBytes * 8 / (200e6 * payload_share(1408)) * 1e9;
  std::vector<double> ratio;
  std::sort(done.begin(), done.end());
  for (std::size_t i = 0; i < done.size(); ++i)
    ratio.push_back(static_cast<double>(done[i]) / (fluid_ns * (1.0 + static_cast<double>(i / 3))));
  const double last = ratio.back();
  std::sort(ratio.begin(), ratio.end());
  return {last, ratio[ratio.size() * 99 / 100]};
}

}  // namespace

TEST_CASE("three senders to one port share it without collapse") {
  std::vector<double> p99;
  for_each_seed(20, [&](std::uint64_t seed) {
    const Incast incast = run_incast(seed);
    p99.push_back(incast.p99);
    REQUIRE(incast.last <= 1.15);
    REQUIRE(incast.p99 <= 1.25);
  });
  std::sort(p99.begin(), p99.end());
  fmt::print("incast: p99 message {:.3f} x fluid (median), {:.3f} at most\n", p99[p99.size() / 2],
             p99.back());
  // Determined by the first few messages of each sender, until the shares are equal.
  REQUIRE(p99[p99.size() / 2] <= 1.18);
}

TEST_CASE("two spines carry nine tenths of the bisection bandwidth, evenly") {
  double sum = 0;
  double runs = 0;
  for_each_seed(3, [&](std::uint64_t seed) {
    const auto carried = run_two_spines(seed, [](Network&) {});
    const double share = carried.goodput / (400e6 * payload_share(1408));
    fmt::print("two spines: {:.3f} of the bisection, busiest/mean {:.3f}\n", share,
               carried.busiest_to_mean);
    sum += share;
    ++runs;
    REQUIRE(share >= 0.85);
    REQUIRE(carried.busiest_to_mean <= 1.1);
  });
  REQUIRE(sum / runs >= 0.9);
}

TEST_CASE("with one spine dead, seven tenths of the remaining bandwidth are used") {
  for_each_seed(
      3,
      [](std::uint64_t seed) {
        const auto carried = run_two_spines(
            seed,
            [](Network& network) {
              network.add_spine_outage(1, time_from_ns(20'000'000), kNever);
            });
        fmt::print("one spine dead: {:.3f} of what is left\n",
                   carried.goodput / (200e6 * payload_share(1408)));
        REQUIRE(carried.goodput >= 0.7 * 200e6 * payload_share(1408));
      });
}

TEST_CASE(
    "with one spine dropping a tenth of its packets, seven tenths of the bandwidth are used") {
  for_each_seed(
      3,
      [](std::uint64_t seed) {
        const auto carried = run_two_spines(
            seed,
            [](Network& network) {
              for (std::size_t leaf : {0u, 1u})
                network.leaf_to_spine(leaf, 1).link().set_faults({.drop = 0.1});
            });
        fmt::print("one spine drops 10%: {:.3f} of what is left\n",
                   carried.goodput / (380e6 * payload_share(1408)));
        REQUIRE(carried.goodput >= 0.7 * 380e6 * payload_share(1408));
      });
}

TEST_CASE(
    "a message with no packets behind it requests no acknowledgement, however small the window") {
  WorldConfig config;
  config.network = single_switch(2, {.receive_queue_bytes = 8192});
  World world(std::move(config));
  int data = 0, asks = 0;
  world.set_filter([&](HostIndex, std::vector<std::byte>& datagram) {
    if (const auto packet = wire::decode_data(datagram)) {
      ++data;
      asks += packet->header.asks_ack ? 1 : 0;
    }
    return true;
  });
  const auto flow = world.open_flow(0, 1);
  for (int k = 0; k < 100; ++k)  // one message at a time
    world.transfer(flow, 64, time_from_ns(1'000'000 + k * 100'000));
  world.finish(5s);
  CHECK(data >= 100);
  CHECK(asks == 0);
  world.transfer(flow, 100'000);  // if packets wait behind each other some request an ACK
  world.finish(5s);
  CHECK(asks > 0);
}

TEST_CASE("a message that the window holds requests no acknowledgement, posted or not") {
  for (const Duration receive_later : {Duration(0us), Duration(20us)}) {
    WorldConfig config;
    config.network = single_switch(2, {});
    World world(std::move(config));
    int asks = 0;
    world.set_filter([&](HostIndex, std::vector<std::byte>& datagram) {
      if (const auto packet = wire::decode_data(datagram)) asks += packet->header.asks_ack ? 1 : 0;
      return true;
    });
    const auto flow = world.open_flow(0, 1);
    for (int k = 0; k < 20; ++k) {
      if (k == 10) asks = 0;  // the window has grown
      world.transfer(flow, 60'000, world.now(), world.now() + receive_later);
      world.finish(5s);
    }
    CHECK(asks == 0);
  }
}

namespace {

WorldConfig two_at_100_gbit() {
  WorldConfig config;
  config.network =
      single_switch(2, {.link = {.rate = 100'000'000'000, .delay = 3us}, .mtu = 4200, .paths = 16});
  return config;
}

}  // namespace

// Neither the first packets nor a small window may wait for a timer that is slow compared with the
// path's round trip.
TEST_CASE("at 100 Gbit/s and 12 us the first half megabyte takes less than eight round trips") {
  World world(two_at_100_gbit());
  const auto flow = world.open_flow(0, 1);
  world.run_for(5ms);
  const Time begin = world.now();
  world.transfer(flow, 512 << 10);
  world.finish(1s);
  const Duration took = world.ledger().last_done_at() - begin;
  fmt::print("512 KiB: {} us\n", static_cast<double>(took.count()) / 1e3);
  REQUIRE(took <= 95us);  // the link alone takes 44 us
}

// The sender has stopped at the eager allowance of a message whose receive is not posted.
TEST_CASE("a late post of a receive is reported to the sender at once") {
  World world(two_at_100_gbit());
  const auto flow = world.open_flow(0, 1);
  world.run_for(5ms);
  const Time posted = world.now() + 1ms;
  world.transfer(flow, 512 << 10, world.now(), posted);
  world.finish(1s);
  const Duration took = world.ledger().last_done_at() - posted;
  fmt::print("512 KiB, the receive posted late: {} us\n", static_cast<double>(took.count()) / 1e3);
  REQUIRE(took <=
          90us);  // 64 KiB have arrived already; the rest takes 38 us and a round trip of 13 us
}
