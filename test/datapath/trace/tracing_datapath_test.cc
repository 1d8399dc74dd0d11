// Traced packets: the line of each names its path.
#include "datapath/trace/tracing_datapath.h"

#include <array>

#include "catch.h"
#include "datapath/trace/note.h"
#include "wire/data/data_header.h"

namespace dlcp::datapath::test {
namespace {

// Receives what it has sent.
class Loop final : public Datapath {
 public:
  std::string_view name() const override { return "loop"; }
  const wire::EndpointAddress& local_address() const override { return address_; }
  Limits limits() const override { return {}; }
  int wait_descriptor() const override { return -1; }
  std::size_t send(std::span<const wire::TxPacket> packets) override {
    for (const wire::TxPacket& packet : packets) {
      auto& datagram = datagrams_.emplace_back();
      const auto header = std::as_bytes(std::span(packet.header)).first(packet.header_bytes);
      datagram.insert(datagram.end(), header.begin(), header.end());
      datagram.insert(datagram.end(), packet.payload.begin(), packet.payload.end());
    }
    return packets.size();
  }
  std::size_t receive(Time now, std::span<wire::RxPacket> out) override {
    std::size_t count = 0;
    for (const auto& datagram : datagrams_)
      out[count++] = {.bytes = datagram, .arrived_at = now, .source = {}};
    return count;
  }

 private:
  wire::EndpointAddress address_;
  std::vector<std::vector<std::byte>> datagrams_;
};

}  // namespace

TEST_CASE("the trace shows the path of a received packet as its sender chose it") {
  constexpr wire::PathIndex kPath = 3;
  const wire::EndpointAddress to;
  const std::vector<std::byte> payload(128);

  wire::TxPacket data{.header = {}, .path = kPath, .payload = payload, .destination = &to};
  wire::DataHeader header;
  header.path_sequence = 17;
  header.path = kPath;
  header.message_bytes = 128;
  header.traffic_class = TrafficClass::kExact;
  data.header_bytes = static_cast<std::uint8_t>(header.bytes());
  wire::encode_data(header, header.path_sequence, payload, {}, data.header);

  wire::Buffer frame;
  wire::encode(wire::Probe{}, frame);
  wire::seal(frame, {}, 0, kPath);
  const wire::TxPacket probe{.header = {}, .path = kPath, .payload = frame, .destination = &to};

  Loop loop;
  const auto ring = std::make_shared<PacketRing>(8);
  TracingDatapath traced(loop, ring, {});
  REQUIRE(traced.send(std::array{data, probe}) == 2);
  std::array<wire::RxPacket, 8> arrived;
  REQUIRE(traced.receive(Time{}, arrived) == 2);

  const auto packets = ring->packets();
  REQUIRE(packets.size() == 4);
  for (const std::size_t i : {0u, 1u, 2u, 3u}) {
    INFO(text_of(packets[i]));
    CHECK(text_of(packets[i]).ends_with(i % 2 == 0 ? "path 3 number 17" : "path 3"));
  }
}

}  // namespace dlcp::datapath::test
