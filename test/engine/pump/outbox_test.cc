// How many packets the core may pass to the datapath at a time.
#include "engine/pump/outbox.h"

#include "catch.h"

using namespace dlcp;
using engine::Outbox;

namespace {

void fill(Outbox& outbox) {
  static const wire::EndpointAddress nobody{};
  for (wire::TxPacket& packet : outbox.room())
    packet.destination = &nobody;
  outbox.filled(outbox.room().size());
}

}  // namespace

TEST_CASE("after the datapath refused packets fewer are offered to it, and gradually more again") {
  Outbox outbox;
  REQUIRE(outbox.room().size() == Outbox::kPackets);
  fill(outbox);
  outbox.took(Outbox::kPackets);
  REQUIRE(outbox.empty());
  CHECK(outbox.room().size() == Outbox::kPackets);  // all are accepted
  fill(outbox);
  outbox.took(Outbox::kPackets - 1);
  REQUIRE(outbox.waiting().size() == 1);
  outbox.took(1);
  REQUIRE(outbox.empty());
  CHECK(outbox.room().size() == 20);
  fill(outbox);
  outbox.took(20);
  CHECK(outbox.room().size() == 24);
  for (int round = 0; round < 40; ++round) {
    fill(outbox);
    outbox.took(outbox.room().size());
  }
  CHECK(outbox.room().size() == Outbox::kPackets);
}
