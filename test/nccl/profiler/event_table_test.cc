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

}  // namespace

TEST_CASE("a step's event leads to its operation and its collective") {
  EventTable table(77, 8);
  const auto first = table.start_collective(kNow, all_reduce(100));
  const auto second = table.start_collective(kNow, all_reduce(200));
  const auto operation = table.start_operation(second, 56, 4096, true);
  REQUIRE(table.start_operation(first, 28, 4096, false) != 0);
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
  const auto a = table.find(EventTable::step_of(table.start_operation(captured, 4, 4096, true), 0));
  const auto b = table.find(EventTable::step_of(table.start_operation(captured, 4, 4096, true), 0));
  REQUIRE((a.has_value() && b.has_value()));
  CHECK(a->operation != b->operation);
}

TEST_CASE("sends and receives are identified as such, and belong to no collective") {
  EventTable table(77, 2);
  const auto operation = table.start_operation(EventTable::point_to_point(), 3, 4096, true);
  const auto found = table.find(EventTable::step_of(operation, 2));
  REQUIRE(found.has_value());
  CHECK(found->operation == 0);
  CHECK(found->collective.function == Function::kOther);
}

TEST_CASE("null handles, and handles of the wrong kind or another table, find nothing") {
  EventTable table(77, 2);
  EventTable other(77, 2);
  const auto collective = table.start_collective(kNow, all_reduce(1));
  const auto operation = table.start_operation(collective, 4, 4096, true);
  other.start_operation(other.start_collective(kNow, all_reduce(2)), 4, 4096, true);
  CHECK(table.start_operation(0, 4, 4096, true) == 0);
  CHECK(table.start_operation(operation, 4, 4096, true) == 0);
  CHECK(table.start_operation(collective + 1, 4, 4096, true) == 0);
  CHECK(other.start_operation(collective, 4, 4096, true) == 0);
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
  const auto old_operation = table.start_operation(old, 4, 4096, true);
  std::set<EventTable::EventHandle> handles;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const auto collective = table.start_collective(kNow, all_reduce(2 + i));
    handles.insert(collective);
    const auto operation = table.start_operation(collective, 4, 4096, true);
    const auto found = table.find(EventTable::step_of(operation, 3));
    REQUIRE(found.has_value());
    REQUIRE(found->collective.count == 2 + i);
  }
  CHECK(handles.size() == 20'000);
  CHECK_FALSE(table.find(EventTable::step_of(old_operation, 0)).has_value());
  CHECK(table.start_operation(old, 4, 4096, true) == 0);
}
