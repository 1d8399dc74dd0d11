// What the models of other transports do, each at the point that it is known for.
#include "catch.h"
#include "simulate/contest.h"
#include "simulate/workloads.h"

namespace dlcp::simulate {
namespace {

Setting on_switch(Contender contender, std::size_t hosts) {
  Setting setting;
  setting.fabric = single_switch(hosts, Wire{});
  setting.contender = contender;
  setting.limit = 1s;
  return setting;
}

TEST_CASE("DCTCP keeps the queue near its threshold and loses nothing with few senders") {
  const Outcome outcome = run(on_switch(Contender::kDctcp, 5), incast(5, 4, 20'000'000, 1));
  REQUIRE(outcome.ended);
  CHECK(outcome.transport.packets_again == 0);
  CHECK(outcome.queues.deepest_bytes > 100'000);
  CHECK(outcome.queues.marked > 100);
}

TEST_CASE("DCTCP in a large incast waits for its time-out") {
  Setting setting = on_switch(Contender::kDctcp, 129);
  setting.timeout_min = 10ms;
  const Outcome outcome = run(setting, incast(129, 128, 100'000, 1));
  REQUIRE(outcome.ended);
  CHECK(outcome.transport.timeouts > 0);
  CHECK(outcome.took > 10ms);
}

TEST_CASE("NSCC needs no time-out in the same incast") {
  const Outcome outcome = run(on_switch(Contender::kNscc, 129), incast(129, 128, 100'000, 1));
  REQUIRE(outcome.ended);
  CHECK(outcome.transport.timeouts == 0);
  CHECK(outcome.took < 2ms);
}

TEST_CASE("pFabric finishes the short message first") {
  Workload workload = incast(3, 2, 8'000'000, 1);
  workload[1].transfer.bytes = 400'000;
  workload[1].wait = 100us;
  const Outcome outcome = run(on_switch(Contender::kPfabric, 3), workload);
  REQUIRE(outcome.ended);
  CHECK(outcome.finishes[1].took() < 60us);
  CHECK(outcome.finishes[0].took() > 600us);
}

TEST_CASE("spraying loads all uplinks alike, one path does not") {
  Setting setting;
  setting.fabric = leaf_spine(4, 8, 8, Wire{}, Wire{});
  setting.contender = Contender::kNscc;
  const Workload workload = permutation(32, 2'000'000, 3);
  const double sprayed = run(setting, workload).imbalance;
  setting.contender = Contender::kDctcp;
  const double hashed = run(setting, workload).imbalance;
  CHECK(sprayed < 1.3);
  CHECK(hashed > 1.8);
}

}  // namespace
}  // namespace dlcp::simulate
