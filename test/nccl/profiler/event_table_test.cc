#include "nccl/profiler/event_table.h"

#include <set>

#include "catch.h"

namespace {

using namespace dlcp;
using namespace dlcp::nccl;

constexpr Time kNow = time_from_ns(1);

Collective all_reduce(std::uint64_t count) {
  return {Function::kAllReduce,
          Algorithm::kRing,
          Protocol::kSimple,
          gradient::ElementType::kFloat32,
          count,
          2};
}

ProfiledProxyOp sends(int steps) {
  return {.pid = 0, .channelId = 0, .peer = 1, .nSteps = steps, .chunkSize = 4096, .isSend = 1};
}
ProfiledProxyOp receives(int steps) {
  ProfiledProxyOp operation = sends(steps);
  operation.isSend = 0;
  return operation;
}

// One channel's operation of direct exchange, whose peer is the number after the last rank.
ProfiledProxyOp to_network(int ranks) {
  return {.pid = 0, .channelId = 0, .peer = ranks, .nSteps = 1, .chunkSize = 32 << 10, .isSend = 0};
}

Collective chain(std::uint64_t count) {
  Collective of = all_reduce(count);
  of.algorithm = Algorithm::kCollnetChain;
  of.nccl_type = 7;  // float32
  return of;
}

std::optional<CallPart> next_call(EventTable& table, Unmatched& why_not) {
  return table.next_call(32 << 10, 7, why_not);
}

}  // namespace

TEST_CASE("a step's event leads to its operation and its collective") {
  EventTable table(77, 8);
  const auto first = table.start_collective(kNow, all_reduce(100));
  const auto second = table.start_collective(kNow, all_reduce(200));
  const auto operation = table.start_operation(second, sends(56));
  REQUIRE(table.start_operation(first, receives(28)) != 0);
  const auto found = table.find(EventTable::step_of(operation, 55));
  REQUIRE(found.has_value());
  CHECK(found->collective.count == 200);
  CHECK(found->comm_id == 77);
  CHECK(found->ranks == 8);
  CHECK(found->steps == 56);
  CHECK(found->chunk_bytes == 4096);
  CHECK(found->step == 55);
  CHECK(found->sends);
  CHECK(found->communicator_class == kUndefined);
  table.set_communicator_class(7);
  CHECK(table.find(EventTable::step_of(operation, 0))->communicator_class == 7);
}

TEST_CASE("one collective started twice has two operations") {
  EventTable table(77, 2);
  const auto captured = table.start_collective(kNow, all_reduce(1));
  const auto a = table.find(EventTable::step_of(table.start_operation(captured, sends(4)), 0));
  const auto b = table.find(EventTable::step_of(table.start_operation(captured, sends(4)), 0));
  REQUIRE((a.has_value() && b.has_value()));
  CHECK(a->operation != b->operation);
}

TEST_CASE("sends and receives are identified as such, and belong to no collective") {
  EventTable table(77, 2);
  const auto operation = table.start_operation(EventTable::point_to_point(), sends(3));
  const auto found = table.find(EventTable::step_of(operation, 2));
  REQUIRE(found.has_value());
  CHECK(found->operation == 0);
  CHECK(found->collective.function == Function::kOther);
}

TEST_CASE("null handles, and handles of the wrong kind or another table, find nothing") {
  EventTable table(77, 2);
  EventTable other(77, 2);
  const auto collective = table.start_collective(kNow, all_reduce(1));
  const auto operation = table.start_operation(collective, sends(4));
  other.start_operation(other.start_collective(kNow, all_reduce(2)), sends(4));
  CHECK(table.start_operation(0, sends(4)) == 0);
  CHECK(table.start_operation(operation, sends(4)) == 0);
  CHECK(table.start_operation(collective + 1, sends(4)) == 0);
  CHECK(other.start_operation(collective, sends(4)) == 0);
  CHECK_FALSE(table.find(0).has_value());
  CHECK_FALSE(table.find(operation).has_value());
  CHECK_FALSE(table.find(collective).has_value());
  CHECK_FALSE(other.find(EventTable::step_of(operation, 0)).has_value());
  CHECK(EventTable::step_of(collective, 0) == 0);
  CHECK(EventTable::step_of(operation, 1u << 24) == 0);
  CHECK(EventTable::step_of(operation, (1u << 24) - 1) != 0);
}

