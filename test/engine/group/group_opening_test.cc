// The set-up of a group of two ranks in one process, over memory, and what it may post then.
#include "engine/group/group_opening.h"

#include <memory>

#include "catch.h"
#include "datapath/address/device_address.h"
#include "engine/group/group.h"
#include "engine/host/clock.h"
#include "engine/memory_datapath.h"
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
  core::Listening listening[2] = {listen(0), listen(1)};

  core::Listening listen(int rank) const { return ports[rank].lanes()[0].engine->listen(1, 1); }
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

// Offers many receives and never does anything else.
struct Receives final : collective::AllReduce {
  explicit Receives(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      pending.push_back({1, collective::Transfer::Lane::kContributions, false, 0, i, memory, {}});
  }
  std::size_t staging_needed(const collective::Call&) const override { return 0; }
  std::optional<std::uint64_t> start(const collective::Call&) override { return std::nullopt; }
  bool finished(std::uint64_t) const override { return false; }
  void post_to(collective::Mesh& mesh) override {
    while (!pending.empty() && mesh.post(pending.back()))
      pending.pop_back();
  }
  using AllReduce::on_done;
  void on_done(const collective::Transfer&, std::size_t, std::span<const ByteRange>) override {}
  bool work() override { return false; }
  bool busy() const override { return true; }
  bool idle() const override { return false; }
  const std::string& disagreement() const override { return none; }

  std::string none;
  std::vector<std::byte> memory = std::vector<std::byte>(64);
  std::vector<collective::Transfer> pending;
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

TEST_CASE("a gate is told of the transfers that a connection has accepted, and of no others") {
  TwoRanks two;
  GroupOpening first(two.ports[0], two.ports[0], two.plan(0));
  GroupOpening second(two.ports[1], two.ports[1], two.plan(1));
  const Time end = engine::steady_now() + 5s;
  bool ready = false;
  while (!ready && engine::steady_now() < end) {
    ready = first.poll() == GroupOpening::State::kReady;
    ready = second.poll() == GroupOpening::State::kReady && ready;
  }
  REQUIRE(ready);
  const Receives* receives = nullptr;
  const auto make = [&](std::span<std::byte>) {
    auto made = std::make_unique<Receives>(1000);
    receives = made.get();
    return std::unique_ptr<collective::AllReduce>(std::move(made));
  };
  engine::Group group(first.take(), make, engine::Group::Staging(4096));
  std::size_t asked = 0, posted = 0;
  const engine::Group::Gate gate{.admits = [&](const auto&) { return ++asked > 0; },
                                 .posted = [&](const auto&) { ++posted; }};
  for (int turn = 0; turn < 10; ++turn)
    REQUIRE(group.serve(gate).ok());
  CHECK(receives->pending.size() > 0);  // the connection is full
  CHECK(posted == 1000 - receives->pending.size());
  CHECK(asked > posted);
  const engine::GroupLinks links = second.take();
  for (const auto& link : links.all())
    if (link.connection != nullptr) link.engine->close(link.connection);
}
