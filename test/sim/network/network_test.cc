// The simulated network itself: its links, queues and switches, exact to the nanosecond and byte.
#include "datapath/sim/network.h"

#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "catch.h"

using namespace dlcp;
using namespace dlcp::datapath::sim;

namespace {

// Collects the frames that arrive at the end of a port under test.
struct Collector : EventSink {
  struct Arrival {
    Time at;
    FramePtr frame;
  };
  std::vector<Arrival> arrivals;
  void on_event(Time now, FramePtr frame) override { arrivals.push_back({now, std::move(frame)}); }
};

FramePtr make_frame(TrafficClass traffic_class, std::size_t wire_bytes) {
  auto frame = std::make_unique<Frame>();
  frame->bytes.resize(wire_bytes - kIpUdpBytes - kEthernetBytes);
  frame->dscp = row_of(traffic_class).dscp;
  frame->ecn = row_of(traffic_class).ecn;
  return frame;
}

constexpr LinkConfig kGigabit{.rate = 1'000'000'000, .delay = 5us, .mtu = 9000};

// Sends `count` datagrams of 1000 bytes from one host to another, over the paths in turn.
void send_many(Network& network, HostIndex from, HostIndex to, std::size_t count) {
  const std::vector<std::byte> payload(960);
  const auto address = network.host(to).local_address();
  for (std::size_t i = 0; i < count; ++i) {
    wire::TxPacket packet;
    packet.header_bytes = 40;
    packet.header.fill(std::byte{static_cast<unsigned char>(i)});
    packet.traffic_class = TrafficClass::kExact;
    packet.path = static_cast<wire::PathIndex>(i % network.host(from).limits().paths);
    packet.payload = payload;
    packet.destination = &address;
    while (network.host(from).send({&packet, 1}) == 0)
      network.events().run_until(network.events().next());
  }
}

std::vector<Time> drain(Network& network, HostIndex at) {
  std::vector<Time> arrivals;
  std::vector<wire::RxPacket> packets(64);
  while (network.events().next() != kNever)
    network.events().run_until(network.events().next());
  while (const std::size_t count = network.host(at).receive(network.events().now(), packets))
    for (std::size_t i = 0; i < count; ++i)
      arrivals.push_back(packets[i].arrived_at);
  return arrivals;
}

}  // namespace

TEST_CASE("events of one instant run in the order in which they were scheduled") {
  EventQueue events;
  Collector sink;
  for (unsigned char i = 0; i < 100; ++i) {
    auto frame = make_frame(TrafficClass::kExact, 100);
    frame->bytes[0] = std::byte{i};
    events.schedule(time_from_ns(i % 3), sink, std::move(frame));
  }
  events.run_until(time_from_ns(1));
  REQUIRE(events.next() == time_from_ns(2));
  events.run_until(time_from_ns(2));
  REQUIRE(sink.arrivals.size() == 100);
  unsigned previous = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    const auto label = std::to_integer<unsigned>(sink.arrivals[i].frame->bytes[0]);
    const unsigned key = label % 3 * 1000 + label;
    REQUIRE((i == 0 || key > previous));
    previous = key;
  }
}

TEST_CASE(
    "a link sends frames one after the other at its rate, and delivers each after its delay") {
  EventQueue events;
  Collector sink;
  Port port(events, sink, {}, kGigabit, 1);
  for (int i = 0; i < 10; ++i)
    port.enqueue(events.now(), make_frame(TrafficClass::kExact, 1250));
  events.run_until(time_from_ns(1'000'000));
  REQUIRE(sink.arrivals.size() == 10);
  for (std::size_t i = 0; i < 10; ++i)
    REQUIRE(ns_of(sink.arrivals[i].at) == static_cast<std::int64_t>((i + 1) * 10'000 + 5'000));
}

