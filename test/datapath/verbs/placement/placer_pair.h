// Two verbs datapaths over one fake card, with a link between them for placed packets.
#pragma once

#include <memory>
#include <vector>

#include "../../../catch.h"
#include "datapath/verbs/placement/fake_card/fake_write_card.h"
#include "datapath/verbs/verbs_datapath.h"

namespace dlcp::datapath::test {

constexpr std::size_t kPacketBytes = 1024;

inline VerbsOptions placing_options(const char* ip, PermissionKind permissions,
                                    PlacementTransport transport = PlacementTransport::kUc,
                                    const GpuAccess& gpu = {}) {
  VerbsOptions options;
  options.port.device = "fake";
  options.port.gid.ip = parse_ip_address(ip).value();
  options.paths = 4;
  options.receive_buffers = 64;
  options.send_requests = 128;
  options.placement.transport = transport;
  options.placement.permissions = permissions;
  options.placement.gpu = gpu;
  return options;
}

struct Side {
  Side(const std::shared_ptr<FakeWriteCard>& card, const VerbsOptions& options)
      : datapath(VerbsDatapath::open(card, options).value()), memory(256 * kPacketBytes) {
    REQUIRE(datapath->register_memory(memory).ok());
  }
  Placer& placer() { return *datapath->placer(); }
  std::span<std::byte> piece(std::size_t packet, std::size_t packets) {
    return std::span(memory).subspan(packet * kPacketBytes, packets * kPacketBytes);
  }
  std::uint64_t count_of(std::string_view name) const {
    for (const NamedCount& count : datapath->counts())
      if (count.name == name) return count.value;
    FAIL("no counter " << name);
    return 0;
  }

  std::unique_ptr<VerbsDatapath> datapath;
  std::vector<std::byte> memory;
  LinkId link = LinkId::kNone;
};

struct Pair {
  explicit Pair(PermissionKind permissions = PermissionKind::kRegion,
                PlacementTransport transport = PlacementTransport::kUc, const GpuAccess& gpu = {})
      : a(card, placing_options("10.0.0.1", permissions, transport, gpu)),
        b(card, placing_options("10.0.0.2", permissions, transport, gpu)) {
    card->has_dma_buf = gpu.dma_buf;
    for (std::size_t i = 0; i < a.memory.size(); ++i)
      a.memory[i] = static_cast<std::byte>(i * 7 + i / kPacketBytes);
  }
  ~Pair() {
    a.datapath.reset();
    b.datapath.reset();
    CHECK(card->regions.empty());
    CHECK(card->others.empty());
    CHECK(card->queue_pairs() == 0);
  }

  void open_links(Duration round_trip = {}) {
    a.link = a.placer().open_link(b.datapath->local_address(), round_trip).value();
    b.link = b.placer().open_link(a.datapath->local_address(), {}).value();
  }
  // Sends each side's introduction to the other until both know everything.
  void introduce() {
    for (int round = 0; round < 2; ++round) {
      REQUIRE(b.placer().connect(b.link, a.placer().introduction(a.link).view()).ok());
      REQUIRE(a.placer().connect(a.link, b.placer().introduction(b.link).view()).ok());
    }
  }
  void connect(std::size_t paths = 2, Duration round_trip = {}) {
    open_links(round_trip);
    REQUIRE(a.placer().widen(a.link, TrafficClass::kExact, paths).ok());
    introduce();
    REQUIRE(a.placer().paths(a.link, TrafficClass::kExact).count() == paths);
  }
  // Events of side b; takes all there are.
  std::vector<PermissionEvent> events() {
    std::vector<PermissionEvent> events(64);
    events.resize(b.placer().poll_permissions(now, events));
    return events;
  }
  Permission permit(std::span<std::byte> memory, PermissionId* id = nullptr) {
    const PermissionId made = b.placer().permit(b.link, memory);
    if (id != nullptr) *id = made;
    for (const PermissionEvent& event : events())
      if (event.id == made && event.kind == PermissionEvent::Kind::kGranted)
        return event.permission;
    FAIL("no permission");
    return {};
  }
  PlacedPacket packet(const Permission& to, std::uint16_t index, wire::PathIndex path = 0) {
    PlacedPacket packet;
    packet.way = {a.link, TrafficClass::kExact, path};
    packet.index = {5, 1, index};
    packet.address = to.address + index * kPacketBytes;
    packet.key = to.key;
    packet.payload = a.piece(index, 1);
    return packet;
  }
  std::size_t place(const Permission& to, std::uint16_t first, std::uint16_t packets,
                    wire::PathIndex path = 0) {
    std::vector<PlacedPacket> burst;
    for (std::uint16_t i = 0; i < packets; ++i)
      burst.push_back(packet(to, static_cast<std::uint16_t>(first + i), path));
    return a.placer().place(burst);
  }
  std::vector<PlacedRun> placed() {
    now += 1ms;
    std::vector<PlacedRun> runs(64);
    runs.resize(b.placer().placed(now, runs));
    return runs;
  }

  std::shared_ptr<FakeWriteCard> card = std::make_shared<FakeWriteCard>();
  Side a, b;
  Time now{1s};
};

}  // namespace dlcp::datapath::test
