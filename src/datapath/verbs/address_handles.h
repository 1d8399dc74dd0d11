// Address handles: to whom, with which marks and which flow label. Making one takes a system call
// and may wait for ARP, so they are made at first use, kept per (peer, path, class), and dropped
// only when there are too many: least recently used first (by second chance), and never one that a
// posted request still names.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "datapath/marks.h"
#include "datapath/verbs/verbs_card.h"
#include "dlcp/traffic_class.h"
#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::datapath {

class AddressHandles {
 public:
  struct Options {
    ClassMarks tos{};
    // By path; of one element where the flow label makes no difference.
    std::vector<std::uint32_t> flow_labels = {1};
    std::size_t capacity = 8192;
  };

  struct Key {
    std::array<std::uint8_t, 16> gid{};
    std::uint16_t label = 0;  // its index
    std::uint16_t traffic_class = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Handle {
    Key key;
    AhPtr ah;                    // none while the peer cannot be reached
    std::uint32_t requests = 0;  // posted and not reclaimed; its user counts
    bool recent = true;
    Time retry_at{};  // when there is no `ah`
  };

  AddressHandles(VerbsCard& card, Options options);

  // nullptr while the peer cannot be reached, or if every handle is in use.
  Handle* find(Time now, const IpAddress& to, wire::PathIndex path, TrafficClass traffic_class);

  std::uint64_t made() const { return made_; }
  // A new one must wait for a request to be reclaimed: then have them all signalled.
  bool is_full() const { return handles_.size() >= options_.capacity; }

 private:
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  Handle* look_up(const Key& key);  // made if need be, still without `ah`; nullptr: no room
  bool make_room();
  void make(Time now, Handle& handle);

  VerbsCard& card_;
  Options options_;
  std::list<Handle> handles_;
  std::list<Handle>::iterator hand_;  // of the clock
  std::unordered_map<Key, std::list<Handle>::iterator, KeyHash> by_key_;
  std::array<Handle*, 512> recent_{};  // by path and class: most often the one that is looked for
  std::uint64_t made_ = 0;
};

// Flow labels for so many paths whose UDP source ports all differ, by the fold that drivers use
// (upper six bits into the lower fourteen), none of them 0, which means "any port".
std::vector<std::uint32_t> flow_labels(std::size_t paths, std::uint64_t seed);
// The UDP source port that a driver makes of a label: RoCEv2's dynamic range.
std::uint16_t source_port_of_label(std::uint32_t label);

}  // namespace dlcp::datapath
