#include "synth/flow/bound.h"

#include <cmath>

#include "synth/networks.h"

namespace dlcp::synth {
namespace {

void near(double seen, double wanted) {
  CHECK(seen == Approx(wanted).epsilon(1e-6));
}

}  // namespace

TEST_CASE("the boxes of TACCL's paper have the bounds given by their slowest cuts") {
  near(bound_of(taccl("ndv2.json", "ndv2-x2.json"), Collective::kAllGather).rate, 25e9);
  near(bound_of(taccl("ndv2.json", "ndv2-x4.json"), Collective::kAllGather).rate, 50e9 / 3);
  near(bound_of(taccl("dgx2.json", "dgx2-x2.json"), Collective::kAllGather).rate, 125e9 * 32 / 31);
  near(bound_of(taccl("ndv2.json", "ndv2-x2.json"), Collective::kAllToAll).rate, 3.125e9);
  near(bound_of(taccl("dgx2.json", "dgx2-x2.json"), Collective::kAllToAll).rate, 12.5e9);
}

TEST_CASE("hosts on one switch are limited by their own links") {
  for (const int n : {2, 3, 7, 16}) {
    const Topology topology = star(n);
    const double link = 12.5e9, shards = static_cast<double>(n) / (n - 1);
    near(bound_of(topology, Collective::kAllGather).rate, link * shards);
    near(bound_of(topology, Collective::kReduceScatter).rate, link * shards);
    near(bound_of(topology, Collective::kAllToAll).rate, link * shards);
    near(bound_of(topology, Collective::kAllReduce).rate, link * shards / 2);
  }
}

TEST_CASE("oversubscribed leaves limit the traffic between leaves") {
  const Topology topology = leaf_spine(4, 4, "100G", "100G");
  near(bound_of(topology, Collective::kAllToAll).rate, 12.5e9 * 16 / (4 * 12));
  near(bound_of(topology, Collective::kAllGather).rate, 12.5e9 * 16 / 15);
  near(bound_of(topology, Collective::kAllReduce).rate, 12.5e9 * 16 / 30);
  near(bound_of(leaf_spine(4, 4, "100G", "50G"), Collective::kAllReduce).rate, 6.25e9 * 4 / 6);
}

TEST_CASE("links with a slower direction limit by that direction") {
  const Topology topology = parsed(
      "{ranks: [a, b, c], switches: [s], links: [{from: [a, b, c], to: s, rate: 10G, one_way: "
      "yes}, {from: s, to: [a, b, c], rate: 40G, one_way: yes}]}");
  // Without copies in the switch each shard leaves a rank twice.
  near(bound_of(topology, Collective::kAllGather).rate, 1.25e9 * 3 / 2);
  near(bound_of(topology, Collective::kReduceScatter).rate, 1.25e9 * 3 / 2);
}

TEST_CASE("a rank that relays the blocks of others sends more than its own") {
  const Topology line = parsed(
      "{ranks: [a, b, c], links: [{from: a, to: b, rate: 100G}, {from: b, to: c, rate: 100G}]}");
  near(bound_of(line, Collective::kAllToAll).rate, 12.5e9 * 3 / 2);
}

TEST_CASE("a switch that copies removes the limit of the senders' links") {
  const Topology topology = parsed(
      "{ranks: [a, b, c], switches: [{name: s, multicast: yes}], links: [{from: [a, b, c], to: s, "
      "rate: 10G, one_way: yes}, {from: s, to: [a, b, c], rate: 40G, one_way: yes}]}");
  near(bound_of(topology, Collective::kAllGather).rate, 1.25e9 * 3);
}

TEST_CASE("a single rank has no limit") {
  CHECK(std::isinf(bound_of(star(1), Collective::kAllReduce).rate));
  CHECK(bound_of(star(1), Collective::kAllReduce).seconds(1e9) == 0);
}

TEST_CASE("for small sizes the latency of a path of many links is the limit") {
  // Four links of 1 us, plus the cost of a message at both ends.
  CHECK(bound_of(leaf_spine(2, 2, "100G", "100G"), Collective::kAllReduce).seconds(1) ==
        Approx(6e-6));
}

}  // namespace dlcp::synth
