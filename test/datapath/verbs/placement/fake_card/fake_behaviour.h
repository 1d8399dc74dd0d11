// The behaviour of a fake card and its network, and their counts (fake_write_card.h).
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "util/rng.h"

namespace dlcp::datapath::test {

struct FakeMw : ibv_mw {
  FakeMw() : ibv_mw{} {}
  ibv_mr* region = nullptr;  // while bound
};

// Keys that have ended; the last one is given out again first.
class FakeKeys {
 public:
  bool empty() const { return keys_.empty(); }
  void add(std::uint32_t key) { keys_.push_back(key); }
  std::uint32_t take() {
    const std::uint32_t key = keys_.back();
    keys_.pop_back();
    return key;
  }

 private:
  std::vector<std::uint32_t> keys_;
};

// That of a window whose next bind gets `key`.
inline std::uint32_t key_before(std::uint32_t key) {
  return (key & ~0xffu) | ((key - 1) & 0xffu);
}

struct FakeBehaviour {
  // The device may lack these.
  bool has_uc = true, has_windows = true;
  // How it behaves.
  bool unbind_waits = true, dereg_waits = true;
  bool reuses_keys = false;              // a new region gets the key of the last one that ended
  bool shares_keys = false;              // the same, and a new window may bind with this key, too
  std::uint64_t copy_steps = 0;          // between the check of a write and the copy
  bool steps_on_poll = false;            // every poll is a step
  bool dead_keys_take_receives = false;  // as with a shared receive queue
  bool keys_outlive_regions = false;     // a deregistered region can still be written to
  bool refuses_dereg = false, refuses_resets = false;
  bool refuses_receives = false;                  // post_recv fails
  std::uint32_t unreachable = 0;                  // no queue pair can be connected to this one
  bool is_unreachable = false;                    // none can be connected to any other
  bool fails_binds = false, fails_reads = false;  // they complete with an error
  bool holds_completions = false;                 // of sends: they cannot be polled
  bool holds_binds = false, holds_reads = false;  // they do not complete before release_binds()
  ibv_mtu mtu = IBV_MTU_1024;
  // The network. Without delays packets arrive at once.
  double loss = 0, doubled = 0, late = 0;
  std::set<std::uint32_t> dead_labels;  // packets with these flow labels are lost
  double breaks = 0;                    // chance that a request breaks its queue pair
  std::uint64_t reordering = 0;         // steps by which a packet may be delayed
  std::uint64_t lateness = 200;         // steps of a late one
  bool holds_network = false;           // packets arrive in step() only
  Rng rng{1};
  // Results.
  std::size_t written = 0;     // writes into memory
  std::size_t dead_keys = 0;   // writes refused because of the key
  std::size_t no_receive = 0;  // lost because no receive was posted
  std::size_t binds = 0, reads = 0;
  std::size_t connects_refused = 0;
  std::map<std::uint32_t, int> writable;  // how often writes with this key were permitted
  std::vector<ibv_qp_attr> ready;         // attributes of each change to the state RTR

  bool refuses_to_connect(std::uint32_t number) {
    const bool refuses = is_unreachable || number == unreachable;
    connects_refused += refuses ? 1 : 0;
    return refuses;
  }
};

}  // namespace dlcp::datapath::test
