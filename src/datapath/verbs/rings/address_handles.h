// Address handles: each holds a destination, marks and a flow label. Creating one takes a system
// call and may wait for ARP. Handles are therefore created at first use, kept per (peer, path,
// class), and evicted only when there are too many: the least recently used first (second chance),
// and never one that a posted request uses.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "datapath/marks.h"
#include "datapath/verbs/device/verbs_card.h"
#include "dlcp/traffic_class.h"
#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::datapath {

inline constexpr std::uint8_t kHopLimit = 64;

class AddressHandles {
 public:
  struct Options {
    ClassMarks tos{};
    // By path; one element if the flow label makes no difference.
    std::vector<std::uint32_t> flow_labels = {1};
    std::size_t capacity = 8192;
  };

  using Gid = std::array<std::uint8_t, 16>;
  struct Key {
    Gid gid{};
    std::uint16_t label = 0;  // index of the flow label
    std::uint16_t traffic_class = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Handle {
    Key key;
    AhPtr ah;                    // null while the peer cannot be reached
    std::uint32_t requests = 0;  // posted and not yet reclaimed; the user of the handle counts them
    bool recent = true;
  };

  AddressHandles(VerbsCard& card, Options options);

  // nullptr while the peer cannot be reached, or if all handles are in use.
  Handle* find(Time now, const IpAddress& to, wire::PathIndex path, TrafficClass traffic_class);

  std::uint64_t made() const { return made_; }
  // True if a new handle must wait until a request is reclaimed; the caller then requests
  // completions for all packets.
  bool is_full() const { return handles_.size() >= options_.capacity; }

 private:
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  // A peer for which the last attempt to make a handle failed, on any path and in any class.
  struct Unreachable {
    Time failed_at{};
    Duration pause{};
    std::optional<Time> retry_at;
  };

  bool may_try(Time now, const Gid& gid);
  Handle* look_up(const Key& key);  // creates it without `ah` if necessary; nullptr: no room
  bool make_room();
  void make(Time now, Handle& handle);

  VerbsCard& card_;
  Options options_;
  std::list<Handle> handles_;
  std::list<Handle>::iterator hand_;  // of the clock (second chance)
  std::unordered_map<Key, std::list<Handle>::iterator, KeyHash> by_key_;
  std::map<Gid, Unreachable> unreachable_;
  std::array<Handle*, 512> recent_{};  // by path and class: usually the handle that find() needs
  std::uint64_t made_ = 0;
};

// The GID of an IP address in RoCEv2: IPv4 addresses are mapped into IPv6.
std::array<std::uint8_t, 16> gid_of(const IpAddress& ip);
// Flow labels for `paths` paths whose UDP source ports all differ, by the hash that drivers use
// (upper six bits folded into the lower fourteen). None is 0, which means "any port".
std::vector<std::uint32_t> flow_labels(std::size_t paths, std::uint64_t seed);
// The UDP source port that drivers derive from a label, in RoCEv2's dynamic range.
std::uint16_t source_port_of_label(std::uint32_t label);

}  // namespace dlcp::datapath
