// Bounded loss on the simulated network. The world checks that messages lose data only if both ends
// have licensed them, that holes are whole elements, and that nothing is written late. These tests
// check that no collective loses more than P, that licences cost nothing on a network without loss,
// and that a message does not wait for its lost tail.
#include <fmt/format.h>

#include "core/bounded_loss/loss_ledger.h"
#include "datapath/sim/network.h"
#include "random_world.h"
#include "seeds.h"
#include "wire/data/data_header.h"
#include "world.h"

using namespace dlcp;
using namespace dlcp::test;
using core::Counter;
using core::Licence;
using gradient::ElementType;

namespace {

// Parts of a ring all-reduce, as far as licences are concerned: each of `ranks` hosts sends one
// message per stage to the next; the first ranks - 1 messages are partial sums.
struct Ring {
  std::uint32_t ranks = 4;
  std::size_t message_bytes = 128 << 10;
  std::uint32_t budget_ppm = 20'000;
  std::uint32_t collectives = 2;
  std::uint32_t stage_step = 1;  // for large rings: only every stage_step-th stage is sent

  std::uint64_t result_bytes() const { return message_bytes * ranks; }
  std::vector<std::uint32_t> stages() const {
    std::vector<std::uint32_t> stages;
    for (std::uint32_t stage = 0; stage < 2 * (ranks - 1); stage += stage_step)
      stages.push_back(stage);
    return stages;
  }
  Licence licence(std::uint64_t collective, std::uint32_t stage) const {
    return {collective, result_bytes(), ranks, ranks, stage, budget_ppm, ElementType::kFloat32};
  }
};

WorldConfig ring_world(const Ring& ring, std::uint64_t seed) {
  WorldConfig config;
  config.network = datapath::sim::single_switch(ring.ranks, host_at(10'000'000'000));
  config.network.port.queue_bytes = 512 << 10;
  config.network.port.early_bytes = 128 << 10;
  config.network.seed = config.seed = seed;
  return config;
}

void run_ring(World& world, const Ring& ring) {
  for (std::uint32_t rank = 0; rank < ring.ranks; ++rank) {
    const std::size_t flow = world.open_flow(rank, (rank + 1) % ring.ranks);
    for (std::uint64_t collective = 1; collective <= ring.collectives; ++collective) {
      for (const std::uint32_t stage : ring.stages()) {
        Message& message = world.transfer(flow, ring.message_bytes);
        message.send_licence = message.receive_licence = ring.licence(collective, stage);
      }
    }
  }
}

// Checks the contributions lost of each collective over all ranks, which every rank's result lacks.
void check_budget(World& world, const Ring& ring) {
  const auto stages = ring.stages();
  std::vector<double> lost(ring.collectives);
  for (std::uint32_t rank = 0; rank < ring.ranks; ++rank) {
    const Flow& flow = world.flow(rank);
    for (std::size_t i = 0; i < flow.messages.size(); ++i) {
      const std::uint32_t stage = stages[i % stages.size()];
      const std::size_t bytes = flow.messages[i].lost;
      if (bytes > 0 && stage + 1 >= ring.ranks)
        throw Violation(fmt::format("{} bytes lost of a final value, stage {}", bytes, stage));
      lost[i / stages.size()] += static_cast<double>(bytes) * (stage + 1);
    }
  }
  for (const double contributions : lost) {
    const double share = contributions / (static_cast<double>(ring.result_bytes()) * ring.ranks);
    if (share * core::kBudgetScale > ring.budget_ppm) {
      throw Violation(
          fmt::format("a share of {} lost, allowed are {} ppm", share, ring.budget_ppm));
    }
  }
}

}  // namespace

TEST_CASE("a licensed ring never loses more than its budget, and no final value") {
  std::uint64_t lost = 0;
  for_each_seed(150, [&](std::uint64_t seed) {
    Rng rng(seed);
    Ring ring;
    ring.ranks = 2 + static_cast<std::uint32_t>(rng.below(5));
    ring.message_bytes = (64 + 16 * rng.below(8)) << 10;
    ring.budget_ppm = 1000 * static_cast<std::uint32_t>(1 + rng.below(100));
    World world(ring_world(ring, seed));
    const double drop = 0.01 * rng.unit();
    world.network().set_edge_faults({.drop = drop});
    run_ring(world, ring);
    run_through_storms(world, rng, drop);
    check_budget(world, ring);
    lost += world.sum(Counter::kBytesLost);
  });
  CHECK(lost > 0);
}

TEST_CASE("the bound holds in a ring of 64 as well") {
  for_each_seed(
      3,
      [](std::uint64_t seed) {
        Ring ring;
        ring.ranks = 64;
        ring.message_bytes = 64 << 10;
        ring.budget_ppm = 100'000;
        ring.collectives = 1;
        ring.stage_step = 31;
        World world(ring_world(ring, seed));
        datapath::sim::LinkFaults faults;
        faults.drop = 0.02;
        world.network().set_edge_faults(faults);
        run_ring(world, ring);
        world.finish(20s);
        check_budget(world, ring);
        CHECK(world.sum(Counter::kBytesLost) > 0);
      });
}

TEST_CASE("on a clean network no licensed data is lost, however slow the hosts' processors are") {
  for_each_seed(
      40,
      [](std::uint64_t seed) {
        Rng rng(seed);
        Ring ring;
        ring.ranks = 2 * (1 + static_cast<std::uint32_t>(rng.below(2)));
        ring.budget_ppm = 100'000;
        WorldConfig config = ring_world(ring, seed);
        // In half of the worlds paths differ greatly in length: a SENT_ONCE on a short path
        // overtakes data on a long one.
        const bool spread = seed % 2 == 0;
        if (spread) {
          const auto host = host_at(10'000'000'000);
          config.network = datapath::sim::leaf_spine(2, 4, ring.ranks / 2, host, host.link);
          config.network.port.queue_bytes = 4 << 20;
          config.network.port.early_bytes = 4 << 20;
          config.network.seed = seed;
        }
        config.host.packet_cost = Duration(static_cast<std::int64_t>(rng.below(3000)));
        config.host.pause_every = 500us;
        config.host.pause_length = Duration(static_cast<std::int64_t>(rng.below(1'000'000)));
        config.host.freeze_every = 300us;
        config.host.freeze_length = Duration(static_cast<std::int64_t>(rng.below(3'000'000)));
        if (rng.chance(0.5)) config.core.unposted_pool_bytes = 16384;
        World world(config);
        for (std::size_t spine = 0; spread && spine < 4; ++spine) {
          for (std::size_t leaf = 0; leaf < 2; ++leaf) {
            auto link = host_at(10'000'000'000).link;
            link.delay = Duration(static_cast<std::int64_t>(1000 + rng.below(300'000)));
            world.network().leaf_to_spine(leaf, spine).link().set_config(link);
          }
        }
        run_ring(world, ring);
        world.finish(20s);
        CHECK(world.sum(Counter::kBytesLost) == 0);
      });
}

TEST_CASE("traffic that waits in other queues, or overtakes, causes no loss") {
  for_each_seed(
      20,
      [](std::uint64_t seed) {
        Rng rng(seed);
        Ring ring;
        ring.budget_ppm = 250'000;
        ring.collectives = 6;
        WorldConfig config = ring_world(ring, seed);
        const auto host = host_at(10'000'000'000);
        config.network = datapath::sim::leaf_spine(2, 4, 2, host, host.link);
        config.network.port.queue_bytes = config.network.port.early_bytes = 16 << 20;
        config.network.seed = seed;
        World world(config);
        for (std::size_t spine = 0; spine < 4; ++spine) {
          auto link = host.link;
          link.rate = 500'000'000 + rng.below(3'000'000'000);
          for (std::size_t leaf = 0; leaf < 2; ++leaf)
            world.network().leaf_to_spine(leaf, spine).link().set_config(link);
        }
        run_ring(world, ring);
        for (std::uint32_t rank = 0; rank < ring.ranks; ++rank) {
          for (Message& message : world.flow(rank).messages) {
            message.send_licence.urgent =
                rng.chance(0.5);  // the receiver need not have that information
            if (rng.chance(0.2)) message.send_licence = {};
          }
        }
        for (HostIndex from = 0; from < 4; ++from) {
          const std::size_t beside = world.open_flow(from, (from + 2) % 4);
          for (int i = 0; i < 20; ++i)
            world.transfer(beside, ring.message_bytes);
        }
        world.finish(20s);
        CHECK(world.sum(Counter::kBytesLost) == 0);
      });
}

TEST_CASE("messages licensed at one end only are exact, and arrive") {
  for_each_seed(
      40,
      [](std::uint64_t seed) {
        Rng rng(seed);
        Ring ring;
        ring.ranks = 2;
        ring.budget_ppm = 200'000;
        World world(ring_world(ring, seed));
        datapath::sim::LinkFaults faults;
        faults.drop = 0.05;
        world.network().set_edge_faults(faults);
        run_ring(world, ring);
        for (std::size_t flow = 0; flow < 2; ++flow)
          for (Message& message : world.flow(flow).messages)
            (rng.chance(0.5) ? message.send_licence : message.receive_licence) = {};
        world.finish(20s);
        CHECK(world.sum(Counter::kBytesLost) == 0);
      });
}

TEST_CASE("licensed messages beside exact ones work in worlds of every kind") {
  std::uint64_t lost = 0;
  for_each_seed(200, [&](std::uint64_t seed) {
    Rng rng(seed);
    const auto draw = [&] {
      WorldConfig config = random_world(rng, seed);
      config.core.licence_bytes_min = 1 + rng.below(4096);
      World world(config);
      world.network().set_edge_faults(
          random_faults(rng, 0.1, world.endpoint(0).config().protection));
      add_random_traffic(world, rng);
      for (Flow& flow : world.ledger().flows()) {
        std::uint64_t collective = 0;
        for (Message& message : flow.messages) {
          if (rng.chance(0.3)) continue;
          const Licence licence{
              ++collective,         4 << 20, 4, 4, static_cast<std::uint32_t>(rng.below(4)), 50'000,
              ElementType::kFloat32};
          if (rng.chance(0.9)) message.send_licence = licence;
          if (rng.chance(0.9)) message.receive_licence = licence;
        }
      }
      world.finish(60s);
      lost += world.sum(Counter::kBytesLost);
      return world.event_hash();
    };
    const Rng before = rng;
    const auto hash = draw();
    if (seed % 20 != 0) return;
    rng = before;
    if (draw() != hash) throw Violation("the same seed tells another story");
  });
  CHECK(lost > 0);
}

TEST_CASE("a message completes without waiting for a lost packet within its budget") {
  Ring ring;
  ring.ranks = 2;
  ring.collectives = 1;
  ring.budget_ppm = 100'000;
  const auto done_after = [&](bool licensed) {
    World world(ring_world(ring, 1));
    const std::size_t flow = world.open_flow(0, 1);
    // The 40th and 80th data packet never arrive, nor do their retransmissions.
    int packets = 0;
    std::vector<std::uint32_t> victims;
    world.set_filter([&](HostIndex to, std::vector<std::byte>& datagram) {
      const auto data = wire::decode_data(datagram);
      if (to != 1 || !data) return true;
      if (!data->header.retransmission && (++packets == 40 || packets == 80)) return false;
      return true;
    });
    Message& message = world.transfer(flow, ring.message_bytes);
    if (licensed) message.send_licence = message.receive_licence = ring.licence(1, 0);
    world.finish(1s);
    CHECK(world.sum(Counter::kMessagesShort) == (licensed ? 1 : 0));
    CHECK(world.sum(Counter::kPacketsRetransmitted) == (licensed ? 0 : 2));
    return message.done_at - message.send_posted_at;
  };
  const Duration exact = done_after(false);
  const Duration licensed = done_after(true);
  INFO("exact " << exact.count() << " ns, licensed " << licensed.count() << " ns");
  CHECK(licensed < exact);
}

TEST_CASE("a lost SENT_ONCE, STOP or NEED costs less than a millisecond on a path of 20 us") {
  const auto type =
      GENERATE(wire::FrameType::kSentOnce, wire::FrameType::kStop, wire::FrameType::kNeed);
  Ring ring;
  ring.ranks = 2;
  ring.collectives = 1;
  ring.budget_ppm = 100'000;
  World world(ring_world(ring, 1));
  const std::size_t flow = world.open_flow(0, 1);
  for (int i = 0; i < 20; ++i)
    world.transfer(flow, ring.message_bytes);  // the RTT becomes known
  world.finish(1s);
  int packets = 0;
  Time first = kNever;
  world.set_filter([&](HostIndex to, std::vector<std::byte>& datagram) {
    const auto data = wire::decode_data(datagram);
    if (data && !data->header.retransmission && ++packets == 40) return false;
    const auto head = wire::decode_head(datagram);
    if (head->type == type) first = std::min(first, world.now());
    // The acknowledgement that follows STOP also tells that the message is complete.
    const bool loses = head->type == type || (to == 0 && head->type == wire::FrameType::kAck &&
                                              type == wire::FrameType::kStop);
    return !loses || first == kNever || world.now() - first > 50us;
  });
  Message& message = world.transfer(flow, ring.message_bytes);
  message.send_licence = ring.licence(1, 0);
  if (type != wire::FrameType::kNeed) message.receive_licence = message.send_licence;
  REQUIRE(
      world.run_until(world.now() + 1s, [&] { return message.send_done && message.receive_done; }));
  CHECK(first != kNever);
  const Duration took = world.now() - message.send_posted_at;
  INFO(took.count() << " ns");
  CHECK(took < 800us);
}

TEST_CASE("late data of a completed message is never written") {
  Ring ring;
  ring.ranks = 2;
  ring.collectives = 1;
  ring.budget_ppm = 100'000;
  World world(ring_world(ring, 1));
  const std::size_t flow = world.open_flow(0, 1);
  std::vector<std::vector<std::byte>> kept;
  int packets = 0;
  world.set_filter([&](HostIndex to, std::vector<std::byte>& datagram) {
    if (to != 1 || !wire::decode_data(datagram)) return true;
    if (++packets % 40 != 0) return true;
    kept.push_back(datagram);
    return false;
  });
  for (int i = 0; i < 3; ++i) {
    Message& message = world.transfer(flow, ring.message_bytes);
    message.send_licence = message.receive_licence = ring.licence(1, 0);
  }
  REQUIRE(world.run_until(world.now() + 1s, [&] {
    return world.flow(flow).receives_done > 0 && world.sum(Counter::kMessagesShort) > 0;
  }));
  for (const auto& datagram : kept)
    world.deliver(1, datagram);  // the ledger checks every byte that was given back
  world.finish(1s);
  for (const auto& datagram : kept)
    world.deliver(1, datagram);
  CHECK(world.sum(Counter::kLatePackets) >= kept.size());
}
