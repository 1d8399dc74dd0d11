#include "synth/evaluate/verify.h"

#include <random>

#include "synth/flow/packing.h"
#include "synth/networks.h"
#include "synth/search/candidates.h"

namespace dlcp::synth {
namespace {

struct Known {
  Topology topology;
  Collective collective;
  Schedule schedule;
};

// Every family of algorithms, on a switch, on leaves, and on GPUs that relay.
std::vector<Known> known_schedules() {
  std::vector<Known> all;
  for (const Topology& topology : {star(6), star(8), leaf_spine(2, 4, "100G", "100G")}) {
    const Routes routes(topology);
    for (const Collective collective : kCollectives)
      for (const Recipe& recipe : regular_candidates(topology, routes, collective))
        all.push_back({topology, collective, expand(recipe, collective, topology.ranks()).value()});
  }
  const Topology boxes = taccl("ndv2.json", "ndv2-x2.json");
  for (const Collective collective : {Collective::kAllGather, Collective::kAllToAll}) {
    const auto recipe = pack(boxes, Routes(boxes), collective, bound_of(boxes, collective), 1);
    all.push_back({boxes, collective, expand(*recipe, collective, 16).value()});
  }
  return all;
}

using Random = std::mt19937;

int below(Random& random, std::size_t n) {
  return static_cast<int>(random() % n);
}

Range& some_range(Schedule& s, const Message& m, Random& random) {
  return s.range_pool[m.first_range + static_cast<std::size_t>(below(random, m.ranges))];
}

// Each kind breaks a schedule without superfluous messages. False: not possible for this one.
bool mutate(Schedule& s, int kind, Random& random) {
  const auto pick = static_cast<std::size_t>(below(random, s.messages.size()));
  Message& m = s.messages[pick];
  switch (kind) {
    case 0:  // lost
      s.messages.erase(s.messages.begin() + static_cast<long>(pick));
      return true;
    case 1:  // sent twice
      s.messages.push_back(m);
      s.messages.back().step = s.steps();
      return true;
    case 2: {  // to another rank
      const int to = below(random, static_cast<std::size_t>(s.ranks));
      // A sum may take another way; but without a copy its receiver lacks data.
      if (to == m.to || m.reduce) return false;
      m.to = to;
      return true;
    }
    case 3:  // a copy instead of a sum, or vice versa
      m.reduce = !m.reduce;
      return true;
    case 4: {  // another chunk
      Range& range = some_range(s, m, random);
      const int other = below(random, s.chunks.size());
      if (range.count != 1 || other == range.first) return false;
      for (const Range& mine : s.ranges(m))
        if (other >= mine.first && other < mine.first + mine.count) return false;
      range.first = other;
      return true;
    }
    case 5: {  // one chunk fewer
      Range& range = some_range(s, m, random);
      if (range.count < 2) return false;
      range.count--;
      return true;
    }
    case 6: {  // a chunk of another rank, or for another rank
      Chunk& chunk = s.chunks[static_cast<std::size_t>(below(random, s.chunks.size()))];
      int& whose = chunk.source >= 0 ? chunk.source : chunk.target;
      if (whose < 0) return false;
      whose = (whose + 1) % s.ranks;
      return true;
    }
    case 7:  // a gap, or an overlap, in the buffer
      s.chunks[static_cast<std::size_t>(below(random, s.chunks.size()))].begin +=
          random() % 2 == 0 ? 1 : -1;
      return true;
    case 8: {  // a relay that sends before it receives
      for (const Message& other : s.messages) {
        if (other.to != m.from || other.step >= m.step || other.ranges != 1 || m.ranges != 1)
          continue;
        if (s.ranges(other)[0].first != s.ranges(m)[0].first) continue;
        m.step = other.step;
        return true;
      }
      return false;
    }
    default: {  // numbers that do not belong to this schedule
      int* const numbers[] = {&m.from, &m.to, &m.step, &some_range(s, m, random).first,
                              &some_range(s, m, random).count};
      *numbers[below(random, 5)] =
          random() % 2 == 0 ? -1 - below(random, 1000) : 1'000'000 + below(random, 1000);
      return m.step < 1'000'000;
    }
  }
}

}  // namespace

TEST_CASE("1,000 of 1,000 mutated plans are detected") {
  const auto all = known_schedules();
  Random random(20261122);
  int made = 0, found = 0;
  int by_kind[10] = {};
  for (int i = 0; made < 1000; i++) {
    const Known& known = all[static_cast<std::size_t>(i) % all.size()];
    const int kind = below(random, 10);
    Schedule mutated = known.schedule;
    if (mutated.messages.empty() || !mutate(mutated, kind, random)) continue;
    made++;
    by_kind[kind]++;
    const bool caught = !verify(mutated).correct;
    if (!caught)
      UNSCOPED_INFO("not found: kind " << kind << " of " << name_of(known.collective) << ", "
                                       << known.schedule.messages.size() << " messages");
    found += caught ? 1 : 0;
  }
  CHECK(found == 1000);
  for (const int count : by_kind)
    CHECK(count >= 20);
}

TEST_CASE("a fault is named by rank, chunk and step") {
  const Topology topology = star(3);
  Schedule s = expand(nccl_ring({0, 1, 2}), Collective::kAllGather, 3).value();
  s.messages.pop_back();
  CHECK(verify(s).why == "rank 0 ends with 0 of 1 contributions to chunk 1");
}

TEST_CASE("messages in a contradictory order on a connection wait for ever") {
  // Rank 0 sends chunk 0 by way of 1, and receives chunk 1 from 1 first; swapped on 1's connection.
  Schedule s = expand(nccl_ring({0, 1, 2, 3}), Collective::kAllGather, 4).value();
  REQUIRE(verify(s).correct);
  // The list's order is the connection's: the last round comes before the first, on every
  // connection.
  std::reverse(s.messages.begin(), s.messages.end());
  const Verdict verdict = verify(s);
  CHECK(!verdict.correct);
  CHECK(verdict.why.find("waits for itself") != std::string::npos);
}

TEST_CASE("a message over links that do not exist is refused") {
  const Topology line =
      parsed("{ranks: [a, b, c], links: [{from: a, to: b, rate: 1G}, {from: b, to: c, rate: 1G}]}");
  const Routes routes(line);
  const Schedule s = expand(nccl_ring({0, 1, 2}), Collective::kAllGather, 3).value();
  CHECK(verify(s).correct);
  CHECK(verify(s, &routes).why == "rank 2 sends to rank 0, but no path of switches connects them");
}

}  // namespace dlcp::synth
