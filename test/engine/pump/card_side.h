// Engines over a fake RDMA card that places data.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "catch.h"
#include "datapath/verbs/placement/fake_card/fake_write_card.h"
#include "datapath/verbs/verbs_datapath.h"
#include "engine/host/clock.h"
#include "engine/lane/engine.h"
#include "secrets.h"

namespace dlcp::test {

using datapath::PermissionKind;
using datapath::PlacementTransport;
using datapath::VerbsDatapath;
using datapath::test::FakeWriteCard;
using engine::Engine;
using engine::LogLine;

// With packets of 4 KiB.
inline std::shared_ptr<FakeWriteCard> wide_card() {
  auto card = std::make_shared<FakeWriteCard>();
  card->mtu = IBV_MTU_4096;
  return card;
}

struct Side {
  // `number` is the last part of its address, too.
  Side(const std::shared_ptr<FakeWriteCard>& card, int number, PermissionKind permissions,
       const datapath::GpuAccess& gpu = {}, wire::Protection protection = wire::Protection::kHeader,
       PlacementTransport transport = PlacementTransport::kUc) {
    datapath::VerbsOptions options;
    options.port.device = "fake";
    options.port.gid.ip = datapath::parse_ip_address(fmt::format("10.0.0.{}", number)).value();
    options.port.gid.index = number;
    options.paths = 4;
    options.receive_buffers = 1024;
    options.send_requests = 1024;
    options.placement.permissions = permissions;
    options.placement.transport =
        permissions == PermissionKind::kNone ? PlacementTransport::kNone : transport;
    options.placement.gpu = gpu;
    auto opened = VerbsDatapath::open(card, options).value();
    datapath = opened.get();
    core::Config config;
    config.datagram_bytes_max = datapath->limits().datagram_bytes_max;
    config.receive_capacity_bytes = datapath->limits().receive_capacity_bytes;
    config.paths = datapath->limits().paths;
    config.peer_timeout = 5s;
    config.protection = protection;
    engine = std::make_unique<Engine>(
        std::move(opened), config, secrets_of(static_cast<std::uint64_t>(number)),
        [this](const LogLine& line) { lines.push_back(line.text); },
        [](core::ContextId, const Error&) {});
  }
  std::uint64_t count_of(std::string_view name) const {
    for (const datapath::NamedCount& count : datapath->counts())
      if (count.name == name) return count.value;
    FAIL("no counter " << name);
    return 0;
  }

  std::vector<std::string> lines;  // of the log
  VerbsDatapath* datapath = nullptr;
  std::unique_ptr<Engine> engine;
};

// Two of them and a connection from the first to the second.
struct CardPair {
  CardPair(PermissionKind sender, PermissionKind receiver, const datapath::GpuAccess& gpu = {},
           PlacementTransport transport = PlacementTransport::kUc)
      : a(card, 1, sender, gpu, wire::Protection::kHeader, transport),
        b(card, 2, receiver, gpu, wire::Protection::kHeader, transport) {
    card->has_dma_buf = gpu.dma_buf;
    const auto listening = b.engine->listen(1, 1);
    sends = a.engine->connect(1, listening.invitation, b.engine->address());
    const Time end = engine::steady_now() + 20s;
    for (auto state = core::ConnectionState::kCalling;
         receives == nullptr || state != core::ConnectionState::kOpen;) {
      state = a.engine->poll_state(*sends);
      if (receives == nullptr) receives = b.engine->accept(listening.id, 1).value();
      step();
      REQUIRE(engine::steady_now() < end);
    }
  }
  ~CardPair() {
    a.engine.reset();
    b.engine.reset();
    CHECK(card->regions.empty());
    CHECK(card->others.empty());
    CHECK(card->queue_pairs() == 0);
  }
  void step() {
    a.engine->drive();
    b.engine->drive();
    card->step();
  }
  void run_for(Duration time) {
    for (const Time end = engine::steady_now() + time; engine::steady_now() < end;)
      step();
  }

  std::shared_ptr<FakeWriteCard> card = wide_card();
  Side a, b;
  engine::Connection* sends = nullptr;
  engine::Connection* receives = nullptr;
};

}  // namespace dlcp::test
