// `dlcp exact` is valid for the process, also when no communicator exists for a while.
#include <string>

#include "catch.h"
#include "engine/live/live_file.h"
#include "nccl/plugin.h"
#include "ring_hop.h"

namespace {

using namespace dlcp::test;

// The number of this process's pages that it has changed.
int make_exact(bool exact) {
  int changed = 0;
  for (int file = 3; file < 256; ++file) {
    auto view = dlcp::engine::open_live_page("/proc/self/fd/" + std::to_string(file));
    if (!view) continue;
    view.value().make_exact(exact);
    ++changed;
  }
  return changed;
}

// Bytes lost in a ring all-reduce of four ranks.
std::size_t lost_by(RingHop& hop) {
  constexpr std::size_t kBytes = 256 << 10;
  HopRun run;
  run.bytes = run.posted_bytes = kBytes;
  run.chunk_bytes = 4 * kBytes;
  run.steps = 2 * 3 * 2;
  run.call.count = 4 * 2 * kBytes / sizeof(float);
  return total(hop.run(run));
}

}  // namespace

TEST_CASE("a process that was made exact stays so when all its communicators are made again") {
  set_environment({{"DLCP_LOSS_BUDGET", "0.2"},
                   {"DLCP_LOSS_SCOPE", "data-parallel"},
                   {"DLCP_ENCRYPT", GENERATE("off", "aes-gcm")},
                   {"NCCL_BUFFSIZE", "1048576"},
                   {"DLCP_MTU", "1500"},
                   {"DLCP_FAULT", "drop=0.05"}});
  {
    RingHop hop({});
    CHECK(lost_by(hop) > 0);
    REQUIRE(make_exact(true) > 0);
  }
  {
    RingHop hop({});
    CHECK(lost_by(hop) == 0);
  }
  REQUIRE(make_exact(false) > 0);
  RingHop hop({});
  CHECK(lost_by(hop) > 0);
}
