// The simulated SwitchML switch, packet by packet; then with four workers over a simulated network
// that loses, duplicates and reorders.
#include "collective/switchml/aggregator/switch_aggregator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "catch.h"
#include "collective/switchml/worker/switch_worker.h"
#include "util/rng.h"

using namespace dlcp;
using namespace dlcp::collective;

namespace {

using Bytes = std::vector<std::byte>;
using To = SwitchAggregator::To;

Bytes packet_of(std::uint32_t serial, bool second_set, int exponent, std::int32_t value) {
  Bytes packet(switch_packet_bytes(64));
  SwitchHead head;
  head.serial = serial;
  head.second_set = second_set;
  head.exponents[0] = static_cast<std::int8_t>(exponent);
  head.values = 64;
  write_switch_head(head, packet);
  for (std::size_t i = 0; i < 64; ++i)
    store_be32(switch_value_at(std::span(packet), i), static_cast<std::uint32_t>(value));
  return packet;
}

std::int32_t last_value(const SwitchAggregator& aggregator) {
  return static_cast<std::int32_t>(load_be32(switch_value_at(aggregator.answer(), 63)));
}

// Packets take 5 to `latest` microseconds in each direction, so that packets overtake each other.
struct Network {
  struct Flight {
    unsigned worker;
    bool to_switch;
    Bytes packet;
  };
  Network(unsigned count, unsigned slots, std::uint64_t seed, double loss)
      : aggregator({count, slots, 64}), rng(seed), loss_(loss) {
    SwitchTerms terms;
    terms.workers = count;
    terms.slots = slots;
    terms.values = 64;
    for (unsigned i = 0; i < count; ++i)
      workers.emplace_back(terms);
    heard.assign(count, Time{});
  }

  void post(unsigned worker, bool to_switch, std::span<const std::byte> packet) {
    const int copies = rng.chance(0.01) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      if (rng.chance(loss_)) continue;
      // One packet in a hundred arrives much later than the others.
      const auto latest = !reorders ? 1u : rng.chance(0.01) ? 500'000u : 20'000u;
      const Time leaves = to_switch ? now : std::max(now, busy_until);
      flights.emplace(leaves + Duration(5000 + rng.below(latest)),
                      Flight{worker, to_switch, Bytes(packet.begin(), packet.end())});
    }
  }

  void deliver(const Flight& flight) {
    if (!flight.to_switch) {
      SwitchWorker& worker = workers[flight.worker];
      const auto taken = worker.counts().taken;
      worker.on_datagram(flight.packet, now);
      if (worker.counts().taken == taken) return;
      longest_stall = std::max(longest_stall, now - heard[flight.worker]);
      heard[flight.worker] = now;
      return;
    }
    busy_until = std::max(busy_until, now) + service;
    const To to = aggregator.on_packet(flight.worker, flight.packet);
    for (unsigned i = 0; i < workers.size(); ++i)
      if (to == To::kEveryone || (to == To::kSender && i == flight.worker))
        post(i, false, aggregator.answer());
  }

  bool running() const {
    return std::ranges::any_of(
        workers, [](const auto& w) { return w.call() == SwitchWorker::Call::kRunning; });
  }

  // One call on all workers; false if it takes longer than a simulated second.
  bool run() {
    const Time end = now + 1s;
    std::ranges::fill(heard, now);
    while (running() && now < end) {
      Time next = kNever;
      for (unsigned i = 0; i < workers.size(); ++i) {
        for (auto packet = workers[i].poll_transmit(now); !packet.empty();
             packet = workers[i].poll_transmit(now))
          post(i, true, packet);
        next = std::min(next, workers[i].deadline());
      }
      if (!flights.empty() && flights.begin()->first <= next) {
        now = flights.begin()->first;
        const Flight flight = std::move(flights.begin()->second);
        flights.erase(flights.begin());
        deliver(flight);
      } else {
        now = next;
      }
    }
    return !running();
  }

  SwitchAggregator aggregator;
  std::vector<SwitchWorker> workers;
  Rng rng;
  double loss_;
  bool reorders = true;
  Duration service{0};  // the switch's time per packet
  Time busy_until{};
  Time now = time_from_ns(1'000'000);
  std::multimap<Time, Flight> flights;
  std::vector<Time> heard;
  Duration longest_stall{0};
};

