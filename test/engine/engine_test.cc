// The engine over memory: packets that the datapath does not take, memory that is given back while
// they wait, and progress without anybody polling.
#include "engine/engine.h"

#include <sanitizer/asan_interface.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "catch.h"
#include "engine/clock.h"
#include "memory_datapath.h"
#include "secrets.h"
#include "util/rng.h"
#include "wire/data_header.h"

namespace {

using namespace dlcp;
using namespace dlcp::test;
using engine::Connection;
using engine::Engine;
using engine::Request;

struct Pair {
  std::shared_ptr<Wire> wire = std::make_shared<Wire>();
  std::vector<std::string> log;
  std::shared_ptr<engine::LiveRows> rows =
      std::make_shared<engine::LiveRows>(engine::LiveFile::create("test").value());
  std::unique_ptr<Engine> a = open(0);
  std::unique_ptr<Engine> b = open(1);
  Connection* sends = nullptr;
  Connection* receives = nullptr;

  std::unique_ptr<Engine> open(int side) {
    core::Config config;
    config.peer_timeout = 2s;
    config.receive_capacity_bytes = std::size_t{1} << 20;
    return std::make_unique<Engine>(
        std::make_unique<MemoryDatapath>(wire, side), config,
        secrets_of(static_cast<std::uint64_t>(side + 1)),
        [this](const engine::LogLine& line) { log.push_back(line.text); },
        [](core::ContextId, const Error&) {},
        std::make_unique<engine::Monitor>(rows, side == 0 ? "a" : "b", "memory"));
  }

  void join() {
    const auto listening = b->listen(1, 1);
    sends = a->connect(1, listening.invitation, b->address());
    auto state = core::ConnectionState::kCalling;
    for (int i = 0; i < 100'000 && (receives == nullptr || state != core::ConnectionState::kOpen);
         ++i) {
      state = a->poll_state(*sends);
      if (receives == nullptr)
        receives = b->accept(listening.id, 1).value();
      else
        b->poll_state(*receives);
    }
    REQUIRE(receives != nullptr);
    REQUIRE(state == core::ConnectionState::kOpen);
  }

  Request* post(Engine& engine, Connection& connection, std::vector<std::byte>& memory,
                const core::Licence& licence = {}) {
    const engine::Memory at{memory.data(), memory.size(), &memory};
    auto posted = connection.sends ? engine.send(connection, at, licence)
                                   : engine.receive(connection, at, licence);
    REQUIRE(posted.ok());
    REQUIRE(posted.value() != nullptr);
    return posted.value();
  }
};

std::vector<std::byte> random_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  Rng rng(count);
  for (auto& byte : bytes)
    byte = static_cast<std::byte>(rng.next());
  return bytes;
}

// Polls both until `request` is no longer pending.
Request::State finish(Pair& pair, Request* request, Request::Outcome& outcome) {
  Request::State state = Request::State::kPending;
  for (const Time end = engine::steady_now() + 10s;
       state == Request::State::kPending && engine::steady_now() < end;) {
    pair.a->poll_state(*pair.sends);
    pair.b->poll_state(*pair.receives);
    state = request->connection->engine->test(*request, outcome);
  }
  return state;
}

}  // namespace

