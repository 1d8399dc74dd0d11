// A rank's connection to the coordinator: exchanges with all other ranks, barriers, the order to
// stop. Every wait ends with an answer, with an order to stop, or with the coordinator's exit.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/processes/shared_area.h"
#include "cli/launch/rendezvous/frames.h"

namespace dlcp::cli {

class Control {
 public:
  Control(int fd, int rank, int ranks, bool one_host, SharedArea& shared);

  // Returns what each rank passed, by rank.
  std::vector<std::string> exchange(const std::string& mine);
  void barrier();
  // A barrier that returns rank 0's `value` on every rank.
  std::uint64_t agree(std::uint64_t value);
  void send_result(const std::string& json);

  // Reports progress; throws BenchError if this rank was told to stop. Cheap enough for every 64th
  // poll, not for each.
  void alive(std::uint64_t bytes_received);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  SharedArea& shared() { return shared_; }

 private:
  [[noreturn]] void stop(const std::string& why);

  FrameReader reader_;
  int rank_;
  int ranks_;
  bool one_host_;
  SharedArea& shared_;
};

}  // namespace dlcp::cli
