// How the ranks of a group agree to use a switch: each says whether it can reach it at all; then
// all greet it; then each says whether it has heard that all are there. What is said goes over the
// group's own connections, so that all decide alike, and in the words of the first rank that
// cannot.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engine/group.h"
#include "nccl/switch_line.h"
#include "util/result.h"

namespace dlcp::nccl {

// What this process uses of switches. One job at a time: to a switch, as to its stand-in, a
// communicator's first packet begins a job and ends the one before.
class SwitchClaims {
 public:
  // Never destroyed: NCCL's threads may outlive exit.
  static SwitchClaims& of_process();

  bool take(const std::string& name);  // false: another communicator has it
  void give_back(const std::string& name);

 private:
  std::mutex mutex_;
  std::set<std::string> taken_;
};

// What one rank tells the others.
struct SwitchCard {
  static constexpr std::size_t kBytes = 128;

  bool able = false;
  std::uint32_t slots = 0;  // at most, of sums; of those that are able
  std::uint32_t word = 0;   // rank 0's names the job
  std::string why_not;      // cut to what there is room for

  void write(std::span<std::byte, kBytes> to) const;
  static SwitchCard read(std::span<const std::byte, kBytes> from);
};

class SwitchOpening {
 public:
  SwitchOpening(engine::Group& group, std::string name, unsigned ranks, unsigned rank);
  ~SwitchOpening();
  SwitchOpening(const SwitchOpening&) = delete;
  SwitchOpening& operator=(const SwitchOpening&) = delete;

  // Blocks. `patience`: with the switch. A line that has been greeted, on all ranks or on none.
  Result<std::unique_ptr<SwitchLine>> run(Duration patience, Duration peer_timeout);
  // What run() has taken of the process's claims is the caller's to give back now.
  std::string keep_claim();

 private:
  Result<std::unique_ptr<SwitchLine>> reach();
  Status greet(SwitchLine& line, Duration patience);
  Result<std::vector<SwitchCard>> tell_all(const SwitchCard& card);

  engine::Group& group_;
  const std::string name_;
  const unsigned ranks_;
  const unsigned rank_;
  std::string claim_;  // empty: none
};

}  // namespace dlcp::nccl
