// Sends that are done when their message has been copied, as those of TCP are.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "catch.h"
#include "engine/engine_pair.h"
#include "wire/data/data_header.h"

using namespace dlcp;
using namespace dlcp::test;

namespace {

std::atomic<std::size_t> undelivered;

struct CopyingPair : Pair {
  CopyingPair() {
    a->copy_up_to(1024, &undelivered);
    join();
  }
  // No packet passes until keep is reset.
  void cut() {
    wire->keep = [](std::span<const std::byte>) { return false; };
  }
  bool is_done(Request* request, Request::Outcome& outcome) {
    return request->connection->engine->test(*request, outcome) == Request::State::kDone;
  }
  std::size_t copies() {
    std::size_t count = 0;
    sends->copies.for_each([&](const engine::Copies::Copy&) { ++count; });
    CHECK(undelivered == count);
    return count;
  }
};

// Steps both engines until `is_over`, for at most ten seconds.
template <class IsOver>
bool run(Engine& a, Engine& b, const IsOver& is_over) {
  const Time end = engine::steady_now() + 10s;
  while (engine::steady_now() < end) {
    if (is_over()) return true;
    a.drive();
    b.drive();
  }
  return false;
}

}  // namespace

TEST_CASE("a short send is done when it is posted, and its memory may be used again") {
  CopyingPair pair;
  pair.cut();
  std::vector<std::byte> memory = random_bytes(1024);
  const auto sent = memory;
  Request::Outcome outcome;
  REQUIRE(pair.is_done(pair.post(*pair.a, *pair.sends, memory), outcome));
  CHECK(outcome.bytes == 1024);
  std::ranges::fill(memory, std::byte{0});
  pair.a->release_memory(*pair.sends, {memory.data(), memory.size(), &memory});
  std::vector<std::byte> in(1024);
  Request* const receiving = pair.post(*pair.b, *pair.receives, in);
  pair.wire->keep = nullptr;
  CHECK(finish(pair, receiving, outcome) == Request::State::kDone);
  CHECK(in == sent);
  CHECK(run(*pair.a, *pair.b, [&] { return pair.copies() == 0; }));
  CHECK_FALSE(pair.a->close(pair.sends));
}

TEST_CASE("copies may arrive in any order, and each is freed when it arrives") {
  CopyingPair pair;
  int packets = 0;
  pair.wire->keep = [&](std::span<const std::byte> datagram) {
    return !wire::decode_data(datagram) || ++packets != 1;
  };
  std::vector<std::vector<std::byte>> sent;
  Request::Outcome outcome;
  for (std::size_t i = 0; i < 3; ++i) {
    sent.push_back(random_bytes(100 + i));
    REQUIRE(pair.is_done(pair.post(*pair.a, *pair.sends, sent.back()), outcome));
  }
  CHECK(run(*pair.a, *pair.b, [&] { return pair.copies() == 1; }));
  for (const auto& message : sent) {
    std::vector<std::byte> in(message.size());
    Request* const receiving = pair.post(*pair.b, *pair.receives, in);
    CHECK(run(*pair.a, *pair.b, [&] { return pair.is_done(receiving, outcome); }));
    CHECK(in == message);
  }
  CHECK(run(*pair.a, *pair.b, [&] { return pair.copies() == 0; }));
  CHECK_FALSE(pair.a->close(pair.sends));
}

TEST_CASE("longer, licensed and too many messages are not copied") {
  CopyingPair pair;
  pair.cut();
  std::vector<std::byte> longer(1025);
  std::vector<std::byte> memory(1024);
  const core::Licence licence{1, 200'000, 2, 2, 0, 100'000, gradient::ElementType::kFloat32};
  Request::Outcome outcome;
  CHECK_FALSE(pair.is_done(pair.post(*pair.a, *pair.sends, longer), outcome));
  CHECK_FALSE(pair.is_done(pair.post(*pair.a, *pair.sends, memory, licence), outcome));
  const std::size_t most = core::Config().requests_max;
  std::size_t copied = 0;
  const engine::Memory message{memory.data(), memory.size()};
  for (; copied < most + 1; ++copied) {
    const auto posted = pair.a->send(*pair.sends, message);
    REQUIRE(posted.ok());
    if (posted.value() == nullptr) break;  // try again later
    REQUIRE(pair.is_done(posted.value(), outcome));
  }
  CHECK(copied == most - 2);
  CHECK(pair.copies() == copied);
}

