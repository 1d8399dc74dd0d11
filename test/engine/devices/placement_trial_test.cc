// The tests of several cards for placement run at the same time, once each.
#include "engine/devices/roce/placement_trial.h"

#include <atomic>
#include <barrier>
#include <csignal>

#include "catch.h"

using namespace dlcp;
using namespace dlcp::engine;
using datapath::PermissionKind;
using datapath::PlacementAbility;
using datapath::PlacementTransport;

namespace {

const PlacementAbility kPlaces{PlacementTransport::kUc, PermissionKind::kRegion, "", {}, 1us};

}  // namespace

TEST_CASE("tests that have begun run at the same time") {
  std::barrier both(2);  // each test ends only when the other one runs too
  const auto test = [&]() -> PlacementTrial::Ability {
    both.arrive_and_wait();
    return kPlaces;
  };
  PlacementTrial first(test), second(test);
  first.begin();
  second.begin();
  CHECK(first.result()->places());
  CHECK(second.result()->places());
}

TEST_CASE("signal handlers of the application do not run on the thread of a test") {
  sigset_t blocked;
  sigemptyset(&blocked);
  PlacementTrial trial([&]() -> PlacementTrial::Ability {
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return kPlaces;
  });
  trial.begin();
  CHECK(trial.result()->places());
  CHECK(sigismember(&blocked, SIGTERM) == 1);
  sigset_t here;
  pthread_sigmask(SIG_SETMASK, nullptr, &here);
  CHECK(sigismember(&here, SIGTERM) == 0);
}

TEST_CASE("a card is tested once, however often its result is needed") {
  std::atomic<int> tests = 0;
  PlacementTrial trial([&]() -> PlacementTrial::Ability {
    ++tests;
    return kPlaces;
  });
  CHECK(tests == 0);
  CHECK(trial.result()->places());
  trial.begin();
  CHECK(trial.result()->places());
  CHECK(tests == 1);
}

TEST_CASE("a device that cannot be opened with placement does not offer it any more") {
  PlacementTrial trial([]() -> PlacementTrial::Ability { return kPlaces; });
  REQUIRE(trial.result()->places());
  trial.replace({ErrorCode::kSystem, "no memory for queue pairs", ""});
  REQUIRE_FALSE(trial.result().ok());
  CHECK(trial.result().error().what == "no memory for queue pairs");
}