TEST_CASE("the oldest event is forgotten, and never mistaken for the newest") {
  EventTable table(77, 2);
  const auto old = table.start_collective(kNow, all_reduce(1));
  const auto old_operation = table.start_operation(old, sends(4));
  std::set<EventTable::EventHandle> handles;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const auto collective = table.start_collective(kNow, all_reduce(2 + i));
    handles.insert(collective);
    const auto operation = table.start_operation(collective, sends(4));
    const auto found = table.find(EventTable::step_of(operation, 3));
    REQUIRE(found.has_value());
    REQUIRE(found->collective.count == 2 + i);
  }
  CHECK(handles.size() == 20'000);
  CHECK_FALSE(table.find(EventTable::step_of(old_operation, 0)).has_value());
  CHECK(table.start_operation(old, sends(4)) == 0);
}

TEST_CASE("the calls of direct exchange get the lengths of their own tensors") {
  EventTable table(77, 4);
  for (const std::uint64_t count : {8000u, 1u}) {
    const auto collective = table.start_collective(kNow, chain(count));
    CHECK(table.start_operation(collective, to_network(4)) == 0);
    CHECK(table.start_operation(collective, to_network(4)) == 0);
  }
  Unmatched why_not = Unmatched::kNot;
  CHECK(next_call(table, why_not)->bytes == 32'000);
  CHECK(next_call(table, why_not)->bytes == 4);
  CHECK_FALSE(next_call(table, why_not));
  CHECK(why_not == Unmatched::kNot);
}

TEST_CASE("a group with more all-reduces than fit has no lengths, instead of wrong ones") {
  EventTable table(77, 4);
  std::vector<EventTable::EventHandle> group;
  for (std::uint64_t i = 0; i < 3000; ++i)  // NCCL starts all of a group first
    group.push_back(table.start_collective(kNow, chain(i % 11 == 0 ? 1 : 8000)));
  for (const auto collective : group)
    for (int direction = 0; direction < 2; ++direction)
      table.start_operation(collective, to_network(4));
  Unmatched why_not = Unmatched::kNot;
  CHECK_FALSE(next_call(table, why_not));
  CHECK(why_not == Unmatched::kForgotten);
}

TEST_CASE("an all-reduce of another form over the network ends the matching of calls") {
  for (const Algorithm algorithm : {Algorithm::kCollnetDirect, Algorithm::kOther}) {  // or NVLS
    EventTable table(77, 4);
    const auto known = table.start_collective(kNow, chain(8000));
    table.start_operation(known, to_network(4));
    table.start_operation(known, to_network(4));
    Collective other = chain(8000);
    other.algorithm = algorithm;
    table.start_operation(table.start_collective(kNow, other), to_network(4));
    Unmatched why_not = Unmatched::kNot;
    CHECK_FALSE(next_call(table, why_not));
    CHECK(why_not == Unmatched::kForm);
  }
}

TEST_CASE("operations of a chain inside a host are not counted") {
  EventTable table(77, 4);
  const auto collective = table.start_collective(kNow, chain(8000));
  CHECK(table.start_operation(collective, sends(1)) == 0);
  table.start_operation(collective, to_network(4));
  table.start_operation(collective, to_network(4));
  CHECK(table.start_operation(collective, receives(1)) == 0);
  Unmatched why_not = Unmatched::kNot;
  CHECK(next_call(table, why_not)->bytes == 32'000);
}
