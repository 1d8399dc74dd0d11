#include "core/liveness/ping_answers.h"

#include "catch.h"

using namespace dlcp;
using core::PingAnswers;

namespace {

constexpr Time kStart = time_from_ns(1'000'000'000);

}  // namespace

TEST_CASE("the answer time is that of the first PING, and later PONGs do not shorten it") {
  PingAnswers answers;
  CHECK(answers.answer_time() == Duration::zero());
  answers.on_pong(kStart);
  CHECK(answers.answer_time() == Duration::zero());
  answers.on_ping(kStart);
  answers.on_ping(kStart + 60ms);
  answers.on_pong(kStart + 100ms);
  CHECK(answers.answer_time() == 100ms);
  answers.on_pong(kStart + 101ms);  // the answer to the second PING
  CHECK(answers.answer_time() == 100ms);
}

TEST_CASE("one answer time that is too long, because a PING was lost, does not count") {
  PingAnswers answers;
  for (const Duration took : {Duration(1ms), Duration(500ms), Duration(1ms)}) {
    answers.on_ping(kStart);
    answers.on_pong(kStart + took);
    CHECK(answers.answer_time() == 1ms);
  }
  for (int i = 0; i < 2; ++i) {
    answers.on_ping(kStart);
    answers.on_pong(kStart + 500ms);
  }
  CHECK(answers.answer_time() == 500ms);
}
