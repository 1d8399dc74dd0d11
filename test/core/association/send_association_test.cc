#include "core/association/send_association.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

TEST_CASE("an ACK that reports only streams that have left still counts for the association") {
  const Config config;
  Counters counters;
  EndpointRate rate;
  UnmarkedPeers unmarked_peers;
  SendAssociation association(config, counters, rate, unmarked_peers, {});
  const Time start = time_from_ns(1'000'000);
  association.establish(start, {}, {.payload_bytes = 1408});

  wire::Ack ack;
  ack.add_stream().stream = 7;
  std::vector<std::uint64_t> reported;
  association.on_ack(start + 1ms, ack, start + 1ms, true, reported);
  CHECK(reported.empty());
  CHECK(association.ended().size() == 1);
  CHECK(association.heard_at() == start + 1ms);
  CHECK(counters[Counter::kAcksReceived] == 1);
}
