// An endpoint's slots: found by token, found by the sender, and reused.
#include "core/endpoint/slot_table.h"

#include <set>

#include "catch.h"
#include "core/endpoint_addresses.h"
#include "secrets.h"

using namespace dlcp;
using namespace dlcp::core;
using dlcp::test::address_of;

TEST_CASE("a slot is found by its token until it is released, and is then reused") {
  SlotTable slots(test::secrets_of(1).own);
  Slot& first = slots.add(5);
  Slot& second = slots.add(6);
  const std::uint64_t token = first.token;
  CHECK(token != 0);
  CHECK(token != second.token);
  CHECK(slots.find(token) == &first);
  CHECK(slots.find(std::uint64_t{0}) == nullptr);

  first.held_by_user = true;
  first.party = Listener{};
  slots.release(first);
  CHECK(slots.find(token) == nullptr);
  Slot& next = slots.add(7);
  CHECK(&next == &first);
  CHECK(next.index == 0);
  CHECK(next.context == 7);
  CHECK(next.token != token);
  CHECK(next.party.is_nobody());
  CHECK_FALSE(next.held_by_user);
  CHECK(slots.size() == 2);
}

TEST_CASE("tokens are equal for equal keys and differ between keys") {
  SlotTable one(test::secrets_of(1).own);
  SlotTable same(test::secrets_of(1).own);
  SlotTable other(test::secrets_of(2).own);
  std::set<std::uint64_t> tokens;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t token = one.add(1).token;
    CHECK(token == same.add(1).token);
    tokens.insert(token);
    tokens.insert(other.add(1).token);
  }
  CHECK(tokens.size() == 200);
}

TEST_CASE("a sender is identified by its token and address together, until it is forgotten") {
  SlotTable slots(test::secrets_of(1).own);
  Slot& slot = slots.add(1);
  slots.name({77, address_of(1)}, slot);
  CHECK(slots.find(SenderName{77, address_of(1)}) == &slot);
  CHECK(slots.find(SenderName{77, address_of(2)}) == nullptr);
  CHECK(slots.find(SenderName{78, address_of(1)}) == nullptr);
  slots.release(slot);
  slots.add(1);  // reuses the slot
  CHECK(slots.find(SenderName{77, address_of(1)}) == nullptr);
  slots.forget({77, address_of(1)});
}

TEST_CASE("the occupied slots are visited in order, and may be released meanwhile") {
  SlotTable slots(test::secrets_of(1).own);
  for (ContextId context = 0; context < 4; ++context)
    slots.add(context);
  slots.release(slots.at(2));
  std::vector<ContextId> seen;
  slots.for_each([&](Slot& slot) {
    seen.push_back(slot.context);
    slots.release(slot);
  });
  CHECK(seen == std::vector<ContextId>{0, 1, 3});
  CHECK_FALSE(slots.any_of([](const Slot&) { return true; }));
}
