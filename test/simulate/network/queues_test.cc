// Ports and their queues.
#include "catch.h"
#include "simulate/network/class_queues.h"
#include "simulate/network/port.h"
#include "simulate/opponents/pfabric.h"

namespace dlcp::simulate {
namespace {

PacketPtr data(PacketPool& pool, std::uint32_t flow, std::uint32_t left) {
  PacketPtr packet = pool.take();
  packet->wire_bytes = 1000;
  packet->flow = flow;
  packet->left = left;
  return packet;
}

struct Arrivals final : Sink {
  void on_event(Time now, PacketPtr packet) override {
    times.push_back(ns_of(now));
    flows.push_back(packet->flow);
  }
  std::vector<std::int64_t> times;
  std::vector<std::uint32_t> flows;
};

TEST_CASE("the pool recycles packets and returns them reset") {
  PacketPool pool;
  PacketPtr packet = data(pool, 7, 3);
  packet->bytes.resize(10);
  packet.reset();
  CHECK(pool.in_use() == 0);
  packet = pool.take();
  CHECK(pool.made() == 1);
  CHECK(packet->flow == 0);
  CHECK(packet->bytes.empty());
}

TEST_CASE("the rounding to nanoseconds does not add up over back-to-back packets") {
  PacketPool pool;
  Arrivals end;
  Events events;
  const ClassPlan plan;
  // 1000 bytes at 300 Gbit/s take 26.67 ns.
  Port port(events, end, std::make_unique<ClassQueues>(plan, nullptr, 1), {300, Duration(0)}, 1);
  for (int i = 0; i < 100; ++i)
    port.enqueue(events.now(), data(pool, 0, 1));
  events.run_until(kNever);
  REQUIRE(end.times.size() == 100);
  CHECK(end.times[0] == 27);
  CHECK(end.times[99] == 2667);
}

TEST_CASE("the strict queue goes first, and a full queue drops") {
  PacketPool pool;
  ClassPlan plan;
  plan.queues[1].limit_bytes = 2000;
  ClassQueues queues(plan, nullptr, 1);
  for (std::uint32_t i = 0; i < 3; ++i)
    queues.admit(data(pool, i, 1));
  PacketPtr control = data(pool, 9, 1);
  control->queue = SwitchQueue::kStrictHigh;
  queues.admit(std::move(control));
  CHECK(queues.counters().dropped == 1);
  CHECK(queues.next()->flow == 9);
  CHECK(queues.next()->flow == 0);
  CHECK(queues.next()->flow == 1);
  CHECK(queues.next() == nullptr);
}

TEST_CASE("droppable packets are dropped by precedence, and never marked") {
  PacketPool pool;
  ClassPlan plan;
  plan.queues[1].mark = {500, 500, 1};
  plan.queues[1].drop[2] = {500, 500, 1};  // precedence 3
  ClassQueues queues(plan, nullptr, 1);
  queues.admit(data(pool, 0, 1));
  for (const std::uint8_t precedence : {std::uint8_t{1}, std::uint8_t{3}}) {
    PacketPtr packet = data(pool, precedence, 1);
    packet->droppable = true;
    packet->drop_precedence = precedence;
    queues.admit(std::move(packet));
  }
  PacketPtr exact = data(pool, 5, 1);
  exact->ecn = Ecn::kEct0;
  queues.admit(std::move(exact));
  CHECK(queues.counters().early_dropped == 1);
  CHECK(queues.counters().marked == 1);
  CHECK(queues.next()->flow == 0);
  CHECK(queues.next()->flow == 1);
  CHECK(queues.next()->ecn == Ecn::kCe);
}

TEST_CASE(
    "pFabric's queue sends the flow with the fewest bytes left, and drops the one with the most") {
  PacketPool pool;
  LeastLeftFirst queue(3000);
  queue.admit(data(pool, 1, 50));
  queue.admit(data(pool, 2, 5));
  queue.admit(data(pool, 3, 90));
  queue.admit(data(pool, 4, 20));  // evicts the packet with 90 left
  CHECK(queue.counters().dropped == 1);
  CHECK(queue.next()->flow == 2);
  CHECK(queue.next()->flow == 4);
  CHECK(queue.next()->flow == 1);
  CHECK(queue.next() == nullptr);
}

TEST_CASE(
    "the earliest packet of a flow is sent first, although a later one has fewer bytes left") {
  PacketPool pool;
  LeastLeftFirst queue(10'000);
  queue.admit(data(pool, 1, 10));
  queue.admit(data(pool, 1, 9));
  CHECK(queue.next()->left == 10);
  CHECK(queue.next()->left == 9);
}

TEST_CASE("a dead link loses packets, a withdrawn link is not used") {
  PacketPool pool;
  Arrivals end;
  Events events;
  const ClassPlan plan;
  Port port(events, end, std::make_unique<ClassQueues>(plan, nullptr, 1), {100, Duration(10)}, 1);
  port.set_down(true);
  port.enqueue(events.now(), data(pool, 0, 1));
  events.run_until(kNever);
  CHECK(end.times.empty());
  CHECK(port.counters().while_down == 1);
  CHECK(pool.in_use() == 0);
}

}  // namespace
}  // namespace dlcp::simulate
