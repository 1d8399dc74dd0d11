// Chooses the path (entropy value) of the next burst by expected delay, and avoids paths that lose
// packets. README.md lists the rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/endpoint_types.h"
#include "core/loss_detection/flight.h"
#include "util/rng.h"
#include "util/time.h"

namespace dlcp::core {

class PathSet {
 public:
  // `flight` counts the packets of each path.
  PathSet(const Flight& flight, std::uint64_t seed);

  struct Choice {
    wire::PathIndex path = 0;
    std::size_t packets_max = ~std::size_t{0};  // 1 on a path that is only being tried
  };
  // `packet_time` is the time per packet at the current rate. A repair takes one of the paths that
  // have delivered last, other packets one of the paths in `among` while one of these is healthy.
  enum class Cargo { kNew, kRepair };
  using Among = std::span<const wire::PathIndex>;
  Choice choose(Time now, Duration packet_time, Cargo cargo = Cargo::kNew, Among among = {});

  // The path of a probe: all paths in turn.
  std::uint8_t choose_for_probe();

  // The path has delivered `packets` packets, at least one, or has lost some of them.
  void on_delivered(wire::PathIndex path, std::uint64_t packets, Duration delay);
  // A probe on the path was answered: it works in both directions.
  void on_answered(wire::PathIndex path);
  // A packet sent at `sent_at` is lost. `overtaken`: the path has delivered a later packet, so a
  // full queue or a bad cable explains the loss.
  struct Suspicion {
    bool known = false;    // the path lost an earlier burst, too: not a sign of a full queue
    bool avoided = false;  // from now on
  };
  Suspicion on_lost(Time now, wire::PathIndex path, Time sent_at, Duration round_trip,
                    bool overtaken = false);

  std::size_t size() const { return paths_.size(); }
  // The caller fills in the association and the peer.
  PathState state(wire::PathIndex path) const;
  bool is_avoided(wire::PathIndex path) const { return paths_[path].avoided; }

 private:
  struct Path {
    Duration delay{0};              // 0: not known yet
    double loss = 0;                // smoothed share of packets lost
    std::uint32_t lost_in_row = 0;  // losses since the last delivery; above 0 it is doubted
    Time first_lost_sent_at{};
    bool avoided = false;  // doubted, after losses of several bursts
    Time try_again_at{};
    Duration pause{0};
  };

  double score(std::size_t index, Duration packet_time) const;
  std::optional<Choice> choose_to_try(Time now, Among among);
  std::size_t random_proven();
  std::size_t random_healthy(Among among = {});
  void restore(Path& path);

  const Flight& flight_;
  std::vector<Path> paths_;
  Duration typical_delay_{0};                // smoothed over all paths; used for unknown paths
  std::array<wire::PathIndex, 8> proven_{};  // the last to deliver, as a ring
  std::size_t reports_ = 0;
  std::size_t turn_ = 0;
  std::size_t avoided_ = 0;
  std::size_t doubted_ = 0;   // avoided ones included
  unsigned since_trial_ = 0;  // bursts
  Rng rng_;
};

}  // namespace dlcp::core
