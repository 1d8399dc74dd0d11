// The verbs datapath over a fake card: where packets go and from which memory, and what happens
// when the card is full, fails, or disappears.
#include <poll.h>

#include "one_card.h"

namespace dlcp::datapath::test {
namespace {

TEST_CASE("only a device emulated by the kernel is reported to delay its packets") {
  auto options = options_with(4, Entropy::kQueuePairs);
  CHECK(Card(options).datapath->limits().host_delay == Duration::zero());
  options.port.driver = "rdma_rxe";
  CHECK(Card(options).datapath->limits().host_delay > 1ms);
}

TEST_CASE("packets arrive with their bytes and marks, from registered memory without a copy") {
  const bool registered = GENERATE(false, true);
  Card card;
  if (registered) REQUIRE(card.datapath->register_memory(card.memory).ok());
  const std::vector packets = {card.packet(3, 0, TrafficClass::kControl),
                               card.packet(9, 1, TrafficClass::kExact)};
  REQUIRE(card.datapath->send(packets) == 2);
  REQUIRE(card.receive() == 2);
  CHECK(card.arrived[0].dscp == 40);
  CHECK(card.arrived[0].ecn == Ecn::kEct0);
  CHECK(card.arrived[1].dscp == 18);
  CHECK(card.datapath->counters().tx_zero_copy == (registered ? 2u : 0u));
  CHECK(card.datapath->counters().tx_copied == (registered ? 0u : 2u));
  if (registered) card.datapath->release_memory(card.memory);
}

TEST_CASE("every receive buffer is posted again: a hundred times the ring's size is received") {
  Card card;
  std::size_t received = 0;
  for (int i = 0; i < 400; ++i) {
    REQUIRE(card.send(64, 4) == 64);
    received += card.receive();
  }
  CHECK(received == 400u * 64);
  CHECK(card.verbs->lost == 0);
}

TEST_CASE("a chain of packets needs one doorbell, and few completions") {
  Card card(16, Entropy::kFlowLabel);
  REQUIRE(card.datapath->register_memory(card.memory).ok());
  for (int i = 0; i < 100; ++i) {
    REQUIRE(card.send(64, 16) == 64);
    card.receive();
  }
  const VerbsCounters& counters = card.datapath->counters();
  CHECK(counters.tx_doorbells == 100);
  CHECK(counters.tx_completions <= 200);
  CHECK(counters.handles_made == 16);
  card.datapath->release_memory(card.memory);
}

TEST_CASE("memory is in use until the completion of its packets, and no longer") {
  Card card;
  REQUIRE(card.datapath->register_memory(card.memory).ok());
  const auto first = std::span<const std::byte>(card.memory).first(kPayload);
  const auto last = std::span<const std::byte>(card.memory).last(kPayload);
  card.verbs->holds = true;
  REQUIRE(card.send(1) == 1);
  CHECK(card.datapath->reads(first));
  CHECK_FALSE(card.datapath->reads(last));
  card.verbs->release();
  CHECK_FALSE(card.datapath->reads(first));
  card.datapath->release_memory(card.memory);
}

TEST_CASE("memory that was copied is released at once") {
  Card card;
  card.verbs->holds = true;
  REQUIRE(card.send(8) == 8);
  CHECK_FALSE(card.datapath->reads(card.memory));
}

TEST_CASE("a full queue reports how many packets it accepted, and accepts the rest later") {
  Card card(4);  // 64 requests each
  card.verbs->holds = true;
  REQUIRE(card.send(60) == 60);
  CHECK(card.send(10) == 4);
  CHECK(card.send(10) == 0);
  CHECK(card.datapath->counters().tx_queue_full == 2);
  card.verbs->release();
  CHECK(card.send(10) == 10);
}

TEST_CASE(
    "a failed completion loses the outstanding packets of its queue pair, which is replaced") {
  Card card;
  REQUIRE(card.datapath->register_memory(card.memory).ok());
  card.verbs->holds = true;
  REQUIRE(card.send(10, 2) == 10);
  card.verbs->fail_held(IBV_WC_RETRY_EXC_ERR);
  card.verbs->holds = false;
  const std::size_t queue_pairs = card.verbs->queue_pairs();
  CHECK(card.receive(1s) == 0);
  CHECK_FALSE(card.datapath->reads(card.memory));
  CHECK(card.datapath->counters().queue_pairs_rebuilt == 2);
  CHECK(card.datapath->counters().tx_lost == 10);
  CHECK(card.verbs->queue_pairs() == queue_pairs);
  REQUIRE(card.send(10, 2) == 10);
  CHECK(card.receive() == 10);
  CHECK_FALSE(card.datapath->failure());
  card.datapath->release_memory(card.memory);
}

TEST_CASE("while no queue pair can be created, packets are lost and creation is retried") {
  Card card(1);
  card.verbs->refuses_posts = true;
  CHECK(card.send(3) == 3);
  card.verbs->refuses_posts = false;
  card.verbs->refuses_queue_pairs = true;
  CHECK(card.receive(1s) == 0);
  CHECK(card.send(3) == 3);
  CHECK(card.receive() == 0);
  card.verbs->refuses_queue_pairs = false;
  CHECK(card.receive(1s) == 0);
  CHECK(card.send(3) == 3);
  CHECK(card.receive() == 3);
  CHECK(card.datapath->counters().tx_lost == 6);
}

TEST_CASE("a queue pair that fails repeatedly is replaced at growing intervals") {
  Card card(1);
  card.verbs->refuses_posts = true;
  for (int i = 0; i < 1000; ++i) {
    card.send(1);
    card.receive(1ms);
  }
  CHECK(card.datapath->counters().queue_pairs_rebuilt <= 20);
  CHECK(card.datapath->counters().queue_pairs_rebuilt >= 10);
}

TEST_CASE("abandoned memory is not read any more, and other sends continue") {
  Card card;
  REQUIRE(card.datapath->register_memory(card.memory).ok());
  card.verbs->holds = true;
  REQUIRE(card.send(4, 2) == 4);
  card.datapath->abandon(std::span<const std::byte>(card.memory).first(1));  // path 0
  CHECK_FALSE(card.datapath->reads(std::span<const std::byte>(card.memory).first(kPayload)));
  CHECK(card.datapath->reads(std::span<const std::byte>(card.memory).subspan(kPayload, kPayload)));
  card.verbs->holds = false;
  card.verbs->release();
  CHECK(card.receive(1s) == 2);
  REQUIRE(card.send(4, 2) == 4);
  CHECK(card.receive() == 4);
  card.datapath->release_memory(card.memory);
}

TEST_CASE("after a device was removed nothing is sent or received, and a failure is reported") {
  Card card;
  card.send(5);
  card.verbs->report(IBV_EVENT_DEVICE_FATAL);
  CHECK_FALSE(card.datapath->failure());
  CHECK(card.receive(1s) == 0);
  REQUIRE(card.datapath->failure());
  CHECK(card.datapath->failure()->what == "the RDMA device fake:1 is gone");
  CHECK(card.send(5) == 5);  // lost
  CHECK_FALSE(card.datapath->arm());
  pollfd descriptor{card.datapath->wait_descriptor(), POLLIN, 0};
  CHECK(poll(&descriptor, 1, 0) == 0);
}

TEST_CASE("a device removed without an event is reported as a failure too") {
  Card card;
  card.verbs->removed = true;
  REQUIRE(card.send(5) == 5);
  CHECK(card.receive(1s) == 0);
  REQUIRE(card.datapath->failure());
  CHECK(card.datapath->failure()->what == "the RDMA device fake:1 is gone");
}

TEST_CASE("a failed completion queue is reported, because its packets would be missed silently") {
  Card card;
  card.verbs->report(IBV_EVENT_CQ_ERR);
  CHECK(card.receive(1s) == 0);
  REQUIRE(card.datapath->failure());
  CHECK(card.datapath->failure()->what == "the RDMA device fake:1 has lost a completion queue");
}

TEST_CASE("the report about a silent peer names an address that this host has lost") {
  Card card;
  const wire::EndpointAddress peer = card.datapath->local_address();
  CHECK(card.datapath->last_report(peer).kind == PathReport::Kind::kNothing);
  card.receive(1s);
  card.verbs->lacks_gid = true;
  const PathReport report = card.datapath->last_report(peer);
  CHECK(report.kind == PathReport::Kind::kNoAddress);
  CHECK(report.from == "10.0.0.1");
  CHECK(report.at == card.now);
  CHECK_FALSE(card.datapath->failure());
}

TEST_CASE("an armed completion channel wakes its waiter once, and arm() requests a last check") {
  Card card;
  pollfd descriptor{card.datapath->wait_descriptor(), POLLIN, 0};
  CHECK(card.datapath->arm());        // newly armed: check again
  CHECK_FALSE(card.datapath->arm());  // still armed
  CHECK(poll(&descriptor, 1, 0) == 0);
  card.send(2);
  CHECK(poll(&descriptor, 1, 0) == 1);
  CHECK(card.datapath->arm());
  CHECK(poll(&descriptor, 1, 0) == 0);
  CHECK(card.receive() == 2);
}

TEST_CASE(
    "memory registered by several users stays registered until the last of them releases it") {
  Card card;
  const std::size_t own = card.verbs->regions.size();
  const auto part = std::span(card.memory).subspan(kPayload, 3 * kPayload);
  REQUIRE(card.datapath->register_memory(part).ok());
  REQUIRE(card.datapath->register_memory(part).ok());
  REQUIRE(card.datapath->register_memory(card.memory).ok());
  CHECK(card.verbs->regions.size() == own + 2);
  card.datapath->release_memory(part);
  CHECK(card.verbs->regions.size() == own + 2);
  card.datapath->release_memory(part);
  CHECK(card.verbs->regions.size() == own + 1);
  REQUIRE(card.send(8) == 8);
  CHECK(card.datapath->counters().tx_zero_copy == 8);
  card.datapath->release_memory(card.memory);
  REQUIRE(card.send(8) == 8);
  CHECK(card.datapath->counters().tx_zero_copy == 8);
  CHECK(card.receive() == 16);
}

TEST_CASE("a user whose registration has failed may release before one that succeeded later") {
  Card card;
  const std::size_t own = card.verbs->regions.size();
  card.verbs->refuses_regions = true;
  CHECK_FALSE(card.datapath->register_memory(card.memory).ok());
  REQUIRE(card.send(8) == 8);
  CHECK(card.datapath->counters().tx_copied == 8);
  card.verbs->refuses_regions = false;
  REQUIRE(card.datapath->register_memory(card.memory).ok());
  card.datapath->release_memory(card.memory);  // by the first user
  CHECK(card.verbs->regions.size() == own + 1);
  REQUIRE(card.send(8) == 8);
  CHECK(card.datapath->counters().tx_zero_copy == 8);
  CHECK(card.receive() == 16);
  card.datapath->release_memory(card.memory);
  CHECK(card.verbs->regions.size() == own);
}

TEST_CASE("a piece that extends beyond registered memory is copied") {
  Card card;
  const auto part = std::span(card.memory).first(kPayload + 1);
  REQUIRE(card.datapath->register_memory(part).ok());
  REQUIRE(card.send(2) == 2);
  CHECK(card.datapath->counters().tx_zero_copy == 1);
  CHECK(card.datapath->counters().tx_copied == 1);
  CHECK(card.receive() == 2);
  card.datapath->release_memory(part);
}

TEST_CASE("peers without RoCE, or of another family, are refused with a reason") {
  Card card;
  DeviceAddress peer;
  peer.ip = parse_ip_address("10.0.0.2").value();
  peer.add(LocatorKind::kUdpPort, 50000);
  CHECK_FALSE(card.datapath->check_reachable(encode(peer)).ok());
  peer.add(LocatorKind::kQueuePair, 5);
  CHECK(card.datapath->check_reachable(encode(peer)).ok());
  peer.ip = parse_ip_address("fd00::1").value();
  CHECK_FALSE(card.datapath->check_reachable(encode(peer)).ok());
  const wire::EndpointAddress foreign = encode(peer);
  wire::TxPacket packet = card.packet(0);
  packet.destination = &foreign;
  CHECK(card.datapath->send({&packet, 1}) == 1);
  CHECK(card.datapath->counters().tx_unreachable == 1);
}

}  // namespace
}  // namespace dlcp::datapath::test
