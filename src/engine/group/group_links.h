// The connections of one member to the other members of its group: for each peer, direction and
// rail, one for contributions and one for results. If there are hubs, ranks are connected to each
// other only as set-up requires.
//
// A rail is a device; all members of a group use the same number of rails. Both ends of a transfer
// derive the rail from their numbers, the call and the block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collective/calls/transfer.h"
#include "engine/lane/connections/connection.h"
#include "engine/lane/engine.h"

namespace dlcp::engine {

struct GroupLink {
  std::shared_ptr<Engine> engine;  // keeps the connection's engine alive
  Connection* connection = nullptr;
};

struct GroupPlace {  // a connection as seen from one end
  std::uint32_t peer = 0;
  collective::Transfer::Lane lane = collective::Transfer::Lane::kContributions;
  std::uint32_t rail = 0;
};

// True if a group of `ranks` ranks, followed by `hubs` hubs, has that connection.
constexpr bool linked(std::uint32_t ranks, std::uint32_t hubs, std::uint32_t from, std::uint32_t to,
                      collective::Transfer::Lane lane) {
  if (hubs == 0 || from == to) return from != to;
  const bool first = lane == collective::Transfer::Lane::kContributions;
  if (from >= ranks)
    return to < ranks && (!first || to == 0);  // results, and at set-up messages to rank 0
  return to >= ranks || (first && (from == 0 || to == 0));
}

class GroupLinks {
 public:
  using Lane = collective::Transfer::Lane;
  static constexpr std::size_t kPerPeer = 4;

  GroupLinks() = default;
  GroupLinks(std::uint32_t members, std::uint32_t own, std::uint32_t rails)
      : members_(members), own_(own), rails_(rails), links_(members * kPerPeer * rails) {}

  std::uint32_t members() const { return members_; }
  std::uint32_t rails() const { return rails_; }
  // The caller must first close the connections on further rails, if any.
  void keep_rails(std::uint32_t rails) {
    rails_ = rails;
    links_.resize(members_ * kPerPeer * rails);
  }

  std::size_t index(std::uint32_t peer, Lane lane, bool sends, std::uint32_t rail = 0) const {
    return (std::size_t{rail} * members_ + peer) * kPerPeer + static_cast<std::size_t>(lane) * 2 +
           (sends ? 1 : 0);
  }
  // The rail alternates over an owner's blocks and over calls. It also depends on the sender;
  // otherwise all contributions to a block would reach its owner on one rail.
  std::size_t index(const collective::Transfer& transfer) const {
    const std::uint64_t turn = transfer.block / members_ + transfer.call;
    const std::uint64_t rail = rails_ == 1 ? 0 : (turn + own_ + transfer.peer) % rails_;
    return index(transfer.peer, transfer.lane, transfer.sends, static_cast<std::uint32_t>(rail));
  }
  // The way of a connection: its lane on its rail, numbered 0 .. 2 * rails() - 1.
  std::size_t way(std::size_t index) const {
    return index / (members_ * kPerPeer) * 2 + index % kPerPeer / 2;
  }
  GroupLink& at(std::uint32_t peer, Lane lane, bool sends, std::uint32_t rail = 0) {
    return links_[index(peer, lane, sends, rail)];
  }
  std::vector<GroupLink>& all() { return links_; }  // entries to itself have no connection
  const std::vector<GroupLink>& all() const { return links_; }

 private:
  std::uint32_t members_ = 0;
  std::uint32_t own_ = 0;
  std::uint32_t rails_ = 1;
  std::vector<GroupLink> links_;
};

}  // namespace dlcp::engine
