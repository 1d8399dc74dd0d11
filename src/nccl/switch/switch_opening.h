// The agreement of a group's ranks to use a switch: each reports whether it can reach the switch;
// then all send their hello; then each reports whether it has received the answer that all are
// present. The reports use the group's own connections, so all ranks decide alike and return the
// error of the first rank that fails.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/group/group.h"
#include "nccl/switch/switch_line.h"
#include "util/result.h"

namespace dlcp::nccl {

// The switches that this process uses. A switch serves one job at a time: the first packet of a
// communicator begins a job and ends the previous one. This also holds for the aggregator.
struct SwitchClaim {
  std::string name;
  std::uint64_t communicator = 0;  // NCCL's identifier; 0: unknown, unlike any other
  unsigned rank = 0;

  bool operator==(const SwitchClaim&) const = default;
};

class SwitchClaims {
 public:
  // Never destroyed, because NCCL's threads may outlive exit().
  static SwitchClaims& of_process();

  // False if another communicator of this process uses the switch.
  bool take(const SwitchClaim& claim);
  void give_back(const SwitchClaim& claim);

 private:
  std::mutex mutex_;
  std::vector<SwitchClaim> taken_;
};

// The report of one rank to the others.
struct SwitchCard {
  static constexpr std::size_t kBytes = 128;

  bool able = false;
  std::uint32_t slots = 0;  // upper limit for sums, of ranks that are able
  std::uint32_t word = 0;   // rank 0's identifies the job
  std::string why_not;      // truncated to the available space

  void write(std::span<std::byte, kBytes> to) const;
  static SwitchCard read(std::span<const std::byte, kBytes> from);
};

// Time limits.
struct SwitchTimes {
  Duration ranks{};    // for all ranks to report
  Duration opening{};  // for the switch to answer when all ranks send
  Duration peer{};     // for the switch to answer afterwards
};

class SwitchOpening {
 public:
  SwitchOpening(engine::Group& group, SwitchClaim wanted, unsigned ranks);
  ~SwitchOpening();
  SwitchOpening(const SwitchOpening&) = delete;
  SwitchOpening& operator=(const SwitchOpening&) = delete;

  // Blocks. Either all ranks get a line to the switch that has been greeted, or none does. A rank
  // that does not report in time fails the group. If it freezes during its last report and returns
  // at the time limit, it fails alone, and the group fails with the first call.
  Result<std::unique_ptr<SwitchLine>> run(const SwitchTimes& times);
  // The caller becomes responsible for giving back the claim of run().
  SwitchClaim keep_claim();

 private:
  Result<std::unique_ptr<SwitchLine>> reach();
  Status greet(SwitchLine& line, Duration patience);
  Result<std::vector<SwitchCard>> tell_all(const SwitchCard& card, Duration within);
  Status exchange(const collective::Call& call, Duration within);

  engine::Group& group_;
  const SwitchClaim claim_;
  const unsigned ranks_;
  const unsigned rank_;
  bool has_claim_ = false;
};

}  // namespace dlcp::nccl
