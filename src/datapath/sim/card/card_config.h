// Settings and counters of the simulated card that places data (sim_placer.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "util/time.h"

namespace dlcp::datapath::sim {

struct CardConfig {
  Duration grant_delay = 1us;
  Duration revoke_delay = 2us;
  Duration write_time_max{0};  // between the check of the key and the change of memory
  // False: a permission counts as revoked although a write may be in progress, as with the windows
  // of Soft-RoCE. Messages are then not exact.
  bool revoking_waits = true;
  // How long the card still accepts the key of a permission that it has reported as revoked. Not 0:
  // receives are in effect completed before revocation.
  Duration key_outlives{0};
  double refused = 0;  // share of the permissions that the card refuses
  std::size_t receives_per_path = 512;
  std::size_t paths_max = 256;                            // of each class that work
  bool is_reliable = false;                               // RC: the card repeats what is lost
  Duration repeat_after = std::chrono::milliseconds(17);  // more if the round trip is long
  unsigned repeats_max = 7;                               // in a row
  std::uint64_t black_holes = 0;  // bit p is set: packets that this card sends on path p are lost
};

struct CardCounters {
  std::uint64_t sent = 0;
  std::uint64_t placed = 0;
  std::uint64_t bytes_placed = 0;
  std::uint64_t dead_keys = 0;  // packets that came too late
  std::uint64_t damaged = 0;
  std::uint64_t without_receive = 0;
  std::uint64_t paths_failed = 0;  // reliable ones
  std::uint64_t granted = 0;
  std::uint64_t revoked = 0;
};

}  // namespace dlcp::datapath::sim
