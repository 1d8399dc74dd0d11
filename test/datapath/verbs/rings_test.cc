// Tests of the verbs datapath's rings and address handles: the headers of packets, the life of
// handles, and the size of receive buffers.
#include "one_card.h"

namespace dlcp::datapath::test {
namespace {

TEST_CASE("flow labels are never zero and their source ports differ") {
  const auto labels = flow_labels(256, 7);
  std::set<std::uint16_t> ports;
  for (const std::uint32_t label : labels) {
    CHECK(label != 0);
    CHECK(label <= 0xfffff);
    ports.insert(source_port_of_label(label));
  }
  CHECK(ports.size() == 256);
  CHECK(*ports.begin() >= 0xc000);
}

TEST_CASE("two datapaths of a card use different flow labels") {
  std::set<std::uint32_t> labels;
  for (int opened = 0; opened < 2; ++opened) {
    Card card(4, Entropy::kFlowLabel);
    card.send(4, 4);
    for (const ibv_ah_attr& made : card.verbs->handles_made)
      labels.insert(made.grh.flow_label);
  }
  CHECK(labels.size() > 4);  // by chance one may be equal
}

TEST_CASE("address handles stay within their limit, and none is destroyed while in use") {
  VerbsOptions options = options_with(8, Entropy::kFlowLabel);
  options.handles_max = 4;
  Card card(options);
  for (wire::PathIndex path = 0; path < 8; ++path) {
    const wire::TxPacket packet = card.packet(path, path);
    REQUIRE(card.datapath->send({&packet, 1}) == 1);
    CHECK(card.receive() == 1);
  }
  CHECK(card.verbs->handles_made.size() == 8);
  card.verbs->holds = true;
  REQUIRE(card.send(8, 8) ==
          8);  // the fake reports an error for a request whose handle was destroyed
  CHECK(card.datapath->counters().tx_unreachable == 4);
  card.verbs->holds = false;
  card.verbs->release();
  CHECK(card.receive() == 4);
  CHECK(card.datapath->counters().tx_errors == 0);
}

TEST_CASE("an unreachable peer costs one attempt for all its paths, then a pause") {
  Card card(16, Entropy::kFlowLabel);
  card.verbs->refuses_handles = true;
  card.receive();
  CHECK(card.send(32, 16) == 32);
  CHECK(card.datapath->counters().tx_unreachable == 32);
  card.receive(1s);  // the attempt took a second
  CHECK(card.send(32, 16) == 32);
  card.receive(900ms);
  CHECK(card.send(32, 16) == 32);
  CHECK(card.verbs->handles_refused == 1);
  card.verbs->refuses_handles = false;
  card.receive(200ms);
  CHECK(card.send(32, 16) == 32);
  CHECK(card.receive() == 32);
}

TEST_CASE("attempts to reach a dead peer take a fifth of the time, even if each lasts a second") {
  Card card(16, Entropy::kFlowLabel);
  card.verbs->refuses_handles = true;
  while (card.now < Time(30s)) {
    const std::size_t attempts = card.verbs->handles_refused;
    card.send(16, 16);
    card.receive(card.verbs->handles_refused > attempts ? 1s : 10ms);
  }
  CHECK(card.verbs->handles_refused >= 4);
  CHECK(card.verbs->handles_refused <= 6);
  card.verbs->refuses_handles = false;
  card.receive(9s);
  CHECK(card.send(1) == 1);
  CHECK(card.receive() == 1);
}

TEST_CASE("the pause after a failed attempt ends in time even if nothing is sent meanwhile") {
  Card card(16, Entropy::kFlowLabel);
  card.receive();
  card.verbs->refuses_handles = true;
  CHECK(card.send(1) == 1);
  card.verbs->refuses_handles = false;
  card.receive(2990ms);  // two seconds for the attempt, one for the pause
  CHECK(card.send(1) == 1);
  CHECK(card.receive() == 0);
  card.receive(20ms);
  CHECK(card.send(1) == 1);
  CHECK(card.receive() == 1);
}

TEST_CASE("address handles carry hop limit, marks, GID and a label") {
  Card card(2, Entropy::kFlowLabel);
  card.send(1);
  REQUIRE(card.verbs->handles_made.size() == 1);
  const ibv_ah_attr& made = card.verbs->handles_made.front();
  CHECK(made.is_global == 1);
  CHECK(made.grh.traffic_class == (18 << 2 | 2));
  CHECK(made.grh.flow_label != 0);
  CHECK(made.grh.hop_limit > 1);
  const std::uint8_t gid[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
  CHECK(std::equal(gid, gid + 16, made.grh.dgid.raw));
}

TEST_CASE("the TOS byte and the source are read from either IP header, and from no other bytes") {
  std::array<std::byte, 40> header{};
  CHECK_FALSE(read_routing_header(header, IpFamily::kV4));
  CHECK_FALSE(read_routing_header(header, IpFamily::kV6));
  header[20] = std::byte{0x45};
  header[21] = std::byte{0xa3};
  header[32] = std::byte{10};
  CHECK(read_routing_header(header, IpFamily::kV4)->tos == 0xa3);
  CHECK(read_routing_header(header, IpFamily::kV4)->source ==
        wire::host_address(std::span(header).subspan(32, 4)));
  CHECK_FALSE(read_routing_header(header, IpFamily::kV6));
  header[0] = std::byte{0x6a};
  header[1] = std::byte{0x3f};
  header[8] = std::byte{0xfd};
  header[20] = GENERATE(std::byte{0}, std::byte{0x45});  // a byte of the source address
  header[21] = std::byte{0xff};
  CHECK(read_routing_header(header, IpFamily::kV6)->tos == 0xa3);
  CHECK(read_routing_header(header, IpFamily::kV6)->source ==
        wire::host_address(std::span(header).subspan(8, 16)));
}

TEST_CASE("a device that sends small packets receives any that the port accepts") {
  Card card;
  VerbsOptions options = options_with(4, Entropy::kQueuePairs);
  options.datagram_bytes_max = 600;
  const auto small = VerbsDatapath::open(card.verbs, options).value();
  CHECK(small->limits().datagram_bytes_max == 600);
  wire::TxPacket packet = card.packet(0);
  packet.destination = &small->local_address();
  REQUIRE(card.datapath->send({&packet, 1}) == 1);
  CHECK(small->receive(card.now, card.arrived) == 1);
  CHECK(card.arrived[0].bytes.size() == 40 + kPayload);
  CHECK(card.verbs->too_long == 0);
}

}  // namespace
}  // namespace dlcp::datapath::test