TEST_CASE("a queue accepts frames up to its limit and drops the rest") {
  EventQueue events;
  Collector sink;
  Port port(events, sink, {.queue_bytes = 10'000, .early_bytes = 1'000'000}, kGigabit, 1);
  // The first frame goes to the wire at once, ten more fill the queue exactly.
  for (int i = 0; i < 13; ++i)
    port.enqueue(events.now(), make_frame(TrafficClass::kExact, 1000));
  REQUIRE(port.counters().tail_drops == 2);
  REQUIRE(port.counters().deepest_bytes == 10'000);
  events.run_until(time_from_ns(1'000'000));
  REQUIRE(sink.arrivals.size() == 11);
  REQUIRE(port.queued_bytes() == 0);
}

TEST_CASE(
    "above the threshold protected packets are marked, and droppable ones dropped by precedence") {
  const auto arrive = [](TrafficClass traffic_class) {
    EventQueue events;
    Collector sink;
    Port port(events, sink, {.queue_bytes = 100'000, .early_bytes = 10'000}, kGigabit, 1);
    for (int i = 0; i < 50; ++i)
      port.enqueue(events.now(), make_frame(traffic_class, 1000));
    events.run_until(time_from_ns(1'000'000));
    return port.counters();
  };
  // One frame is on the wire; frame n finds n - 1 in the queue, so marks and drops begin at 11.
  REQUIRE(arrive(TrafficClass::kExact).marks == 38);
  REQUIRE(arrive(TrafficClass::kExact).early_drops == 0);
  REQUIRE(arrive(TrafficClass::kControl).marks == 0);
  REQUIRE(arrive(TrafficClass::kControl).early_drops == 0);
  REQUIRE(arrive(TrafficClass::kBulkDroppable).marks == 0);
  REQUIRE(arrive(TrafficClass::kBulkDroppable).early_drops == 38);
  REQUIRE(arrive(TrafficClass::kBulkMiddle).early_drops == 33);
}

TEST_CASE("control packets leave before all other waiting packets") {
  EventQueue events;
  Collector sink;
  Port port(events, sink, {}, kGigabit, 1);
  for (int i = 0; i < 5; ++i)
    port.enqueue(events.now(), make_frame(TrafficClass::kExact, 1000));
  port.enqueue(events.now(), make_frame(TrafficClass::kControl, 100));
  events.run_until(time_from_ns(1'000'000));
  REQUIRE(sink.arrivals.size() == 6);
  REQUIRE(sink.arrivals[1].frame->dscp == row_of(TrafficClass::kControl).dscp);
}

TEST_CASE("weighted queues share a busy link in proportion to their weights") {
  EventQueue events;
  Collector sink;
  Port port(events, sink, {.queue_bytes = 3'000'000, .early_bytes = 3'000'000}, kGigabit, 1);
  for (int i = 0; i < 2000; ++i) {
    port.enqueue(events.now(), make_frame(TrafficClass::kExact, 1466));
    port.enqueue(events.now(), make_frame(TrafficClass::kUrgentProtected, 700));
    port.enqueue(events.now(), make_frame(TrafficClass::kUrgentProtected, 700));
    port.enqueue(events.now(), make_frame(TrafficClass::kBulkProtected, 1300));
  }
  events.run_until(time_from_ns(15'000'000));  // 15 of 45 ms in total
  const auto& sent = port.counters().sent_bytes;
  const double total = static_cast<double>(sent[1] + sent[2] + sent[3]);
  REQUIRE(total == Approx(15e6 / 8).epsilon(0.01));
  REQUIRE(static_cast<double>(sent[1]) / total == Approx(4.0 / 7).epsilon(0.05));
  REQUIRE(static_cast<double>(sent[2]) / total == Approx(2.0 / 7).epsilon(0.05));
  REQUIRE(static_cast<double>(sent[3]) / total == Approx(1.0 / 7).epsilon(0.05));
}

TEST_CASE("a datagram crosses two hosts' links and arrives unchanged") {
  Network network(single_switch(2, {.link = kGigabit}));
  send_many(network, 0, 1, 3);
  const auto arrivals = drain(network, 1);
  REQUIRE(arrivals.size() == 3);
  // 1000 + 66 bytes on the wire at 1 Gbit/s take 8528 ns, twice, plus twice the delay of 5 us.
  REQUIRE(ns_of(arrivals[0]) == 2 * 8528 + 2 * 5000);
  REQUIRE(ns_of(arrivals[2]) == 4 * 8528 + 2 * 5000);
}

TEST_CASE("a full NIC accepts no more packets, and accepts again when it has drained") {
  Network network(single_switch(2, {.link = kGigabit, .nic_queue_bytes = 5000}));
  std::vector<std::byte> payload(960);
  const auto address = network.host(1).local_address();
  std::vector<wire::TxPacket> packets(10);
  for (auto& packet : packets) {
    packet.header_bytes = 40;
    packet.payload = payload;
    packet.destination = &address;
  }
  REQUIRE(network.host(0).send(packets) == 5);  // one on the wire, four in the queue
  REQUIRE_FALSE(network.host(0).can_send());
  drain(network, 1);
  REQUIRE(network.host(0).can_send());
}

TEST_CASE("a full receive queue drops packets and counts them") {
  Network network(single_switch(2, {.receive_queue_bytes = 5 * (1000 + 256)}));
  send_many(network, 0, 1, 8);
  REQUIRE(drain(network, 1).size() == 5);
  REQUIRE(network.host(1).counters().receive_dropped == 3);
}

TEST_CASE(
    "equal-cost spines each carry their share of many paths, and each path stays on one spine") {
  auto config = leaf_spine(2, 4, 1, {.paths = 256, .receive_queue_bytes = 10 << 20}, {});
  Network network(config);
  send_many(network, 0, 1, 2560);
  REQUIRE(drain(network, 1).size() == 2560);
  std::uint64_t total = 0;
  for (std::size_t spine = 0; spine < 4; ++spine) {
    const auto frames = network.leaf_to_spine(0, spine).link().counters().frames;
    REQUIRE(frames % 10 == 0);  // ten packets on each path
    REQUIRE(static_cast<double>(frames) == Approx(640).epsilon(0.4));
    total += frames;
  }
  REQUIRE(total == 2560);
}

TEST_CASE("a dead spine loses the packets of its paths until it is back") {
  Network network(leaf_spine(2, 2, 1, {.paths = 64}, {}));
  network.add_spine_outage(0, time_from_ns(0), time_from_ns(1'000'000'000));
  send_many(network, 0, 1, 64);
  const auto lost = network.spine_to_leaf(0, 1).link().counters().while_down;
  drain(network, 1);
  REQUIRE(network.spine_to_leaf(0, 1).link().counters().while_down > lost / 2);
  const auto frames = network.spine_to_leaf(1, 1).link().counters().frames;
  REQUIRE(frames == network.host(1).counters().delivered);
  REQUIRE(frames < 64);
  network.events().run_until(time_from_ns(1'000'000'000));
  send_many(network, 0, 1, 64);
  REQUIRE(drain(network, 1).size() == 64);
}

TEST_CASE("faults occur at the configured rates") {
  Network network(single_switch(2, {.receive_queue_bytes = 100 << 20}));
  const LinkFaults faults{.drop = 0.1, .duplicate = 0.05, .corrupt = 0.02, .reorder = 0.2};
  network.host(0).nic().link().set_faults(faults);
  send_many(network, 0, 1, 20'000);
  const auto arrivals = drain(network, 1);
  const auto& seen = network.host(0).nic().link().counters();
  REQUIRE(seen.frames == 20'000);
  REQUIRE(static_cast<double>(seen.lost) == Approx(2000).epsilon(0.1));
  REQUIRE(static_cast<double>(seen.duplicated) == Approx(900).epsilon(0.15));
  REQUIRE(static_cast<double>(seen.corrupted) == Approx(360).epsilon(0.2));
  REQUIRE(static_cast<double>(seen.reordered) == Approx(3780).epsilon(0.1));
  REQUIRE(arrivals.size() == 20'000 - seen.lost + seen.duplicated);
}

TEST_CASE("packets larger than a link's MTU are lost silently") {
  Network network(single_switch(2, {.mtu = 9000}));
  network.to_host(1).link().set_config({.mtu = 1027});
  send_many(network, 0, 1, 5);
  REQUIRE(drain(network, 1).empty());
  network.to_host(1).link().set_config({.mtu = 1028});
  send_many(network, 0, 1, 5);
  REQUIRE(drain(network, 1).size() == 5);
  REQUIRE(network.to_host(1).link().counters().oversize == 5);
}

TEST_CASE("a black hole drops some paths always and others never") {
  Network network(single_switch(2, {.paths = 64}));
  network.host(0).nic().link().set_faults({.blackhole_classes = 0xffff, .blackhole_seed = 3});
  send_many(network, 0, 1, 640);
  const auto arrived = drain(network, 1).size();
  REQUIRE(arrived % 10 == 0);
  REQUIRE(arrived > 320);
  REQUIRE(arrived < 640);
  REQUIRE(network.host(0).nic().link().counters().blackholed == 640 - arrived);
}

TEST_CASE("packets to an unknown address are accepted and lost") {
  Network network(single_switch(2, {}));
  wire::EndpointAddress nonsense;
  nonsense.size = 3;
  wire::TxPacket packet;
  packet.header_bytes = 12;
  packet.destination = &nonsense;
  REQUIRE(network.host(0).send({&packet, 1}) == 1);
  REQUIRE(network.host(0).counters().refused == 1);
  const auto nobody = make_address(77, 4);
  packet.destination = &nobody;
  REQUIRE(network.host(0).send({&packet, 1}) == 1);
  REQUIRE(drain(network, 1).empty());
}

TEST_CASE("equal seeds give equal event hashes, different seeds different ones") {
  const auto hash_of = [](std::uint64_t seed) {
    auto config = leaf_spine(2, 2, 2, {}, {});
    config.seed = seed;
    Network network(config);
    network.set_faults({.drop = 0.1, .duplicate = 0.1, .corrupt = 0.1, .reorder = 0.1});
    send_many(network, 0, 3, 200);
    send_many(network, 2, 1, 200);
    drain(network, 3);
    return network.event_hash();
  };
  REQUIRE(hash_of(7) == hash_of(7));
  REQUIRE(hash_of(7) != hash_of(8));
}
