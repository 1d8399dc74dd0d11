// Progress while the application does not poll, or has stopped polling.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <span>

#include "catch.h"
#include "engine/engine_pair.h"
#include "no_open_files.h"

using namespace dlcp;
using namespace dlcp::test;

TEST_CASE("helper threads alone carry a message once it is posted") {
  Pair pair;
  pair.join();
  REQUIRE(pair.a->start_helper());
  REQUIRE(pair.b->start_helper());
  auto out = random_bytes(300'000);
  std::vector<std::byte> in(out.size());
  Request* receiving = pair.post(*pair.b, *pair.receives, in);
  Request* sending = pair.post(*pair.a, *pair.sends, out);
  for (int i = 0; i < 5000 && (receiving->state.load() == Request::State::kPending ||
                               sending->state.load() == Request::State::kPending);
       ++i)
    usleep(1000);
  CHECK(receiving->state.load() == Request::State::kDone);
  CHECK(sending->state.load() == Request::State::kDone);
  pair.a->stop();
  pair.b->stop();
  CHECK(in == out);
}

TEST_CASE("a helper thread that cannot start is reported with the system's reason") {
  Pair pair;
  const auto started = [&] {
    const NoOpenFiles limit;
    return pair.a->start_helper();
  }();
  REQUIRE_FALSE(started.ok());
  CHECK(started.error().what == "cannot start the helper thread of a device: Too many open files");
  CHECK_THAT(started.error().hint, Contains("ulimit -n"));
  CHECK(pair.a->start_helper().ok());
  pair.a->stop();
}

TEST_CASE("an application that polled for long and then stops delays no peer") {
  Pair pair;
  pair.join();
  std::atomic<bool> loses{false};
  pair.wire->keep = [&](std::span<const std::byte>) { return !loses.exchange(false); };
  REQUIRE(pair.b->start_helper());
  std::vector<Duration> waits;
  for (int round = 0; round < 5; ++round) {
    auto out = random_bytes(100);
    std::vector<std::byte> in(out.size());
    Request* receiving = pair.post(*pair.b, *pair.receives, in);
    const Time begin = engine::steady_now();
    Request::Outcome outcome;
    while (engine::steady_now() < begin + 200ms)
      REQUIRE(pair.b->test(*receiving, outcome) == Request::State::kPending);
    Request* sending = pair.post(*pair.a, *pair.sends, out);
    loses = true;  // b's answers; then its caller's receive is done, and it stops polling
    while (pair.b->test(*receiving, outcome) == Request::State::kPending)
      continue;
    const Time left = engine::steady_now();
    while (pair.a->test(*sending, outcome) == Request::State::kPending)
      REQUIRE(engine::steady_now() < left + 10s);
    waits.push_back(engine::steady_now() - left);
  }
  pair.b->stop();
  std::sort(waits.begin(), waits.end());
  CHECK(waits[2] < 20ms);  // a helper that assumes a polling application looks every 60 ms
}

TEST_CASE("a silent peer is an error within the timeout, logged once, without polling") {
  Pair pair;
  pair.join();
  REQUIRE(pair.a->start_helper());
  auto out = random_bytes(300'000);
  Request* sending = pair.post(*pair.a, *pair.sends, out);  // the other side is never driven again
  const Time begin = engine::steady_now();
  while (sending->state.load() == Request::State::kPending && engine::steady_now() < begin + 8s)
    usleep(1000);
  CHECK(sending->state.load() == Request::State::kFailed);
  CHECK(engine::steady_now() - begin < 4s);
  CHECK(pair.sends->error.code == ErrorCode::kRemote);
  pair.a->stop();
  REQUIRE(pair.log.size() == 1);
  CHECK_THAT(pair.log[0], Contains("2000 ms"));
}
