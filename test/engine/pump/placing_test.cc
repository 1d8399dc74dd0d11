// Payloads that are placed some time after their arrival: an engine with a slow placer.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "catch.h"
#include "engine/host/clock.h"
#include "engine/lane/engine.h"
#include "engine/memory_datapath.h"
#include "secrets.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::engine;

namespace {

// Places data into posted buffers only when told to, and then the newest first.
class SlowPlacer final : public Placer {
 public:
  void place(const core::Placement& placement) override {
    if (placement.name.connection == 0) {
      HostPlacer().place(placement);
      return;
    }
    const std::lock_guard lock(mutex_);
    waiting_.push_back({placement, {placement.payload.begin(), placement.payload.end()}});
  }
  std::optional<core::PlacementName> poll_placed(Time) override {
    const std::lock_guard lock(mutex_);
    if (!may_place_ || waiting_.empty()) return std::nullopt;
    auto [placement, payload] = std::move(waiting_.back());
    waiting_.pop_back();
    placement.payload = payload;
    HostPlacer().place(placement);
    return placement.name;
  }
  Time next_placed() const override {
    const std::lock_guard lock(mutex_);
    return may_place_ && !waiting_.empty() ? Time{} : kNever;
  }
  bool writes(std::span<const std::byte> memory) const override {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(waiting_, [&](const Held& held) {
      return held.placement.destination >= memory.data() &&
             held.placement.destination < memory.data() + memory.size();
    });
  }
  void let_place() {
    const std::lock_guard lock(mutex_);
    may_place_ = true;
  }
  std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

 private:
  struct Held {
    core::Placement placement;
    std::vector<std::byte> payload;
  };
  mutable std::mutex mutex_;
  std::deque<Held> waiting_;
  bool may_place_ = false;
};

struct Pair {
  Pair() {
    const auto listening = b.listen(1, 1);
    sends = a.connect(1, listening.invitation, b.address());
    while (receives == nullptr || a.poll_state(*sends) != core::ConnectionState::kOpen) {
      if (receives == nullptr) receives = b.accept(listening.id, 1).value();
      step();
    }
    receiving =
        b.receive(*receives, {in.data(), in.size(), &in, core::MemoryKind::kDevice}).value();
    sending = a.send(*sends, {out.data(), out.size(), &out}).value();
    for (const Time end = steady_now() + 200ms; steady_now() < end;)
      step();
  }
  void step() {
    a.drive();
    b.drive();
  }
  static core::Config config() {
    core::Config config;
    config.receive_capacity_bytes = std::size_t{1} << 20;
    return config;
  }
  Request::State finish(Request* request) {
    Request::Outcome outcome;
    auto state = Request::State::kPending;
    for (const Time end = steady_now() + 5s;
         state == Request::State::kPending && steady_now() < end;) {
      step();
      state = request->connection->engine->test(*request, outcome);
    }
    return state;
  }

  std::shared_ptr<Wire> wire = std::make_shared<Wire>();
  SlowPlacer* placer = new SlowPlacer;
  Engine a{std::make_unique<MemoryDatapath>(wire, 0), config(), secrets_of(1),
           [](const LogLine&) {}, [](core::ContextId, const Error&) {}};
  Engine b{std::make_unique<MemoryDatapath>(wire, 1),
           config(),
           secrets_of(2),
           [](const LogLine&) {},
           [](core::ContextId, const Error&) {},
           std::make_unique<Monitor>(),
           std::unique_ptr<Placer>(placer)};
  std::vector<std::byte> out = std::vector<std::byte>(50'000, std::byte{7});
  std::vector<std::byte> in = std::vector<std::byte>(50'000);
  Connection* sends = nullptr;
  Connection* receives = nullptr;
  Request* sending = nullptr;
  Request* receiving = nullptr;
};

}  // namespace

TEST_CASE("neither end of a message is done before its bytes are placed") {
  Pair pair;
  CHECK(pair.placer->waiting() == (50'000 + 1'407) / 1'408);
  CHECK(pair.receiving->state == Request::State::kPending);
  CHECK(pair.sending->state == Request::State::kPending);
  pair.placer->let_place();
  CHECK(pair.finish(pair.receiving) == Request::State::kDone);
  CHECK(pair.in == pair.out);
  CHECK(pair.finish(pair.sending) == Request::State::kDone);
}

TEST_CASE("deregMr and close wait for pending placements") {
  Pair pair;
  const bool close = GENERATE(false, true);
  std::atomic<bool> returned = false;
  std::thread caller([&] {
    if (close)
      pair.b.close(pair.receives);
    else
      pair.b.release_memory(*pair.receives, {pair.in.data(), pair.in.size(), &pair.in});
    returned = true;
  });
  std::this_thread::sleep_for(50ms);
  CHECK_FALSE(returned);
  pair.placer->let_place();
  caller.join();
  CHECK(pair.placer->waiting() == 0);
  CHECK(pair.in == pair.out);  // nothing is written after this
}
