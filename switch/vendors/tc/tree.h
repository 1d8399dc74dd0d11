// The Linux form of the plan of one port: an "ets" qdisc with a band per queue, highest first, and
// in each band a qdisc that marks and drops as the queue's plan requires. Both rendering and
// verification use this tree, so that they always agree. The syntax is in render.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switch/plan/plan.h"

namespace dlcp::fabric::tc {

// Major number of all handles that DLCP creates: the root of its tree, and below it one per band.
inline constexpr unsigned kHandle = 0xd1c0;
// RED's thresholds times its weight must stay below 2^31 (the kernel's red_check_params).
inline constexpr std::uint64_t kThresholdMax = (std::uint64_t{1} << 30) - 1;

enum class BandKind {
  kSite,    // the kernel's own queue
  kShaped,  // tbf: strict queues
  kTail,    // bfifo: nothing is marked, everything is dropped at one depth
  kMarked,  // red that marks and never drops early
  kLevels,  // gred: marks and drops by level
};

// One virtual queue of gred.
struct BandLevel {
  std::string name;               // classes, joined with '+'
  std::uint64_t mark_bytes = 0;   // 0: not marked
  std::uint64_t limit_bytes = 0;  // dropped above this depth of the whole band
  bool protect = false;           // never dropped if senders respond to marks
};

struct Band {
  BandKind kind = BandKind::kSite;
  int queue = 0;
  std::string name;
  bool strict = false;
  unsigned weight = 0;                // weighted bands
  std::uint64_t bits_per_second = 0;  // kShaped
  std::uint64_t limit_bytes = 0;      // all but kSite
  std::uint64_t mark_bytes = 0;       // kMarked
  std::vector<BandLevel> levels;      // kLevels; dropped first ... dropped last
};

struct Tree {
  std::vector<Band> bands;  // index + 1 = minor number; strict bands first
  std::size_t default_band = 0;
};

// The band for packets of one DSCP.
struct Match {
  int dscp = 0;
  std::size_t band = 0;
  std::size_t level = 0;
  std::string name;  // class, or the site's queue
};

Tree tree_of(const SwitchPlan& plan, const PortGroupPlan& group);
std::vector<Match> matches_of(const SwitchPlan& plan, const PortGroupPlan& group, const Tree& tree);

}  // namespace dlcp::fabric::tc
