// The records of streams that have ended.
#include "core/endpoint/lifecycle.h"

#include <memory>

#include "catch.h"
#include "core/association/association_table.h"
#include "secrets.h"

using namespace dlcp;
using namespace dlcp::core;

TEST_CASE("an association keeps the records of ended streams only until they expire") {
  const Time start = time_from_ns(1'000'000'000);
  Rng rng(1);
  Commons commons{Config{}, dlcp::test::secrets_of(1)};
  SlotTable slots{commons.secrets.own};
  Agenda agenda;
  AssociationTable associations{commons, slots, rng};
  Lifecycle lifecycle{commons, slots, agenda, associations};
  Counters counters;
  RecvAssociation* association = nullptr;
  std::uint64_t last = 0;  // token of the stream that stays
  for (std::uint32_t number = 1; number <= 3; ++number) {
    wire::Hello hello;
    hello.association = 70;
    hello.sender_token = 70 + number;
    hello.stream = number;
    association = &associations.from(hello, {}, counters);
    Slot& slot = slots.add(0);
    slot.association = association->token();
    slot.held_by_user = true;
    slot.party = std::make_unique<RecvStream>(start, commons.config, counters, commons.unposted,
                                              slot.token, hello, *association);
    last = slot.token;
  }
  slots.for_each([&](Slot& slot) {
    if (slot.party.receiver() && slot.token != last) lifecycle.close(start, slot);
  });
  CHECK(association->departed().size() == 2);
  slots.for_each([&](Slot& slot) { lifecycle.follow_up(start + lifecycle.farewell_time(), slot); });
  CHECK(association->departed().empty());
  CHECK(slots.find(last) != nullptr);
}
