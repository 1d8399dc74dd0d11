// Which entropy value the next burst takes. Healthy paths are chosen by the power of two choices on
// expected delay (Mitzenmacher 2001), of four where both are far slower than usual; the delay of a
// path is refreshed by every acknowledgement, so that good paths are recycled (as in REPS, arXiv
// 2407.21625). A path that has swallowed a packet, and delivered nothing since, is doubted: it gets
// single packets, one in a round trip. If it swallows those too it is avoided, and tried again with
// one packet after a doubling pause, for ever.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/paths/path_state.h"
#include "util/rng.h"
#include "util/time.h"

namespace dlcp::core {

class PathSet {
 public:
  PathSet(std::size_t paths, std::uint64_t seed);

  struct Choice {
    wire::PathIndex path = 0;
    std::size_t packets_max = 0;  // 1 on a path that is only being tried
  };
  // `packet_time`: how long the network takes per packet of ours at the current rate. A repair
  // takes one of the paths that have delivered last, and seldom one that is only being tried.
  enum class Cargo { kNew, kRepair };
  Choice choose(Time now, Duration packet_time, Cargo cargo = Cargo::kNew);

  // For a probe: once the path that answered last, which is the most likely to work both ways, then
  // each of all paths in turn.
  std::uint8_t choose_for_probe();

  void on_sent(wire::PathIndex path) { ++paths_[path].sent; }
  // The peer reports the path delivered up to its packet number `delivered` (counted from 0).
  void on_report(wire::PathIndex path, std::uint32_t delivered, Duration delay, bool marked);
  // A probe on the path was answered: it works there and back. After a silence it gets every other
  // one of the next bursts, so that acknowledgements flow while the other paths are tried.
  void on_answered(wire::PathIndex path, bool after_silence);
  // A packet sent at `sent_at` is lost. `overtaken`: the path has delivered a later one, so it is
  // no worse than a full queue or a bad cable.
  struct Suspicion {
    bool known = false;    // the path had swallowed an earlier burst: that says nothing of queues
    bool avoided = false;  // from now on
  };
  Suspicion on_lost(Time now, wire::PathIndex path, Time sent_at, Duration round_trip,
                    bool overtaken = false);

  std::size_t size() const { return paths_.size(); }
  // Of one path; whose it is the caller knows.
  PathState state(wire::PathIndex path) const;
  std::size_t avoided() const { return avoided_; }

 private:
  struct Path {
    std::uint32_t sent = 0;
    std::uint32_t delivered = 0;    // sent numbers below this have been reported on
    Duration delay{0};              // 0: not known yet
    double loss = 0;                // smoothed share of packets lost
    std::uint32_t lost_in_row = 0;  // and nothing delivered since
    Time first_lost_sent_at{};
    bool avoided = false;  // not doubted any more
    Time try_again_at{};
    Duration pause{0};
  };

  static bool doubted(const Path& path) { return path.lost_in_row > 0 && !path.avoided; }
  double score(const Path& path, Duration packet_time) const;
  std::optional<Choice> choose_to_try(Time now);
  std::optional<std::size_t> doubted_and_due(Time now) const;
  std::size_t random_proven();
  std::size_t random_healthy();
  void restore(Path& path);

  std::vector<Path> paths_;
  Duration typical_delay_{0};  // smoothed over all paths; stands for those not known yet
  std::optional<std::uint8_t> answered_last_;
  std::array<wire::PathIndex, 8> proven_{};  // delivered last, in turn
  std::size_t reports_ = 0;
  std::size_t turn_ = 0;
  std::uint8_t refuge_ = 0;
  unsigned refuge_bursts_ = 0;  // left, twice over
  std::size_t avoided_ = 0;
  std::size_t doubted_ = 0;
  unsigned since_trial_ = 0;  // bursts
  unsigned repairs_in_row_ = 0;
  Rng rng_;
};

}  // namespace dlcp::core
