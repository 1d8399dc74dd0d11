// Listeners to which the peer will not connect.
#include "engine/lane/connections/listeners.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "catch.h"
#include "engine/lane/engine.h"
#include "engine/memory_datapath.h"
#include "secrets.h"

using namespace dlcp;
using namespace dlcp::test;

namespace {

// A proven refusal by the rank for which listener 7 waits.
core::Event declined(const char* why) {
  core::Event event;
  event.kind = core::Event::Kind::kDeclined;
  event.connection = 7;
  event.error = {ErrorCode::kInvalidUsage, why, ""};
  return event;
}

}  // namespace

TEST_CASE("a refusal without proof fails accept only if the true peer does not connect in time") {
  engine::Listeners listeners(2s);
  listeners.open(7, 1);
  const Time begin = time_from_ns(1'000'000'000);
  core::Event event = declined("another secret");
  event.proven = false;
  CHECK(listeners.decline(event, begin));
  CHECK_FALSE(listeners.decline(event, begin + 1s));
  CHECK_FALSE(listeners.failure(7, begin + 2s - 1ns).has_value());
  CHECK(listeners.failure(7, begin + 2s)->what == "another secret");
  SECTION("one with proof counts at once, whatever came before") {
    event.proven = true;
    event.error.what = "terms differ";
    CHECK(listeners.decline(event, begin + 1s));
    CHECK(listeners.failure(7, begin + 1s)->what == "terms differ");
  }
}

TEST_CASE("a peer's reason for not connecting takes precedence over connection failures") {
  engine::Listeners listeners(2s);
  listeners.open(7, 1);
  const Time now = time_from_ns(1'000'000'000);
  const core::Event event = declined("plans differ");
  const Error aborted{ErrorCode::kRemote, "the connection was aborted", ""};
  SECTION("received before the failure") {
    CHECK(listeners.decline(event, now));
    listeners.fail(1, aborted);
  }
  SECTION("received after the failure") {
    listeners.fail(1, aborted);
    CHECK(listeners.failure(7, now)->what == aborted.what);
    CHECK(listeners.decline(event, now));
  }
  CHECK(listeners.failure(7, now)->what == "plans differ");
  CHECK_FALSE(listeners.decline(event, now));
}

TEST_CASE(
    "a caller that waits long for a connection gets the hint again each time the wait doubles") {
  engine::Listeners listeners(2s);
  listeners.open(7, 1);
  const Time begin = time_from_ns(1'000'000'000);
  CHECK_FALSE(listeners.waits_long(7, begin));
  CHECK_FALSE(listeners.waits_long(7, begin + 2s - 1ns));
  CHECK(listeners.waits_long(7, begin + 2s));
  CHECK_FALSE(listeners.waits_long(7, begin + 4s - 1ns));
  CHECK(listeners.waits_long(7, begin + 4s));
  CHECK_FALSE(listeners.waits_long(7, begin + 8s - 1ns));
  CHECK(listeners.waits_long(7, begin + 8s));
  listeners.open(8, 1, true);
  CHECK_FALSE(listeners.waits_long(8, begin));
  CHECK_FALSE(listeners.waits_long(8, begin + 60s));
}

TEST_CASE("accept fails as soon as the expected peer refuses to connect") {
  const auto wire = std::make_shared<Wire>();
  std::vector<std::string> log;
  const auto open = [&](int side) {
    core::Config config;
    config.receive_capacity_bytes = std::size_t{1} << 20;
    return std::make_unique<engine::Engine>(
        std::make_unique<MemoryDatapath>(wire, side), config,
        secrets_of(static_cast<std::uint64_t>(side + 1)),
        [&](const engine::LogLine& line) { log.push_back(line.text); },
        [](core::ContextId, const Error&) {});
  };
  const auto connects = open(0);
  const auto listens = open(1);
  const auto listening = listens->listen(1, 1);
  connects->decline(1, listening.invitation, listens->address(), {"terms differ", false});
  const auto accepted = listens->accept(listening.id, 1);
  REQUIRE_FALSE(accepted.ok());
  CHECK(accepted.error().code == ErrorCode::kInvalidUsage);
  CHECK(accepted.error().what == "the peer refuses the connection: terms differ");
  CHECK(accepted.error().hint == "see the peer's log");  // which has the remedy for the reason
  CHECK(std::ranges::count(log, accepted.error().message()) == 1);
}
