// Two engines joined by memory, and one connection between them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "engine/host/clock.h"
#include "engine/lane/engine.h"
#include "memory_datapath.h"
#include "secrets.h"
#include "util/rng.h"

namespace dlcp::test {

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

inline std::vector<std::byte> random_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  Rng rng(count);
  for (auto& byte : bytes)
    byte = static_cast<std::byte>(rng.next());
  return bytes;
}

// Polls both until `request` is no longer pending.
inline Request::State finish(Pair& pair, Request* request, Request::Outcome& outcome) {
  Request::State state = Request::State::kPending;
  for (const Time end = engine::steady_now() + 10s;
       state == Request::State::kPending && engine::steady_now() < end;) {
    pair.a->poll_state(*pair.sends);
    pair.b->poll_state(*pair.receives);
    state = request->connection->engine->test(*request, outcome);
  }
  return state;
}

}  // namespace dlcp::test
