// The engine over memory: packets that the datapath does not accept, and memory that is released
// while they wait.
#include "engine/lane/engine.h"

#include <sanitizer/asan_interface.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "catch.h"
#include "engine/engine_pair.h"
#include "wire/data/data_header.h"

using namespace dlcp;
using namespace dlcp::test;

TEST_CASE("all bytes arrive even if the datapath accepts three packets at a time") {
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

TEST_CASE(
    "a message leaves when it is posted if nothing is in flight, and otherwise with the next "
    "test") {
  Pair pair;
  pair.join();
  std::vector<std::byte> first(64);
  std::vector<std::byte> second(64);
  const auto sent = [&] { return pair.a->counters()[core::Counter::kPacketsSent]; };
  Request* const leaves = pair.post(*pair.a, *pair.sends, first);
  CHECK(sent() == 1);
  pair.post(*pair.a, *pair.sends, second);
  CHECK(sent() == 1);
  Request::Outcome outcome;
  CHECK(pair.a->test(*leaves, outcome) == Request::State::kPending);
  CHECK(sent() == 2);
}

TEST_CASE("packets lost within a licence become zeros, and the request reports the lost bytes") {
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
  // Stage 0 of two ranks with P = 10%: 20,000 contributions may be lost.
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

TEST_CASE("a request from outside makes licensed transfers exact at once") {
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

TEST_CASE("a late packet of a short message changes its memory neither poisoned nor reused") {
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

  // The next message goes to the same memory, while the old packets arrive repeatedly.
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
  out.reset();  // the address sanitizer detects any later read
  pair.wire->take_at_once = 64;
  Request::Outcome outcome;
  CHECK(pair.a->test(*sending, outcome) == Request::State::kFailed);
  for (int i = 0; i < 100; ++i) {
    pair.a->poll_state(*pair.sends);
    pair.b->poll_state(*pair.receives);
  }
  CHECK(pair.receives->failed.load());  // the peer has received the failure
  CHECK(pair.a->close(pair.sends));
  CHECK(pair.b->close(pair.receives));
}

TEST_CASE("deregistering memory without requests affects no connection") {
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

TEST_CASE("a request slot gets a new name at each use, and a stale name finds nothing") {
  engine::CopyMemory memory;
  Connection connection(memory);
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

TEST_CASE(
    "a send is done when the datapath has released its memory, even if the peer has the data "
    "before") {
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
  const bool let_go = GENERATE(true, false);  // else the engine forces it after 50 ms
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

TEST_CASE("a request whose posting throws is not waited for, and keeps its memory") {
  class FullPlacer final : public engine::Placer {
   public:
    explicit FullPlacer(const bool& is_full) : is_full_(is_full) {}
    void place(const core::Placement& placement) override {
      if (is_full_) throw std::bad_alloc();
      engine::HostPlacer().place(placement);
    }

   private:
    const bool& is_full_;
  };
  bool is_full = false;
  Pair pair;
  core::Config config;
  config.receive_capacity_bytes = std::size_t{1} << 20;
  pair.b = std::make_unique<Engine>(
      std::make_unique<MemoryDatapath>(pair.wire, 1), config, secrets_of(2),
      [](const engine::LogLine&) {}, [](core::ContextId, const Error&) {},
      std::make_unique<engine::Monitor>(), std::make_unique<FullPlacer>(is_full));
  pair.join();
  auto out = random_bytes(100);
  std::vector<std::byte> in(100);
  Request::Outcome outcome;
  Request* const first = pair.post(*pair.b, *pair.receives, in);
  pair.post(*pair.a, *pair.sends, out);
  REQUIRE(finish(pair, first, outcome) == Request::State::kDone);
  CHECK(first->waited_for);
  pair.post(*pair.a, *pair.sends, out);
  for (int i = 0; i < 100; ++i) {
    pair.a->drive();
    pair.b->drive();
  }
  is_full = true;
  CHECK_THROWS_AS(pair.b->receive(*pair.receives, {in.data(), in.size(), &in}), std::bad_alloc);
  CHECK(first->state == Request::State::kPending);  // the slot is used again
  CHECK_FALSE(first->waited_for);
  CHECK(pair.receives->uses({in.data(), in.size(), &in}));
  is_full = false;
  CHECK(pair.b->close(pair.receives));
}

TEST_CASE("a removed device fails its connections and listeners, once") {
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

TEST_CASE("communicators that a removed device does not serve yet fail when they use it") {
  Pair pair;
  pair.wire->gone = true;
  pair.a->drive();
  const auto listening = pair.a->listen(1, 1);
  CHECK_FALSE(pair.a->accept(listening.id, 1).ok());
  Connection* const sends = pair.a->connect(2, {}, pair.b->address());
  CHECK(pair.a->poll_state(*sends) == core::ConnectionState::kClosed);
  CHECK(sends->error.what == "the card is gone");
  CHECK(std::ranges::count(pair.log, std::string("the card is gone")) ==
        3);  // for the device, the listener and the connection
  pair.a->drive();
  CHECK(pair.log.size() == 3);
  pair.a->close(sends);
}
