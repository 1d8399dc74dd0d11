// Two ranks and a message exchange that several plugin tests repeat.
#pragma once

#include "catch.h"
#include "plugin.h"

namespace dlcp::test {

// The plugin, two ranks of a communicator in this process, and a connection from one to the other.
struct TwoRanks {
  Plugin plugin;
  const NetV12& net = plugin.net();
  Rank a{net};
  Rank b{net};
  Link link = make_link(a, b);
};

// Sends one message between registered buffers and checks it.
inline void exchange(const Link& link, std::size_t bytes, std::uint64_t seed) {
  Mover sender(*link.net, link.send, true, bytes);
  Mover receiver(*link.net, link.recv, false, bytes);
  fill_random(sender.memory(), seed);
  void* receive = receiver.post(0, bytes);
  void* send = sender.post(0, bytes);
  REQUIRE(finish(*link.net, receive) == ResultCode::kSuccess);
  REQUIRE(finish(*link.net, send) == ResultCode::kSuccess);
  REQUIRE(sender.memory() == receiver.memory());
}

}  // namespace dlcp::test