TEST_CASE("a datapath that takes three packets at a time still gets every byte across") {
  Pair pair;
  pair.join();
  pair.wire->take_at_once = 3;
  auto out = random_bytes(500'000);
  std::vector<std::byte> in(out.size());
  Request* receiving = pair.post(*pair.b, *pair.receives, in);
  Request* sending = pair.post(*pair.a, *pair.sends, out);
  Request::Outcome outcome;
  CHECK(finish(pair, sending, outcome) == Request::State::kDone);
  CHECK(finish(pair, receiving, outcome) == Request::State::kDone);
  CHECK(outcome.bytes == out.size());
  CHECK(in == out);
  CHECK(pair.wire->refused > 0);
}

TEST_CASE("packets lost within a licence become zeros, and the request tells how many bytes") {
  Pair pair;
  pair.join();
  const core::Licence licence{1, 200'000, 2, 2, 0, 100'000, gradient::ElementType::kFloat32};
  for (const bool licensed : {true, false}) {
    int packets = 0;
    std::vector<wire::DataHeader> lost;
    pair.wire->keep = [&](std::span<const std::byte> datagram) {
      const auto data = wire::decode_data(datagram);
      if (!data || data->header.retransmission || ++packets % 50 != 0) return true;
      lost.push_back(data->header);
      return false;
    };
    auto out = random_bytes(200'000);
    std::vector<std::byte> in = out;
    for (std::byte& byte : in)
      byte = ~byte;
    Request* receiving =
        pair.post(*pair.b, *pair.receives, in, licensed ? licence : core::Licence{});
    Request* sending = pair.post(*pair.a, *pair.sends, out, licence);
    Request::Outcome outcome;
    CHECK(finish(pair, sending, outcome) == Request::State::kDone);
    CHECK(finish(pair, receiving, outcome) == Request::State::kDone);
    CHECK(outcome.bytes == out.size());
    REQUIRE(lost.size() == 2);
    CHECK(outcome.lost == (licensed ? 2 * 1408u : 0));
    for (const auto& header : lost)
      if (licensed) std::memset(out.data() + header.offset, 0, 1408);
    CHECK(in == out);
  }
  pair.wire->keep = nullptr;
  const auto summary = pair.b->summary(1);
  CHECK(summary.licensed_bytes == 200'000);
  CHECK(summary.lost_bytes == 2 * 1408u);
  // Stage 0 of two ranks with P = 10%: 20,000 contributions may go.
  CHECK(summary.budget_used_ppm == 2 * 1408u * 1'000'000 / 20'000);
  CHECK(summary.receives.count() == 2);
  CHECK(pair.a->summary(1).sends.count() == 2);
  CHECK(pair.a->summary(2).counters[core::Counter::kBytesSent] == 0);
}

TEST_CASE("two channels of a collective may each spend their own budget, and no more is reported") {
  Pair pair;
  const core::Licence licence{1, 200'000, 2, 2, 0, 100'000, gradient::ElementType::kFloat32};
  int packets = 0;
  for (int channel = 0; channel < 2; ++channel) {
    pair.sends = pair.receives = nullptr;
    pair.join();
    pair.wire->keep = [&](std::span<const std::byte> datagram) {
      const auto data = wire::decode_data(datagram);
      return !data || data->header.retransmission || ++packets % 14 != 0;
    };
    auto out = random_bytes(200'000);
    std::vector<std::byte> in(out.size());
    Request* receiving = pair.post(*pair.b, *pair.receives, in, licence);
    Request* sending = pair.post(*pair.a, *pair.sends, out, licence);
    Request::Outcome outcome;
    CHECK(finish(pair, sending, outcome) == Request::State::kDone);
    CHECK(finish(pair, receiving, outcome) == Request::State::kDone);
    CHECK(outcome.lost == 10 * 1408u);
  }
  pair.wire->keep = nullptr;
  CHECK(pair.b->summary(1).budget_used_ppm == 704'000);  // 14,080 of 20,000 contributions
}

TEST_CASE("who asks from outside makes licensed transfers exact at once") {
  Pair pair;
  pair.join();
  const core::Licence licence{1, 200'000, 2, 2, 0, 100'000, gradient::ElementType::kFloat32};
  int packets = 0;
  int lost = 0;
  pair.wire->keep = [&](std::span<const std::byte> datagram) {
    const auto data = wire::decode_data(datagram);
    if (!data || data->header.retransmission || ++packets % 50 != 0) return true;
    ++lost;
    return false;
  };
  auto out = random_bytes(200'000);
  std::vector<std::byte> in(out.size());
  Request* receiving = pair.post(*pair.b, *pair.receives, in, licence);
  pair.rows->page().head.exact = 1;  // with the receive already posted
  Request* sending = pair.post(*pair.a, *pair.sends, out, licence);
  Request::Outcome outcome;
  CHECK(finish(pair, sending, outcome) == Request::State::kDone);
  CHECK(finish(pair, receiving, outcome) == Request::State::kDone);
  pair.wire->keep = nullptr;
  CHECK(lost > 0);
  CHECK(outcome.lost == 0);
  CHECK(in == out);
  CHECK(std::count_if(pair.log.begin(), pair.log.end(), [](const std::string& line) {
          return line.find("dlcp exact") != std::string::npos;
        }) == 2);
}

TEST_CASE("what comes late of a short message touches its memory neither poisoned nor reused") {
  Pair pair;
  pair.join();
  std::vector<std::vector<std::byte>> late;
  int packets = 0;
  pair.wire->keep = [&](std::span<const std::byte> datagram) {
    if (!wire::decode_data(datagram) || ++packets % 20 != 0) return true;
    late.emplace_back(datagram.begin(), datagram.end());
    return false;
  };
  const auto deliver_late = [&] {
    for (const auto& datagram : late)
      pair.wire->put(1, datagram);
    for (int i = 0; i < 100; ++i)
      pair.b->poll_state(*pair.receives);
  };
  const core::Licence licence{1, 800'000, 2, 2, 0, 200'000, gradient::ElementType::kFloat32};
  auto out = random_bytes(200'000);
  std::vector<std::byte> in;
  in.reserve(out.size() + 1);
  in.resize(out.size());
  Request::Outcome outcome;
  Request* receiving = pair.post(*pair.b, *pair.receives, in, licence);
  Request* sending = pair.post(*pair.a, *pair.sends, out, licence);
  REQUIRE(finish(pair, receiving, outcome) == Request::State::kDone);
  REQUIRE(outcome.lost > 0);
  ASAN_POISON_MEMORY_REGION(in.data(), in.size());
  deliver_late();
  ASAN_UNPOISON_MEMORY_REGION(in.data(), in.size());
  const auto before = pair.b->counters()[core::Counter::kLatePackets];
  CHECK(before >= late.size());

  // The next message goes to the same memory, while the old packets come again and again.
  REQUIRE(finish(pair, sending, outcome) == Request::State::kDone);
  pair.wire->keep = nullptr;
  out = random_bytes(200'001);
  in.resize(out.size());
  receiving = pair.post(*pair.b, *pair.receives, in);
  deliver_late();
  sending = pair.post(*pair.a, *pair.sends, out);
  deliver_late();
  CHECK(finish(pair, sending, outcome) == Request::State::kDone);
  CHECK(finish(pair, receiving, outcome) == Request::State::kDone);
  deliver_late();
  CHECK(in == out);
}

TEST_CASE("memory that is deregistered while its packets wait is not read again") {
  Pair pair;
  pair.join();
  pair.wire->take_at_once = 0;
  auto out = std::make_unique<std::vector<std::byte>>(random_bytes(500'000));
  Request* sending = pair.post(*pair.a, *pair.sends, *out);
  CHECK(pair.wire->refused > 0);
  pair.a->release_memory(*pair.sends, {out->data(), out->size(), out.get()});
  out.reset();  // the address sanitizer sees any later read
  pair.wire->take_at_once = 64;
  Request::Outcome outcome;
  CHECK(pair.a->test(*sending, outcome) == Request::State::kFailed);
  for (int i = 0; i < 100; ++i) {
    pair.a->poll_state(*pair.sends);
    pair.b->poll_state(*pair.receives);
  }
  CHECK(pair.receives->failed.load());  // the peer has been told
  CHECK(pair.a->close(pair.sends));
  CHECK(pair.b->close(pair.receives));
}

TEST_CASE("deregistering what no request was posted with disturbs nobody") {
  Pair pair;
  pair.join();
  auto out = random_bytes(10'000);
  const int other = 0;
  std::vector<std::byte> in(out.size());
  Request* receiving = pair.post(*pair.b, *pair.receives, in);
  Request* sending = pair.post(*pair.a, *pair.sends, out);
  pair.a->release_memory(*pair.sends, {out.data(), out.size(), &other});
  pair.b->release_memory(*pair.receives, {in.data(), in.size(), &other});
  Request::Outcome outcome;
  CHECK(finish(pair, sending, outcome) == Request::State::kDone);
  CHECK(finish(pair, receiving, outcome) == Request::State::kDone);
  CHECK(in == out);
  CHECK_FALSE(pair.a->close(pair.sends));
  CHECK_FALSE(pair.b->close(pair.receives));
}

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

TEST_CASE("a silent peer is an error within the time-out, logged once, with nobody polling") {
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

TEST_CASE("a request slot is named anew at each use and a stale name finds nothing") {
  Connection connection;
  Request* first = connection.free_slot();
  REQUIRE(first != nullptr);
  const auto old_name = first->name;
  CHECK(connection.find(old_name) == first);
  first->state.store(Request::State::kPending);
  Request* second = connection.free_slot();
  REQUIRE(second != nullptr);
  CHECK(second != first);
  first->state.store(Request::State::kFree);
  second->state.store(Request::State::kPending);
  Request* again = connection.free_slot();
  CHECK(again == first);
  CHECK(again->name != old_name);
  CHECK(connection.find(old_name) == nullptr);
}

TEST_CASE("a send is done when the datapath has let go of its memory, not when the peer has it") {
  Pair pair;
  pair.join();
  auto out = random_bytes(10'000);
  std::vector<std::byte> in(out.size());
  pair.wire->reads_on = true;
  Request* receiving = pair.post(*pair.b, *pair.receives, in);
  Request* sending = pair.post(*pair.a, *pair.sends, out);
  Request::Outcome outcome;
  CHECK(finish(pair, receiving, outcome) == Request::State::kDone);
  for (int i = 0; i < 100; ++i)
    pair.a->poll_state(*pair.sends);
  const bool let_go = GENERATE(true, false);  // else it is made to after 50 ms
  if (let_go) {
    CHECK(pair.a->test(*sending, outcome) == Request::State::kPending);
    pair.wire->reads_on = false;
  }
  CHECK(finish(pair, sending, outcome) == Request::State::kDone);
  CHECK(pair.wire->abandoned == (let_go ? 0u : 1u));
}

TEST_CASE("deregistering does not return while the datapath reads the memory") {
  Pair pair;
  pair.join();
  auto out = random_bytes(10'000);
  pair.wire->reads_on = true;
  pair.a->release_memory(*pair.sends, {out.data(), out.size(), &out});
  CHECK_FALSE(pair.wire->reads_on);
  CHECK(pair.wire->abandoned == 1);
}

TEST_CASE("a device that is gone fails its connections and listeners, once") {
  Pair pair;
  pair.join();
  const auto listening = pair.a->listen(1, 2);
  auto out = random_bytes(10'000);
  Request* sending = pair.post(*pair.a, *pair.sends, out);
  pair.wire->gone = true;
  Request::Outcome outcome;
  for (int i = 0; i < 10; ++i)
    pair.a->poll_state(*pair.sends);
  CHECK(pair.a->test(*sending, outcome) == Request::State::kFailed);
  CHECK(pair.sends->error.what == "the card is gone");
  CHECK_FALSE(pair.a->accept(listening.id, 1).ok());
  CHECK(std::ranges::count(pair.log, std::string("the card is gone")) == 1);
}
