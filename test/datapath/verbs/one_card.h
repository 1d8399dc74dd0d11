// A verbs datapath over a fake card, which sends to itself.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "../../catch.h"
#include "datapath/verbs/fake_verbs.h"
#include "datapath/verbs/verbs_datapath.h"

namespace dlcp::datapath::test {

constexpr std::size_t kPayload = 900;

inline VerbsOptions options_with(std::size_t paths, Entropy entropy) {
  VerbsOptions options;
  options.port.device = "fake";
  options.port.entropy = entropy;
  options.port.gid.ip = parse_ip_address("10.0.0.1").value();
  options.paths = paths;
  options.receive_buffers = 256;
  options.send_requests = 256;
  return options;
}

struct Card {
  explicit Card(std::size_t paths = 4, Entropy entropy = Entropy::kQueuePairs)
      : Card(options_with(paths, entropy)) {}
  explicit Card(const VerbsOptions& options)
      : datapath(VerbsDatapath::open(verbs, options).value()), memory(64 * kPayload) {
    for (std::size_t i = 0; i < memory.size(); ++i)
      memory[i] = static_cast<std::byte>(i * 7 + i / kPayload);
  }
  ~Card() {
    datapath.reset();
    CHECK(verbs->regions.empty());
    CHECK(verbs->others.empty());
    CHECK(verbs->queue_pairs() == 0);
  }

  wire::TxPacket packet(std::size_t number, wire::PathIndex path = 0,
                        TrafficClass traffic_class = TrafficClass::kExact) {
    wire::TxPacket packet;
    packet.header_bytes = 40;
    packet.header.fill(static_cast<std::byte>(number));
    packet.payload = std::span(memory).subspan(number * kPayload, kPayload);
    packet.path = path;
    packet.traffic_class = traffic_class;
    packet.destination = &datapath->local_address();
    return packet;
  }
  std::size_t send(std::size_t count, std::size_t paths = 1) {
    std::vector<wire::TxPacket> packets;
    for (std::size_t i = 0; i < count; ++i)
      packets.push_back(packet(i, static_cast<wire::PathIndex>(i % paths)));
    return datapath->send(packets);
  }
  std::size_t receive(Duration later = 1ms) {
    now += later;
    const std::size_t count = datapath->receive(now, arrived);
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = std::to_integer<std::size_t>(arrived[i].bytes[0]);
      REQUIRE(arrived[i].bytes.size() == 40 + kPayload);
      CHECK(std::equal(arrived[i].bytes.begin() + 40, arrived[i].bytes.end(),
                       memory.begin() + static_cast<std::ptrdiff_t>(number * kPayload)));
    }
    return count;
  }

  std::shared_ptr<FakeVerbs> verbs = std::make_shared<FakeVerbs>();
  std::unique_ptr<VerbsDatapath> datapath;
  std::vector<std::byte> memory;
  std::vector<wire::RxPacket> arrived = std::vector<wire::RxPacket>(64);
  Time now{};
};

}  // namespace dlcp::datapath::test
