// One NCCL connection over several lanes: two ranks with engines over memory, lane by lane.
#include "engine/opening/bundle.h"

#include <deque>
#include <memory>

#include "catch.h"
#include "core/bounded_loss/loss_ledger.h"
#include "datapath/address/device_address.h"
#include "engine/host/clock.h"
#include "engine/memory_datapath.h"
#include "engine/opening/gathering.h"
#include "engine/opening/opening.h"
#include "secrets.h"
#include "util/rng.h"
#include "wire/data/data_header.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::engine;

namespace {

using Wires = std::vector<std::shared_ptr<Wire>>;
using Bytes = std::vector<std::byte>;

// A failure of one of a rank's engines is passed to its others, as the registry does in a process.
struct Rank {
  Rank(const Wires& wires, std::size_t lanes, int side) {
    std::vector<Lane> opened;
    for (std::size_t i = 0; i < lanes; ++i) {
      datapath::DeviceAddress address;
      address.ip = datapath::parse_ip_address(side == 0 ? "10.0.0.1" : "10.0.0.2").value();
      address.add(datapath::LocatorKind::kUdpPort, static_cast<std::uint32_t>(50'000 + i));
      core::Config config;
      config.peer_timeout = 2s;
      config.receive_capacity_bytes = std::size_t{1} << 20;
      engines.push_back(std::make_shared<Engine>(
          std::make_unique<MemoryDatapath>(wires[i], side, encode(address)), config,
          secrets_of(static_cast<std::uint64_t>(side + 1)), [](const LogLine&) {},
          [this, i](core::ContextId context, const Error& error) {
            for (std::size_t other = 0; other < engines.size(); ++other)
              if (other != i) engines[other]->fail_context(context, error);
          }));
      opened.push_back({&kUdp, engines.back()});
    }
    port = Port(std::move(opened));
  }
  void step() const {
    for (const auto& engine : engines)
      engine->drive();
  }
  std::vector<std::shared_ptr<Engine>> engines;
  Port port;
};

struct Link {
  Bundle sends;
  Bundle receives;
};

struct Ranks {
  // `spares`: lanes of other devices, on which `there` listens, too.
  Ranks(std::size_t lanes_here, std::size_t lanes_there, std::size_t spares = 0) {
    for (std::size_t i = 0; i < std::max(lanes_here, lanes_there + spares); ++i)
      wires.push_back(std::make_shared<Wire>());
    here = std::make_unique<Rank>(wires, lanes_here, 0);
    there = std::make_unique<Rank>(wires, lanes_there + spares, 1);
    const auto lanes = std::span(there->port.lanes()).first(lanes_there);
    own = Port({lanes.begin(), lanes.end()});
  }
  void step() const {
    here->step();
    there->step();
  }
  // Listens on all lanes of `there`; a caller of one lane learns the others. Returns the last.
  core::Listening listen(std::vector<core::ListenerId>& listeners, std::uint32_t number = 1) const {
    core::Listening listening;
    for (const Lane& lane : there->port.lanes()) {
      listening = lane.engine->listen(1, number, own.addresses_beside(lane));
      listeners.push_back(listening.id);
    }
    return listening;
  }
  Link join(std::uint32_t number = 1) const {
    std::vector<core::ListenerId> listeners;
    const auto listening = listen(listeners, number);
    const Opening::Peer peer{listening.invitation, own.address()};
    auto route = choose_route(here->port, peer.address);
    REQUIRE(route.ok());
    Opening opening(here->port, 1, peer, route.value(), 50ms, Opening::Over::kAllLanes);
    Gathering gathering;
    Link link;
    for (const Time end = steady_now() + 10s; steady_now() < end;) {
      const auto state = opening.poll();
      REQUIRE(state != core::ConnectionState::kClosed);
      if (link.receives.empty()) {
        auto accepted = gathering.accept(there->port, own, listeners, 1, 2s);
        REQUIRE(accepted.ok());
        link.receives = std::move(accepted).value();
      }
      step();
      if (state == core::ConnectionState::kOpen && !link.receives.empty()) {
        link.sends = opening.bundle();
        return link;
      }
    }
    FAIL("not open in 10 s");
    return link;
  }
  Request::State finish(Request* request, Request::Outcome& outcome) const {
    auto state = Request::State::kPending;
    for (const Time end = steady_now() + 10s;
         state == Request::State::kPending && steady_now() < end;) {
      step();
      state = request->connection->engine->test(*request, outcome);
    }
    return state;
  }
  Request::State finish(Request* request) const {
    Request::Outcome outcome;
    return finish(request, outcome);
  }

  Wires wires;
  std::unique_ptr<Rank> here;
  std::unique_ptr<Rank> there;
  Port own;  // the lanes of `there` without the spare ones
};

Bytes random_bytes(std::size_t count, std::uint64_t seed) {
  Bytes bytes(count);
  Rng rng(seed);
  for (auto& byte : bytes)
    byte = static_cast<std::byte>(rng.next());
  return bytes;
}

Memory at(Bytes& bytes) {
  return {bytes.data(), bytes.size(), &bytes};
}

}  // namespace

TEST_CASE("a connection has as many members as the end with fewer lanes has lanes") {
  struct Case {
    std::size_t here, there, members, spares = 0;
  };
  const auto [here, there, members, spares] =
      GENERATE(Case{1, 1, 1}, Case{1, 3, 1}, Case{3, 1, 1}, Case{2, 3, 2}, Case{3, 2, 2},
               Case{3, 3, 3}, Case{16, 16, 16}, Case{4, 2, 2, 3}, Case{4, 1, 1, 3});
  const Ranks ranks(here, there, spares);
  Link link = ranks.join();
  CHECK(link.sends.members().size() == members);
  CHECK(link.receives.members().size() == members);
  std::deque<Bytes> out, in;
  std::vector<Request*> requests;
  for (std::size_t i = 0; i < 2 * members + 1; ++i) {
    out.push_back(random_bytes(1000 + 7001 * i, i));
    in.emplace_back(out.back().size());
    requests.push_back(link.receives.receive(at(in.back())).value());
    requests.push_back(link.sends.send(at(out.back())).value());
    REQUIRE(requests.end()[-1] != nullptr);
    CHECK(requests.end()[-1]->connection == link.sends.members()[i % members].connection);
  }
  for (Request* request : requests)
    CHECK(ranks.finish(request) == Request::State::kDone);
  CHECK(in == out);
  CHECK_FALSE(link.sends.close());
  CHECK_FALSE(link.receives.close());
}

TEST_CASE("five connections over three lanes keep their messages apart and in order") {
  const Ranks ranks(3, 3);
  std::vector<Link> links;
  for (std::uint32_t number = 1; number <= 5; ++number)
    links.push_back(ranks.join(number));
  Rng rng(7);
  std::deque<Bytes> out, in;
  std::vector<Request*> requests;
  for (std::uint64_t message = 0; message < 60; ++message) {
    Link& link = links[message < 5 ? message : rng.below(5)];
    out.push_back(random_bytes(rng.below(100'000), message));
    in.emplace_back(out.back().size());
    // Sometimes the receive is late: the beginning of the message is stored until then.
    const bool late = rng.chance(0.3);
    if (!late) requests.push_back(link.receives.receive(at(in.back())).value());
    requests.push_back(link.sends.send(at(out.back())).value());
    for (int i = 0; late && i < 3; ++i)
      ranks.step();
    if (late) requests.push_back(link.receives.receive(at(in.back())).value());
  }
  for (Request* request : requests)
    CHECK(ranks.finish(request) == Request::State::kDone);
  CHECK(in == out);
}

TEST_CASE("the lane rotation also advances with messages that one lane takes alone") {
  const Ranks ranks(2, 2);
  Link link = ranks.join();
  constexpr std::size_t kTaken = 2 * Connection::kRequestsMax;
  std::vector<Bytes> in(kTaken + 4, Bytes(64));
  std::deque<Request*> requests;
  for (std::size_t i = 0; i < kTaken; ++i) {
    requests.push_back(link.receives.receive(at(in[i])).value());
    REQUIRE(requests.back() != nullptr);
  }
  for (int tried = 0; tried < 3; ++tried)
    CHECK(link.receives.receive(at(in[kTaken])).value() == nullptr);
  for (std::size_t i = 0; i < in.size(); ++i) {
    Bytes out(64, static_cast<std::byte>(i));
    CHECK(ranks.finish(link.sends.send(at(out)).value()) == Request::State::kDone);
    CHECK(ranks.finish(requests.front()) == Request::State::kDone);
    requests.pop_front();
    CHECK(in[i] == out);
    if (kTaken + i < in.size()) {
      requests.push_back(link.receives.receive(at(in[kTaken + i])).value());
      REQUIRE(requests.back() != nullptr);
    }
  }
}

TEST_CASE("a failure of one member fails the whole bundle") {
  const Ranks ranks(3, 3);
  Link link = ranks.join();
  std::vector<Bytes> out(3, Bytes(100'000)), in(3, Bytes(100'000));
  std::vector<Request*> requests;
  for (const auto& wire : ranks.wires)
    wire->keep = [](std::span<const std::byte>) { return false; };
  for (std::size_t i = 0; i < 3; ++i)
    requests.push_back(link.sends.send(at(out[i])).value());
  ranks.wires[1]->gone = true;
  for (Request* request : requests)
    CHECK(ranks.finish(request) == Request::State::kFailed);
  const auto refused = link.sends.send(at(out[0]));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().what.find("the card is gone") != std::string::npos);
  CHECK(link.sends.close());
}

TEST_CASE("an incomplete bundle is closed with the listener, and its parts fail") {
  const Ranks ranks(2, 2);
  std::vector<core::ListenerId> listeners;
  const auto listening = ranks.listen(listeners);
  const bool dies = GENERATE(false, true);  // without closing
  ranks.wires[1]->keep = [](std::span<const std::byte>) { return false; };
  const Opening::Peer peer{listening.invitation, ranks.there->port.address()};
  auto route = choose_route(ranks.here->port, peer.address);
  Opening opening(ranks.here->port, 1, peer, route.value(), 50ms, Opening::Over::kAllLanes);
  Gathering gathering;
  auto state = core::ConnectionState::kCalling;
  bool failed_there = false;
  const Time begin = steady_now();
  for (const Time end = begin + 10s;
       steady_now() < end && (state != core::ConnectionState::kClosed || !failed_there);) {
    state = opening.poll();
    if (dies && steady_now() > begin + 200ms)
      ranks.wires[0]->keep = [](std::span<const std::byte>) { return false; };
    const auto accepted = gathering.accept(ranks.there->port, ranks.own, listeners, 1, 2s);
    failed_there = failed_there || !accepted.ok();
    if (accepted.ok()) CHECK(accepted.value().empty());
    ranks.step();
  }
  CHECK(state == core::ConnectionState::kClosed);
  CHECK(opening.connection()->failed);
  CHECK(failed_there);
  opening.bundle().close();
}

TEST_CASE("after an answer no other way is tried if a bundle fails, and it can be closed") {
  const Ranks ranks(2, 2);
  std::vector<core::ListenerId> listeners;
  const auto listening = ranks.listen(listeners);
  ranks.wires[1]->keep = [](std::span<const std::byte>) { return false; };
  const Opening::Peer peer{listening.invitation, ranks.there->port.address()};
  auto route = choose_route(ranks.here->port, peer.address);
  REQUIRE(route.ok());
  OpeningWays ways;
  for (const std::size_t address : {0, 1})
    ways.ways.all.push_back({0, address, route->to});
  ways.port_of = [&](std::size_t) { return Result<Port>(ranks.here->port); };
  ways.until = 5s;
  Opening opening(ranks.here->port, 1, peer, route.value(), 50ms, Opening::Over::kAllLanes, ways);
  const auto has_both = [&] { return opening.bundle().members().size() == 2; };
  for (const Time end = steady_now() + 10s; steady_now() < end && !has_both(); ranks.step())
    opening.poll();
  REQUIRE(has_both());  // the first lane is open
  const Connection& second = *opening.bundle().members()[1].connection;
  for (const Time end = steady_now() + 20s; steady_now() < end && !second.failed;)
    ranks.step();  // the second one fails, and with it the first
  const auto state = opening.poll();
  CHECK(state == core::ConnectionState::kClosed);
  REQUIRE(opening.connection() != nullptr);
  CHECK(opening.connection()->failed);
  CHECK_FALSE(opening.failure());
  CHECK(opening.bundle().members().size() == 2);
  CHECK(opening.bundle().close());
}

TEST_CASE("a member that states another number of lanes than its bundle is refused") {
  const Ranks ranks(3, 3);
  std::vector<core::ListenerId> listeners;
  const auto listening = ranks.listen(listeners);
  std::vector<Connection*> calling;
  const auto call = [&](std::size_t lane, const wire::Membership& membership) {
    calling.push_back(ranks.here->engines[lane]->connect(
        1, listening.invitation, ranks.there->engines[lane]->address(), membership));
  };
  Gathering gathering;
  bool gathered = false;
  Status ended = Unit{};
  const auto accept_until = [&](auto done) {
    for (const Time end = steady_now() + 10s; steady_now() < end && !done();) {
      const auto accepted = gathering.accept(ranks.there->port, ranks.own, listeners, 1, 500ms);
      if (!accepted)
        ended = accepted.error();
      else
        gathered = gathered || !accepted.value().empty();
      ranks.step();
    }
  };
  const auto open = [&](std::size_t index) {
    return [&, index] {
      return calling[index]->engine->poll_state(*calling[index]) == core::ConnectionState::kOpen;
    };
  };
  call(0, {0, 0, 3});
  const std::uint64_t bundle = calling[0]->id;
  accept_until(open(0));
  call(2, {bundle, 2, 3});
  accept_until(open(1));
  call(1, {bundle, 1, 2});
  accept_until([&] { return !ended.ok(); });
  CHECK_FALSE(gathered);
  REQUIRE_FALSE(ended.ok());
  CHECK(ended.error().what.find("some of its lanes") != std::string::npos);
  for (Connection* connection : calling)
    connection->engine->close(connection);
}

TEST_CASE("deregistered memory is released on all lanes, and a connection that uses it ends") {
  const Ranks ranks(2, 2);
  Link link = ranks.join();
  Bytes first(100'000), second(100'000);
  REQUIRE(link.receives.receive(at(first)).value() != nullptr);
  REQUIRE(link.receives.receive(at(second)).value() != nullptr);
  Bytes unused(64);
  link.receives.release_memory(at(unused));
  CHECK(link.receives.receive(at(unused)).ok());
  link.receives.release_memory(at(second));  // the other member's
  const auto refused = link.receives.receive(at(first));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().what.find("deregistered") != std::string::npos);
}

TEST_CASE("the losses of a collective over two lanes stay within its budget") {
  const Ranks ranks(2, 2);
  Link link = ranks.join();
  for (const auto& wire : ranks.wires) {
    wire->keep = [rng = std::make_shared<Rng>(5)](std::span<const std::byte> datagram) {
      const auto data = wire::decode_data(datagram);
      return !data || !data->header.licensed || data->header.retransmission || !rng->chance(0.1);
    };
  }
  constexpr std::size_t kMessages = 8;
  constexpr std::size_t kBytes = std::size_t{256} << 10;
  constexpr std::uint64_t kResult = kMessages * kBytes / 2;  // half of a lap's stages
  std::vector<Bytes> out, in(kMessages, Bytes(kBytes));
  // If threads wait for a core, lost packets may be sent again before their loss is accepted: run
  // as many collectives as it takes until three have lost some.
  int spenders = 0;
  for (std::uint64_t collective = 1; spenders < 3 && collective <= 12; ++collective) {
    std::vector<Request*> sending, receiving;
    core::Licence licence{collective, kResult, 4, 4, 0, 50'000, gradient::ElementType::kFloat32};
    const std::uint64_t budget = core::LossLedger::budget(licence, 0);
    out.clear();
    for (std::size_t i = 0; i < kMessages; ++i) {
      licence.stage = static_cast<std::uint32_t>(i % 3);
      out.push_back(random_bytes(kBytes, i));
      receiving.push_back(link.receives.receive(at(in[i]), licence).value());
      sending.push_back(link.sends.send(at(out[i]), licence).value());
    }
    std::uint64_t spent = 0;
    for (std::size_t i = 0; i < kMessages; ++i) {
      Request::Outcome outcome;
      CHECK(ranks.finish(sending[i]) == Request::State::kDone);
      CHECK(ranks.finish(receiving[i], outcome) == Request::State::kDone);
      spent += outcome.lost * (i % 3 + 1);
      for (const auto& hole : outcome.holes)
        std::fill(out[i].begin() + static_cast<std::ptrdiff_t>(hole.begin),
                  out[i].begin() + static_cast<std::ptrdiff_t>(hole.end), std::byte{0});
      CHECK(in[i] == out[i]);
    }
    CHECK(spent <= budget);
    spenders += spent > budget / 4;
  }
  CHECK(spenders == 3);
}
