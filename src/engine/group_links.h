// The connections of one rank to the others of its group: to and from each of them, one for
// contributions and one for results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collective/transfer.h"
#include "engine/connection.h"
#include "engine/engine.h"

namespace dlcp::engine {

struct GroupLink {
  std::shared_ptr<Engine> engine;  // keeps the connection's alive
  Connection* connection = nullptr;
};

class GroupLinks {
 public:
  using Lane = collective::Transfer::Lane;
  static constexpr std::size_t kPerPeer = 4;

  explicit GroupLinks(std::uint32_t ranks) : links_(std::size_t{ranks} * kPerPeer) {}

  static std::size_t index(std::uint32_t peer, Lane lane, bool sends) {
    return peer * kPerPeer + static_cast<std::size_t>(lane) * 2 + (sends ? 1 : 0);
  }
  GroupLink& at(std::uint32_t peer, Lane lane, bool sends) {
    return links_[index(peer, lane, sends)];
  }
  std::vector<GroupLink>& all() { return links_; }  // those to itself have no connection
  const std::vector<GroupLink>& all() const { return links_; }

 private:
  std::vector<GroupLink> links_;
};

}  // namespace dlcp::engine