// Elements whose error exceeds that of the format; blocks of 64.
std::size_t wrong_elements(const std::vector<std::vector<float>>& inputs,
                           const std::vector<float>& result) {
  std::size_t wrong = 0;
  const double workers = static_cast<double>(inputs.size());
  for (std::size_t begin = 0; begin < result.size(); begin += 64) {
    const std::size_t end = std::min(begin + 64, result.size());
    float largest = 0;
    for (const auto& input : inputs)
      for (std::size_t i = begin; i < end; ++i)
        largest = std::max(largest, std::abs(input[i]));
    int exponent = 0;
    (void)std::frexp(largest, &exponent);
    const double bound =
        std::ldexp(workers * workers / 2, exponent) / std::numeric_limits<std::int32_t>::max();
    for (std::size_t i = begin; i < end; ++i) {
      double sum = 0;
      for (const auto& input : inputs)
        sum += input[i];
      const double rounding = std::abs(sum) * 0x1p-24 + bound * 0x1p-20;
      if (std::abs(double{result[i]} - sum) > bound + rounding) ++wrong;
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("the sum is sent to all when the last worker has contributed, and again on request") {
  SwitchAggregator aggregator({3, 1, 64});
  CHECK(aggregator.on_packet(0, packet_of(0, false, -3, 5)) == To::kNobody);
  CHECK(aggregator.on_packet(2, packet_of(0, false, 4, -7)) == To::kNobody);
  CHECK(aggregator.on_packet(0, packet_of(0, false, -3, 5)) == To::kNobody);  // counts only once
  CHECK(aggregator.on_packet(1, packet_of(0, false, 2, 100)) == To::kEveryone);
  CHECK(last_value(aggregator) == 98);
  CHECK(read_switch_head(aggregator.answer())->exponents[0] == 4);
  // Worker 1 continues; worker 0 has not received the sum.
  CHECK(aggregator.on_packet(1, packet_of(1, true, 0, 1)) == To::kNobody);
  CHECK(aggregator.on_packet(0, packet_of(0, false, -3, 5)) == To::kSender);
  CHECK(last_value(aggregator) == 98);
  CHECK(aggregator.counts().sums == 1);
  CHECK(aggregator.counts().repeated == 2);
}

TEST_CASE("a packet overtaken by the next round adds nothing") {
  SwitchAggregator aggregator({2, 1, 64});
  const Bytes first = packet_of(0, false, 0, 10);
  aggregator.on_packet(0, first);
  CHECK(aggregator.on_packet(1, first) == To::kEveryone);
  aggregator.on_packet(0, packet_of(1, true, 0, 20));
  CHECK(aggregator.on_packet(0, first) == To::kNobody);  // judged by its bits only it would be new
  CHECK(aggregator.counts().stale == 1);
  CHECK(aggregator.on_packet(1, packet_of(1, true, 0, 2)) == To::kEveryone);
  CHECK(last_value(aggregator) == 22);
  aggregator.on_packet(1, packet_of(2, false, 0, 3));
  CHECK(aggregator.on_packet(0, first) == To::kNobody);
  CHECK(aggregator.on_packet(0, packet_of(2, false, 0, 4)) == To::kEveryone);
  CHECK(last_value(aggregator) == 7);
}

TEST_CASE("serials and numbers wrap around") {
  SwitchAggregator aggregator({2, 1, 64});
  aggregator.on_packet(0,
                       packet_of(0xffffffff, false, 0, std::numeric_limits<std::int32_t>::max()));
  CHECK(aggregator.on_packet(1, packet_of(0xffffffff, false, 0, 1)) == To::kEveryone);
  CHECK(last_value(aggregator) == std::numeric_limits<std::int32_t>::min());
  aggregator.on_packet(0, packet_of(0, true, 0, 1));
  CHECK(aggregator.on_packet(1, packet_of(0, true, 0, 1)) == To::kEveryone);
  CHECK(aggregator.on_packet(0, packet_of(0xffffffff, false, 0, 5)) == To::kNobody);
  CHECK(aggregator.counts().stale == 1);
}

TEST_CASE("packets with different serials are never added together") {
  SwitchAggregator aggregator({2, 1, 64});
  aggregator.on_packet(0, packet_of(4, false, 0, 10));
  CHECK(aggregator.on_packet(1, packet_of(2, false, 0, 1)) == To::kNobody);
  CHECK(aggregator.counts().stale == 1);
  CHECK(aggregator.on_packet(1, packet_of(6, false, 0, 1)) == To::kNobody);  // starts again
  CHECK(aggregator.on_packet(0, packet_of(6, false, 0, 2)) == To::kEveryone);
  CHECK(last_value(aggregator) == 3);
}

TEST_CASE("after a restart, or with another job, all state is reset") {
  SwitchAggregator aggregator({2, 1, 64});
  aggregator.on_packet(0, packet_of(7, true, 0, 10));
  aggregator.restart();
  CHECK(aggregator.on_packet(1, packet_of(0, false, 0, 1)) == To::kNobody);
  CHECK(aggregator.on_packet(0, packet_of(0, false, 0, 1)) == To::kEveryone);
  Bytes other = packet_of(0, false, 0, 30);
  other[1] = std::byte{9};
  CHECK(aggregator.on_packet(0, other) == To::kNobody);
  CHECK(aggregator.on_packet(1, other) == To::kEveryone);
  CHECK(last_value(aggregator) == 60);
  CHECK(aggregator.counts().restarts == 2);
}

TEST_CASE("packets beyond slots and workers, or of another size, change nothing") {
  SwitchAggregator aggregator({2, 1, 64});
  CHECK(aggregator.on_packet(2, packet_of(0, false, 0, 1)) == To::kNobody);
  Bytes beyond = packet_of(0, false, 0, 1);
  beyond[7] = std::byte{1};
  CHECK(aggregator.on_packet(0, beyond) == To::kNobody);
  Bytes larger(switch_packet_bytes(256));
  write_switch_head({}, larger);
  CHECK(aggregator.on_packet(0, larger) == To::kNobody);
  CHECK(aggregator.on_packet(0, {}) == To::kNobody);
  CHECK(aggregator.counts().unsound == 4);
  CHECK(aggregator.counts().added == 0);
}

TEST_CASE("32 workers use all bits") {
  SwitchAggregator aggregator({32, 1, 64});
  for (unsigned i = 0; i < 31; ++i)
    CHECK(aggregator.on_packet(i, packet_of(0, false, 0, 1)) == To::kNobody);
  CHECK(aggregator.on_packet(31, packet_of(0, false, 0, 1)) == To::kEveryone);
  CHECK(last_value(aggregator) == 32);
}

TEST_CASE("four workers over a network that loses, duplicates and reorders") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    Network network(4, 8, seed, 0.01);
    // Includes calls of less than one block, of fewer blocks than slots, and of many rounds.
    for (const std::size_t elements : {1u, 200u, 64u * 8, 5000u, 20001u, 3u, 700u}) {
      INFO("elements " << elements);
      std::vector<std::vector<float>> inputs(4, std::vector<float>(elements)), results = inputs;
      for (auto& input : inputs) {
        for (float& x : input)
          x = static_cast<float>(
              std::ldexp(network.rng.unit() - 0.5, static_cast<int>(network.rng.below(40)) - 20));
      }
      for (unsigned i = 0; i < 4; ++i)
        REQUIRE(network.workers[i].start(inputs[i], results[i]));
      REQUIRE(network.run());
      for (unsigned i = 1; i < 4; ++i)
        CHECK(std::memcmp(results[i].data(), results[0].data(), elements * sizeof(float)) == 0);
      CHECK(wrong_elements(inputs, results[0]) == 0);
    }
    CHECK(network.longest_stall <= 10ms);
    CHECK(network.aggregator.counts().stale > 0);
    CHECK(network.aggregator.counts().unsound == 0);
    for (const auto& worker : network.workers)
      CHECK(worker.counts().unsound == 0);
  }
}

// The worst case for timeouts: all packets leave at once and queue before a switch that is a host.
TEST_CASE("for a call of a single burst, losses cause no longer stall than the burst's own queue") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    INFO("seed " << seed);
    std::map<double, Duration> stalls, times;
    for (const double loss : {0.0, 0.01, 0.02}) {
      Network network(4, 512, seed, loss);
      network.reorders = false;
      network.service = 8us;  // 2048 packets: 16 ms
      const std::size_t elements = 64u * 512;
      std::vector<std::vector<float>> inputs(4, std::vector<float>(elements, 0.25f)),
          results = inputs;
      for (unsigned i = 0; i < 4; ++i)
        REQUIRE(network.workers[i].start(inputs[i], results[i]));
      REQUIRE(network.run());
      CHECK(wrong_elements(inputs, results[3]) == 0);
      stalls[loss] = network.longest_stall;
      times[loss] = network.now - Time(1ms);
      const auto& counts = network.workers[0].counts();
      CHECK(static_cast<double>(counts.repeated) <=
            10 + 20 * loss * static_cast<double>(counts.sent));
    }
    CHECK(stalls[0.01] <= stalls[0.0] + 2ms);
    CHECK(stalls[0.02] <= stalls[0.0] + 2ms);
    CHECK(times[0.0] < 35ms);
    CHECK(times[0.02] < 45ms);
  }
}

TEST_CASE("one worker's infinity ends the call on all workers, and the next call is correct") {
  Network network(3, 4, 7, 0.05);
  std::vector<std::vector<float>> inputs(3, std::vector<float>(3000, 0.5f)), results = inputs;
  inputs[1][2999] = -std::numeric_limits<float>::infinity();
  for (int call = 0; call < 2; ++call) {
    for (unsigned i = 0; i < 3; ++i)
      REQUIRE(network.workers[i].start(inputs[i], results[i]));
    REQUIRE(network.run());
    for (const auto& worker : network.workers)
      CHECK(worker.call() ==
            (call == 0 ? SwitchWorker::Call::kRefused : SwitchWorker::Call::kDone));
    inputs[1][2999] = 0.5f;
  }
  CHECK(wrong_elements(inputs, results[2]) == 0);
}
