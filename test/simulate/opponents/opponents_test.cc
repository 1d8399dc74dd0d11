// The characteristic behaviour of the models of other transports.
#include "catch.h"
#include "simulate/contest.h"
#include "simulate/load/workloads.h"
#include "simulate/opponents/pias.h"

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

TEST_CASE("a sender that loses the end of a message waits for a timeout, DCTCP for a long one") {
  Setting setting;
  setting.fabric = leaf_spine(4, 8, 8, Wire{}, Wire{});
  setting.loss = 0.02;
  setting.limit = 1s;
  const Workload workload = permutation(32, 200'000, 3);
  setting.contender = Contender::kNscc;
  const Outcome nscc = run(setting, workload);
  setting.contender = Contender::kDctcp;
  setting.timeout_min = 10ms;
  const Outcome dctcp = run(setting, workload);
  REQUIRE(nscc.ended);
  REQUIRE(dctcp.ended);
  CHECK(nscc.took < 2ms);
  CHECK(dctcp.transport.timeouts > 0);
  CHECK(dctcp.took > 10ms);
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

TEST_CASE("PIAS lets a short message overtake a long one although it does not know the lengths") {
  Workload workload = incast(4, 3, 8'000'000, 1);
  workload[2].transfer.bytes = 10'000;
  workload[2].wait = 500us;
  const Duration behind = run(on_switch(Contender::kDctcp, 4), workload).finishes[2].took();
  const Outcome outcome = run(on_switch(Contender::kPias, 4), workload);
  REQUIRE(outcome.ended);
  CHECK(outcome.finishes[2].took() < 5us);
  CHECK(behind > outcome.finishes[2].took() + 5us);
}

TEST_CASE("PIAS lowers a message's priority by one each time its sent bytes have grown fourfold") {
  StrictLevels queue(1'000'000, 1'000'000);
  PacketPool pool;
  for (const int level : {2, 0, 1}) {
    PacketPtr packet = pool.take();
    packet->wire_bytes = 1000;
    packet->level = static_cast<std::uint8_t>(level);
    queue.admit(std::move(packet));
  }
  CHECK(queue.next()->level == 0);
  CHECK(queue.next()->level == 1);
  CHECK(queue.next()->level == 2);
  CHECK(queue.next() == nullptr);
}

TEST_CASE("NDP loses no packet in an incast, and its receiver's link is always busy") {
  Setting setting;
  setting.fabric = leaf_spine(4, 8, 8, Wire{}, Wire{});
  setting.contender = Contender::kNdp;
  setting.limit = 1s;
  const Outcome outcome = run(setting, incast(32, 31, 500'000, 1));
  REQUIRE(outcome.ended);
  CHECK(outcome.queues.trimmed > 0);
  CHECK(outcome.queues.dropped == 0);
  CHECK(outcome.transport.timeouts == 0);
  CHECK(outcome.took < 1310us);  // 31 x 500 kB at 100 Gbit/s with headers: 1260
}

TEST_CASE(
    "RoCE's switches pause instead of dropping, and go-back-N resends everything behind a gap") {
  Setting setting;
  setting.fabric = leaf_spine(4, 8, 8, Wire{}, Wire{});
  setting.contender = Contender::kRoce;
  setting.limit = 1s;
  const Outcome crowd = run(setting, incast(32, 31, 500'000, 1));
  REQUIRE(crowd.ended);
  CHECK(crowd.pauses > 0);
  CHECK(crowd.queues.dropped == 0);
  CHECK(crowd.queues.marked > 0);
  CHECK(crowd.transport.packets_again == 0);
  setting.loss = 0.001;
  const Outcome lossy = run(setting, permutation(32, 2'000'000, 3));
  REQUIRE(lossy.ended);
  const double lost = 0.003 * static_cast<double>(lossy.transport.packets);
  CHECK(static_cast<double>(lossy.transport.packets_again) > 5 * lost);
}

TEST_CASE("a paused port sends only from its strict queue, and continues when the pause ends") {
  PacketPool pool;
  Events events;
  struct End final : Sink {
    void on_event(Time, PacketPtr packet) override { flows.push_back(packet->flow); }
    std::vector<std::uint32_t> flows;
  } end;
  const ClassPlan plan;
  Port port(events, end, std::make_unique<ClassQueues>(plan, nullptr, 1), {100, Duration(10)}, 1);
  port.use_flow_control({1000, 500});
  port.hold(events.now(), 2000);
  events.run_until(time_from_ns(20));
  for (const std::uint32_t flow : {1u, 2u}) {
    PacketPtr packet = pool.take();
    packet->wire_bytes = 100;
    packet->flow = flow;
    if (flow == 2) packet->queue = SwitchQueue::kStrictHigh;
    port.enqueue(events.now(), std::move(packet));
  }
  events.run_until(time_from_ns(1000));
  CHECK(end.flows == std::vector<std::uint32_t>{2});
  port.let_go(events.now(), 1600);
  events.run_until(time_from_ns(2000));
  CHECK(end.flows == std::vector<std::uint32_t>{2, 1});
  CHECK(port.counters().pauses == 1);
}

TEST_CASE("spraying loads all uplinks equally, a single path does not") {
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

TEST_CASE("switches with adaptive routing load all uplinks equally, whatever the hosts do") {
  Setting setting;
  setting.fabric = leaf_spine(4, 8, 8, Wire{}, Wire{});
  setting.contender = Contender::kNscc;
  setting.paths = 1;
  const Workload workload = permutation(32, 2'000'000, 3);
  const Outcome hashed = run(setting, workload);
  setting.fabric.adaptive = true;
  const Outcome adaptive = run(setting, workload);
  REQUIRE(adaptive.ended);
  CHECK(hashed.imbalance > 1.8);
  CHECK(adaptive.imbalance < 1.2);
  CHECK(adaptive.took < 0.7 * hashed.took);
}

TEST_CASE("NSCC abandons paths without acknowledgements") {
  Setting setting;
  setting.fabric = leaf_spine(4, 8, 8, Wire{}, Wire{});
  setting.contender = Contender::kNscc;
  setting.paths = 32;
  const Workload workload = permutation(32, 4'000'000, 3);
  const Duration whole = run(setting, workload).took;
  CableFault fault;
  fault.tier = Fabric::Tier::kLeafUp;
  fault.rate = 0;
  fault.both_ways = true;
  setting.faults = {fault};
  const Outcome dead = run(setting, workload);
  REQUIRE(dead.ended);
  CHECK(dead.transport.timeouts > 0);
  CHECK(dead.took < 3 * whole);
}

}  // namespace
}  // namespace dlcp::simulate
