// The links of a datapath: which queues join it to which peer, how they are introduced to the peer
// and connected with the peer's. Both sides' queues of the same class and path belong together.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "datapath/marks.h"
#include "datapath/placement.h"
#include "datapath/verbs/placement/links/introduction.h"
#include "datapath/verbs/placement/queue_pairs/chains.h"
#include "datapath/verbs/placement/queue_pairs/queue_table.h"
#include "wire/data/placed_packet.h"

namespace dlcp::datapath {

class LinkTable {
 public:
  struct Marks {
    ClassMarks tos{};
    // By path: kPathsPerClassMax of them, and as many for each further renewal of a queue pair.
    std::vector<std::uint32_t> flow_labels;
  };
  struct Link {
    IpAddress ip;
    std::array<std::vector<std::uint16_t>, kTrafficClassCount> queues;  // by class and path
    std::uint8_t repeat_exponent = 0;
    LinkDescription remote;
    LinkLimits limits;
    std::uint32_t version = 1;
  };

  LinkTable(VerbsCard& card, QueueTable& queues, ReceiveChain& receives, Marks marks);

  Result<LinkId> open(const IpAddress& peer, Duration round_trip);
  Status widen(LinkId link, TrafficClass traffic_class, std::size_t paths);
  Introduction introduction(LinkId link);
  Status connect(LinkId link, std::span<const std::byte> introduction);
  wire::LinkPaths paths(LinkId link, TrafficClass traffic_class);
  bool awaits_peer(LinkId link);
  std::uint32_t failures(LinkId link, TrafficClass traffic_class, wire::PathIndex path);
  void close(LinkId link);

  Link* find(LinkId link);
  // Repairs queues that are broken, and returns how many. UC: by a reset; their numbers do not
  // change. RC: by a new queue, which the next introductions connect, after a pause if the last one
  // has never worked.
  std::size_t repair(Time now);

 private:
  bool is_reliable() const { return queues_.options().transport == PlacementTransport::kRc; }
  std::size_t paths_allowed(const Link& link) const;
  bool agrees(const Link& link, const LinkDescription& remote) const;
  Status connect_class(Link& link, std::size_t traffic_class, unsigned& failures);
  Status connect_path(Link& link, std::size_t traffic_class, std::size_t path);
  Status follow(Link& link, std::size_t traffic_class, std::size_t path);
  Status renew(Link& link, std::uint16_t index);
  // The state of a path that both sides know.
  enum class State : std::uint8_t { kUsable, kAwaitsPeer, kBroken };
  State state_of(const Link& link, std::size_t traffic_class, std::size_t path);
  Status join(QueueTable::Slot& slot, const QueueRemote& remote);

  VerbsCard& card_;
  QueueTable& queues_;
  ReceiveChain& receives_;
  const Marks marks_;
  std::unordered_map<std::uint32_t, Link> links_;
  std::uint32_t last_id_ = 0;
  std::size_t next_repair_ = 0;  // slot
  bool has_repair_failed_ = false;
  LinkId failed_link_ = LinkId::kNone;  // UC: that of the last failed repair
  Time repair_at_{};
};

}  // namespace dlcp::datapath
