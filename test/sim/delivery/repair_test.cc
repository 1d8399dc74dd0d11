// Loss detection: late packets should not be declared lost, and lost ones should be soon.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "catch.h"
#include "seeds.h"
#include "wire/data/data_header.h"
#include "world.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;

namespace {

struct Outcome {
  double needless = 0;       // spurious retransmissions, as a share of the packets sent
  double retransmitted = 0;  // all retransmissions, as a share of the packets sent
  double p999_rounds = 0;    // of the messages' completion times, in round trips
};

struct Setting {
  BitsPerSecond rate = 10'000'000'000;
  Duration round_trip = 50us;
  Duration jitter{0};  // of each frame, each way; frames overtake each other
  double drop = 0;     // share of the data packets
  std::size_t message_bytes = 64 << 10;
  std::size_t messages_at_once = 1;
  Duration length = 1s;
};

Outcome run(const Setting& setting, std::uint64_t seed) {
  WorldConfig config;
  const LinkConfig link{.rate = setting.rate, .delay = setting.round_trip / 4};
  config.network = single_switch(2, {.link = link});
  config.network.seed = config.seed = seed;
  config.core.requests_max = setting.messages_at_once;
  World world(std::move(config));
  for (HostIndex host : {0u, 1u}) {
    LinkFaults faults{.drop = host == 0 ? setting.drop : 0};
    if (setting.jitter > Duration(0)) {
      faults.reorder = 1;
      faults.reorder_delay = setting.jitter;
    }
    world.network().host(host).nic().link().set_faults(faults);
  }
  const auto flow = world.open_flow(0, 1);
  for (int k = 0; k < 10'000; ++k)
    world.transfer(flow, setting.message_bytes);
  world.run_for(setting.length);
  std::vector<double> times;
  for (const auto& message : world.flow(flow).messages) {
    if (!message.receive_done) break;
    times.push_back(static_cast<double>((message.done_at - message.send_posted_at).count()) /
                    static_cast<double>(setting.round_trip.count()));
  }
  std::sort(times.begin(), times.end());
  const auto sent = static_cast<double>(world.sum(core::Counter::kPacketsSent));
  return {static_cast<double>(world.sum(core::Counter::kSpuriousRetransmissions)) / sent,
          static_cast<double>(world.sum(core::Counter::kPacketsRetransmitted)) / sent,
          times.empty() ? 0 : times[times.size() * 999 / 1000]};
}

}  // namespace

TEST_CASE("jitter that reorders causes few spurious retransmissions, whatever its size") {
  for (const Duration base : {Duration(200us), Duration(2ms), Duration(20ms)}) {
    for (const int halves : {1, 4}) {
      // The bandwidth-delay product is 250 KB at every round-trip time.
      const auto rate = static_cast<BitsPerSecond>(2e15 / static_cast<double>(base.count()));
      const Outcome outcome = run({.rate = rate,
                                   .round_trip = base,
                                   .jitter = base * halves / 4,
                                   .message_bytes = 1 << 20,
                                   .messages_at_once = 8,
                                   .length = 400 * base},
                                  1);
      fmt::print("base {} us, jitter {:.1f} of it in all: {:.4f} needless, {:.4f} sent again\n",
                 base.count() / 1000, halves / 2.0, outcome.needless, outcome.retransmitted);
      CHECK(outcome.needless <= 0.01);
    }
  }
}

TEST_CASE("on a quiet network a loss costs hardly more than one round trip") {
  for_each_seed(
      3,
      [](std::uint64_t seed) {
        const Outcome outcome = run({.drop = 0.001, .length = 500ms}, seed);
        fmt::print("0.1% loss: p99.9 {:.2f} round trips, {:.5f} needless\n", outcome.p999_rounds,
                   outcome.needless);
        CHECK(outcome.needless <= 0.0005);
      });
}

TEST_CASE("a tail that is lost repeatedly is detected equally soon each time") {
  for (const int times : {1, 2, 3}) {
    WorldConfig config;
    config.network = single_switch(2, {.link = {.rate = 10'000'000'000, .delay = 2us}});
    World world(std::move(config));
    constexpr std::size_t kBytes = 40'000;
    int left = times;
    world.set_filter([&](HostIndex to, const std::vector<std::byte>& datagram) {
      const auto data = wire::decode_data(datagram);
      const bool last = to == 1 && data && data->header.offset + data->payload.size() == kBytes;
      return !last || left-- <= 0;
    });
    const auto flow = world.open_flow(0, 1);
    world.transfer(flow, kBytes);
    world.finish(1s);
    const auto& message = world.flow(flow).messages.front();
    const Duration took = message.done_at - message.send_posted_at;
    fmt::print("lost {} times: {} us\n", times, took.count() / 1000);
    CHECK(took < times * 250us);
  }
}
