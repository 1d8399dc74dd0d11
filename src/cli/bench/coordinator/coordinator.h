// Supervises the ranks of one case: answers their exchanges, collects their results, detects ranks
// that died or are stuck, kills the one that --kill-rank names, and makes sure that every rank
// ends.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/bench/coordinator/local_ranks.h"
#include "cli/bench/rank/rank.h"
#include "cli/launch/rendezvous/frames.h"
#include "cli/launch/silence.h"

namespace dlcp::cli {

class Coordinator {
 public:
  // `lines`: the connections to the ranks, by rank; they outlive this object. `on_tick` is called
  // about ten times a second.
  Coordinator(const BenchCase& bench_case, std::vector<FrameReader>& lines, LocalRanks& local,
              SharedArea& shared, std::function<void()> on_tick);

  std::vector<RankResult> run();
  std::int64_t killed_at_ns() const { return killed_at_; }

 private:
  struct Peer {
    FrameReader& reader;
    std::string part;  // its part of the current exchange
    bool has_part = false;
    bool has_result = false;
    RankResult result;
  };

  void read(int rank);
  void answer_exchange();
  void note_end(int rank);
  void watch(std::int64_t now);
  void kill_as_asked(std::int64_t now);
  void stop_all(const std::string& why);
  bool complete() const;
  void fail_missing(ExitCode code, const std::string& what);

  const BenchCase& case_;
  LocalRanks& local_;
  SharedArea& shared_;
  std::function<void()> on_tick_;
  std::vector<Peer> peers_;
  std::int64_t stopping_at_ = 0;  // when the other ranks were told to stop
  std::int64_t failed_at_ = 0;    // when the first rank failed
  std::string first_failure_;
  std::int64_t started_at_ = 0;  // when the first exchange was complete: the ranks connect now
  std::int64_t killed_at_ = 0;
  Silence silence_;
};

}  // namespace dlcp::cli
