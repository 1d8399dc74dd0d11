// The set-up of a group of two ranks in one process, over memory.
#include "engine/group/group_opening.h"

#include <memory>

#include "catch.h"
#include "datapath/address/device_address.h"
#include "engine/host/clock.h"
#include "memory_datapath.h"
#include "secrets.h"
#include "wire/data/data_header.h"
#include "wire/frame_head.h"

using namespace dlcp;
using namespace dlcp::test;
using engine::GroupOpening;
using engine::GroupWord;

namespace {

engine::Port open_device(const std::shared_ptr<Wire>& wire, int side) {
  datapath::DeviceAddress address;
  address.ip = datapath::parse_ip_address(side == 0 ? "10.0.0.1" : "10.0.0.2").value();
  address.add(datapath::LocatorKind::kUdpPort, 50'000);
  core::Config config;
  config.peer_timeout = 2s;
  config.receive_capacity_bytes = std::size_t{1} << 20;
  return engine::Port(
      {{&engine::kUdp, std::make_shared<engine::Engine>(
                           std::make_unique<MemoryDatapath>(wire, side, encode(address)), config,
                           secrets_of(static_cast<std::uint64_t>(side + 1)),
                           [](const engine::LogLine&) {}, [](core::ContextId, const Error&) {})}});
}

struct TwoRanks {
  std::shared_ptr<Wire> wire = std::make_shared<Wire>();
  engine::Port ports[2] = {open_device(wire, 0), open_device(wire, 1)};
  core::Endpoint::Listening listening[2] = {listen(0), listen(1)};

  core::Endpoint::Listening listen(int rank) const {
    return ports[rank].lanes()[0].engine->listen(1, 1);
  }
  GroupOpening::Plan plan(std::uint32_t rank) const {
    GroupOpening::Plan plan;
    plan.context = 1;
    plan.us.rank = rank;
    plan.us.ranks = 2;
    plan.us.granule = 1408;
    plan.us.block_bytes_max = 1408;
    for (const int each : {0, 1})
      plan.peers.push_back({listening[each].invitation, ports[each].address()});
    plan.listeners = {listening[rank].id};
    plan.carrier_patience = 3s;
    plan.timeout = 5s;
    return plan;
  }
};

}  // namespace

TEST_CASE("a rank is ready only when its report is acknowledged, whose memory may be freed then") {
  TwoRanks two;
  bool is_reported = false, is_committed = false, acknowledges = false;
  two.wire->keep = [&](std::span<const std::byte> datagram) {
    if (const auto data = wire::decode_data(datagram)) {
      if (auto word = engine::decode_group_word(data->payload)) {
        is_reported = is_reported || word->word == GroupWord::Word::kReady;
        is_committed = is_committed || word->word == GroupWord::Word::kCommit;
      }
      return true;
    }
    const auto head = wire::decode_head(datagram);
    return acknowledges || !is_reported || !head || head->type != wire::FrameType::kAck;
  };
  GroupOpening first(two.ports[0], two.ports[0], two.plan(0));
  GroupOpening second(two.ports[1], two.ports[1], two.plan(1));
  const auto poll = [&](Duration span) {
    auto state = GroupOpening::State::kPending;
    bool all = false;
    for (const Time end = engine::steady_now() + span; engine::steady_now() < end && !all;) {
      all = first.poll() == GroupOpening::State::kReady;
      state = second.poll();
      all = all && state == GroupOpening::State::kReady;
    }
    return state;
  };
  CHECK(poll(300ms) == GroupOpening::State::kPending);
  CHECK(is_committed);
  acknowledges = true;
  CHECK(poll(5s) == GroupOpening::State::kReady);
  for (GroupOpening* opening : {&first, &second}) {
    const engine::GroupLinks links = opening->take();
    for (const auto& link : links.all())
      if (link.connection != nullptr) link.engine->close(link.connection);
  }
}
