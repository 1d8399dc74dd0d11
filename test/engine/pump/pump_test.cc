// The pump at its exact boundaries, in simulated time.
#include "engine/pump/pump.h"

#include <memory>
#include <vector>

#include "catch.h"
#include "engine/memory_datapath.h"
#include "secrets.h"

using namespace dlcp;
using namespace dlcp::test;
using Kind = core::Event::Kind;

namespace {

struct Side {
  MemoryDatapath datapath;
  engine::HostPlacer placer;
  engine::Pump pump;

  Side(const std::shared_ptr<Wire>& wire, int side)
      : datapath(wire, side),
        pump(datapath, config(), secrets_of(static_cast<std::uint64_t>(side + 1)), placer) {}
  static core::Config config() {
    core::Config config;
    config.receive_capacity_bytes = std::size_t{1} << 20;
    return config;
  }
};

// An open connection from a to b.
struct Pumps {
  std::shared_ptr<Wire> wire = std::make_shared<Wire>();
  Side a{wire, 0}, b{wire, 1};
  Time now = time_from_ns(1'000'000'000);
  core::ConnectionId sends = 0, receives = 0;

  Pumps() {
    const auto listening = b.pump.endpoint().listen(1, 1);
    sends = a.pump.endpoint().connect(now, 1, listening.invitation, b.datapath.local_address());
    run(100ms);
    receives = b.pump.endpoint().accept(listening.id).value();
  }
  void round() {
    for (Side* side : {&a, &b}) {
      side->pump.receive(now);
      side->pump.transmit(now);
    }
  }
  void run(Duration duration) {
    for (const Time until = now + duration; now < until; now += 50us)
      round();
  }
  bool send(core::RequestId request, std::span<const std::byte> memory) {
    return a.pump.endpoint().post_send(now, sends, request, memory);
  }
  bool receive(core::RequestId request, std::span<std::byte> memory) {
    return b.pump.post_receive(now, receives, request, memory, {});
  }
};

}  // namespace

TEST_CASE("a blocked datapath is offered the rest after 300 us, and not earlier") {
  Pumps pumps;
  std::vector<std::byte> out(5000, std::byte{7});
  std::vector<std::byte> in(out.size());
  REQUIRE(pumps.receive(1, in));
  pumps.run(1ms);
  pumps.wire->take_at_once = 0;
  REQUIRE(pumps.send(2, out));
  CHECK(pumps.a.pump.transmit(pumps.now).packets == 0);
  CHECK(pumps.a.pump.blocked());
  CHECK(pumps.a.pump.deadline(pumps.now) == pumps.now + 300us);
  // Whatever timer is overdue: serving it could send nothing either.
  CHECK(pumps.a.pump.deadline(pumps.now + 10s) == pumps.now + 300us);
  pumps.wire->take_at_once = 2;
  CHECK(pumps.a.pump.transmit(pumps.now).packets == 2);
  CHECK(pumps.a.pump.blocked());
  pumps.wire->take_at_once = 64;
  pumps.run(1ms);
  CHECK_FALSE(pumps.a.pump.blocked());
  CHECK(in == out);
  CHECK(pumps.a.pump.poll_event(pumps.now)->request == 2);
  CHECK(pumps.b.pump.poll_event(pumps.now)->request == 1);
}

TEST_CASE("a batch holds 64 packets, and reports whether there may be more") {
  Pumps pumps;
  pumps.run(100ms);
  for (int i = 0; i < 65; ++i)
    pumps.wire->put(1, std::vector<std::byte>(10));
  const auto full = pumps.b.pump.receive(pumps.now);
  CHECK(full.packets == 64);
  CHECK(full.more);
  CHECK(pumps.b.pump.deadline(pumps.now) == pumps.now);
  const auto rest = pumps.b.pump.receive(pumps.now);
  CHECK(rest.packets == 1);
  CHECK_FALSE(rest.more);
  CHECK(pumps.b.pump.deadline(pumps.now) > pumps.now);
}

TEST_CASE("a send whose memory is in use is done when it is released, or 50 ms later") {
  for (const bool released : {true, false}) {
    Pumps pumps;
    std::vector<std::byte> out(5000, std::byte{7});
    std::vector<std::byte> in(out.size());
    REQUIRE(pumps.receive(1, in));
    pumps.wire->reads_on = true;
    REQUIRE(pumps.send(2, out));
    pumps.run(1ms);
    const Time since = pumps.now;
    CHECK_FALSE(pumps.a.pump.poll_event(since));
    CHECK(pumps.a.pump.deadline(since) <= since + 50ms);
    CHECK_FALSE(pumps.a.pump.poll_event(since + 50ms - 1ns));
    if (released) pumps.wire->reads_on = false;
    const auto done = pumps.a.pump.poll_event(released ? since + 1ms : since + 50ms);
    REQUIRE(done);
    CHECK(done->kind == Kind::kSendDone);
    CHECK(done->memory.data() == out.data());
    CHECK(pumps.wire->abandoned == (released ? 0u : 1u));
    CHECK_FALSE(pumps.a.pump.poll_event(since + 60ms));
  }
}

TEST_CASE("no packet of a forgotten request leaves, and no event mentions it") {
  Pumps pumps;
  std::vector<std::byte> out(5000, std::byte{7});
  std::vector<std::byte> in(out.size());
  SECTION("with packets that wait in the outbox") {
    REQUIRE(pumps.receive(1, in));
    pumps.run(1ms);
    pumps.wire->take_at_once = 0;
    REQUIRE(pumps.send(2, out));
    pumps.a.pump.transmit(pumps.now);
    REQUIRE(pumps.a.pump.blocked());
    pumps.a.pump.forget(pumps.sends, out);
    CHECK_FALSE(pumps.a.pump.blocked());
  }
  SECTION("with memory that is in use") {
    REQUIRE(pumps.receive(1, in));
    pumps.wire->reads_on = true;
    REQUIRE(pumps.send(2, out));
    pumps.run(1ms);
    CHECK_FALSE(pumps.a.pump.poll_event(pumps.now));
    pumps.a.pump.forget(pumps.sends + 1, out);  // another request's
    pumps.wire->reads_on = false;
    auto event = pumps.a.pump.poll_event(pumps.now);
    REQUIRE(event);
    pumps.wire->reads_on = true;
    REQUIRE(pumps.receive(3, in));
    REQUIRE(pumps.send(4, out));
    pumps.run(1ms);
    CHECK_FALSE(pumps.a.pump.poll_event(pumps.now));
    pumps.a.pump.forget(pumps.sends, out);
    pumps.wire->reads_on = false;
    CHECK_FALSE(pumps.a.pump.poll_event(pumps.now + 1s));
  }
}