TEST_CASE("a refused message leaves no copy, and the next one gets its name") {
  engine::CopyMemory memory{.message_bytes_max = 100, .undelivered = &undelivered};
  engine::Copies copies(memory);
  const auto bytes = random_bytes(100);
  copies.add({}, bytes);
  const auto refused = copies.add({}, bytes).name;
  copies.drop_last();
  CHECK(undelivered == 1);
  CHECK(memory.bytes_used == 100);
  CHECK(copies.add({}, bytes).name == refused);
  CHECK(copies.take(refused));
  copies.clear();
  CHECK(undelivered == 0);
  CHECK(memory.bytes_used == 0);
}

TEST_CASE("a connection that is closed before its copies have arrived delivers them") {
  CopyingPair pair;
  pair.cut();
  auto first = random_bytes(700);
  auto second = random_bytes(900);
  Request::Outcome outcome;
  REQUIRE(pair.is_done(pair.post(*pair.a, *pair.sends, first), outcome));
  REQUIRE(pair.is_done(pair.post(*pair.a, *pair.sends, second), outcome));
  CHECK_FALSE(pair.a->close(pair.sends));
  pair.sends = nullptr;
  pair.wire->keep = nullptr;
  std::vector<std::byte> in(1024);
  for (const auto* sent : {&first, &second}) {
    Request* const receiving = pair.post(*pair.b, *pair.receives, in);
    REQUIRE(run(*pair.a, *pair.b, [&] { return pair.is_done(receiving, outcome); }));
    CHECK(outcome.bytes == sent->size());
    CHECK(std::equal(sent->begin(), sent->end(), in.begin()));
  }
  Request* const more = pair.post(*pair.b, *pair.receives, in);  // the end follows the copies
  const auto failed = [&] { return pair.b->test(*more, outcome) == Request::State::kFailed; };
  CHECK(run(*pair.a, *pair.b, failed));
}

TEST_CASE("copies that can no longer arrive end the closed connection, but not its communicator") {
  CopyingPair pair;
  const auto listening = pair.b->listen(1, 2);
  Connection* const other = pair.a->connect(1, listening.invitation, pair.b->address());
  REQUIRE(
      run(*pair.a, *pair.b, [&] { return pair.b->accept(listening.id, 1).value() != nullptr; }));
  pair.cut();
  auto memory = random_bytes(700);
  Request::Outcome outcome;
  REQUIRE(pair.is_done(pair.post(*pair.a, *pair.sends, memory), outcome));
  CHECK_FALSE(pair.a->close(pair.sends));
  CHECK_FALSE(pair.b->close(pair.receives));
  pair.wire->keep = nullptr;
  const Time begun = engine::steady_now();
  std::thread peer(
      [&] { run(*pair.a, *pair.b, [&] { return engine::steady_now() > begun + 500ms; }); });
  pair.a->linger({.context = 1, .copies = 5s});
  peer.join();
  CHECK(engine::steady_now() - begun < 4s);
  CHECK_FALSE(other->failed.load());
  REQUIRE(pair.log.size() == 1);
  CHECK(pair.log[0].find("may not have arrived") != std::string::npos);
}

TEST_CASE("the end of a communicator waits for its own copies, and gives up with a reset") {
  CopyingPair pair;
  pair.cut();
  auto memory = random_bytes(700);
  Request::Outcome outcome;
  REQUIRE(pair.is_done(pair.post(*pair.a, *pair.sends, memory), outcome));
  CHECK_FALSE(pair.a->close(pair.sends));
  const auto takes = [&](const engine::Linger& most) {
    const Time begun = engine::steady_now();
    pair.a->linger(most);
    return engine::steady_now() - begun;
  };
  CHECK(takes({.context = 2, .copies = 5s}) < 1s);  // of another communicator
  CHECK(pair.log.empty());
  const Duration waited = takes({.context = 1, .copies = 100ms});
  CHECK(waited >= 100ms);
  CHECK(waited < 1500ms);
  REQUIRE(pair.log.size() == 1);
  CHECK(pair.log[0].find("did not receive the last messages") != std::string::npos);
  CHECK(undelivered == 0);
  pair.wire->keep = nullptr;
  std::vector<std::byte> in(700);
  Request* const receiving = pair.post(*pair.b, *pair.receives, in);
  const auto failed = [&] { return pair.b->test(*receiving, outcome) == Request::State::kFailed; };
  CHECK(run(*pair.a, *pair.b, failed));
}
