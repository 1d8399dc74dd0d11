// A rank's line to the coordinator: exchanges with all other ranks, barriers, the order to stop.
// Every wait here ends: by an answer, by an order to stop, or by the coordinator's end.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/shared_area.h"
#include "cli/launch/frames.h"

namespace dlcp::cli {

class Control {
 public:
  Control(int fd, int rank, int ranks, bool one_host, SharedArea& shared);

  // Everyone's part, by rank.
  std::vector<std::string> exchange(const std::string& mine);
  void barrier();
  // A barrier at which everyone learns rank 0's `value`.
  std::uint64_t agree(std::uint64_t value);
  void send_result(const std::string& json);

  // Notes that this rank got somewhere; throws if it was told to stop. Cheap, but not for each
  // poll.
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
