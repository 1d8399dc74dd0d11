// abort: fills the connections, lets some of it move, and then does what NCCL does when a
// communicator is aborted: deregisters and frees the memory with requests outstanding, closes,
// finalizes, unloads. For runs under AddressSanitizer; the outcome is that nothing touches the
// freed memory.
#include "cli/bench/clock.h"
#include "cli/bench/flow.h"
#include "cli/bench/rank.h"

namespace dlcp::cli {

void run_abort(Session& s) {
  BenchCase c = s.bench_case;
  c.check = false;
  std::vector<std::unique_ptr<SendFlow>> sends;
  std::vector<std::unique_ptr<RecvFlow>> recvs;
  for (Link& link : s.links.all()) {
    if (link.sends(s.control.rank())) {
      sends.push_back(std::make_unique<SendFlow>(s.net, link, c, nullptr));
      sends.back()->set_limit(kNoLimit);
    } else {
      recvs.push_back(std::make_unique<RecvFlow>(s.net, link, c, nullptr));
    }
  }
  s.control.barrier();
  // Ranks give up at different moments, as they do in an aborted job.
  const std::int64_t stop_at =
      now_ns() + 20'000'000 +
      static_cast<std::int64_t>(mix64(c.seed + 7u * static_cast<unsigned>(s.control.rank())) %
                                20'000'000);
  try {
    while (now_ns() < stop_at) {
      for (auto& flow : sends)
        flow->step(0);
      for (auto& flow : recvs)
        flow->step(0);
    }
  } catch (const BenchError&) {
    // The peer was first: that is part of it.
  }
  for (auto& flow : sends)
    s.result.messages += flow->posted();
  for (auto& flow : recvs)
    s.result.bytes += flow->received() * c.size;
  for (auto& flow : sends)
    flow->slots().release();
  for (auto& flow : recvs)
    flow->slots().release();
}

}  // namespace dlcp::cli
