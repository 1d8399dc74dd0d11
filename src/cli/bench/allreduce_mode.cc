// allreduce: the same all-reduces, of any type and operation, over the ring or by what a CollNet
// plugin does with whole all-reduces (direct, by a switch). Input is made, and every element of the
// output compared with the reduction in rank order, while the clock is stopped.
#include <algorithm>
#include <utility>
#include <vector>

#include "cli/bench/collnet_group.h"
#include "cli/bench/collnet_reducer.h"
#include "cli/bench/own_switch.h"
#include "cli/bench/reduce_data.h"
#include "cli/bench/ring_layer.h"
#include "cli/bench/rounds.h"

namespace dlcp::cli {
namespace {

// Or nearly, as a switch adds.
bool in_rank_order(Algorithm algorithm) {
  return algorithm == Algorithm::kDirect || algorithm == Algorithm::kSwitch ||
         algorithm == Algorithm::kHub;
}

class AllReduceRounds final : public Round {
 public:
  AllReduceRounds(Session& session, AllReducer& reducer)
      : Round(session),
        s_(session),
        c_(session.bench_case),
        reducer_(reducer),
        // Rings and plans sum in orders of their own, direct exchange in the ranks'.
        data_(
            c_.reduction,
            in_rank_order(c_.algorithm) ? ReduceData::Values::kAny
                                        : ReduceData::Values::kExactAlways,
            c_.seed, c_.ranks,
            c_.loss_budget > 0 ? ReduceData::Magnitudes::kByPlace : ReduceData::Magnitudes::kAlike),
        count_(c_.size / c_.reduction.element_bytes()),
        input_(c_.size),
        output_(c_.size) {}

  void prepare(std::uint64_t iteration) override {
    data_.fill(s_.control.rank(), iteration, 0, count_, input_.data());
    std::ranges::fill(output_, std::byte{0xff});  // NaN; -1, which no sum of everybody's is
  }

  void execute() override {
    reducer_.restart();
    step_until([&] { return reducer_.done(); },
               [&] { return reducer_.step(input_.data(), output_.data()); });
  }

  void check(std::uint64_t iteration) override {
    if (!c_.check) return;
    ReduceLoss loss = data_.check(iteration, output_.data(), count_, may());
    if (c_.algorithm == Algorithm::kRing) {
      const std::uint64_t lost = reducer_.contributions_lost();
      loss.lost = lost - std::exchange(lost_before_, lost);
    }
    s_.result.losses.push_back(loss);
  }

  std::uint64_t bytes_received() const override { return reducer_.bytes_received(); }

 private:
  // What a ring lacks its ranks count as it arrives.
  ReduceData::May may() const {
    if (sums_by_switch(c_)) return ReduceData::May::kRound;
    return c_.loss_budget > 0 && in_rank_order(c_.algorithm) ? ReduceData::May::kLack
                                                             : ReduceData::May::kExact;
  }

  Session& s_;
  const BenchCase& c_;
  AllReducer& reducer_;
  ReduceData data_;
  std::size_t count_;
  std::uint64_t lost_before_ = 0;
  std::vector<std::byte> input_;
  std::vector<std::byte> output_;
};

void run(Session& session, AllReducer& reducer) {
  AllReduceRounds rounds(session, reducer);
  run_rounds(session, rounds);
}

void run_direct(Session& session) {
  const BenchCase& c = session.bench_case;
  CollNetGroup group(*session.collnet, session.control, session.links.first_device());
  session.result.connect_seconds = group.connect_seconds();
  int supported = 0;
  require(session.collnet->reduce_support(static_cast<int>(c.reduction.type),
                                          static_cast<int>(c.reduction.op), supported),
          "reduceSupport");
  if (supported == 0)
    throw BenchError(ExitCode::kUsage, "the plugin does not reduce this --type by this --op");
  {
    CollNetReducer reducer(group.plugin(), group.comm(), c.reduction, c.size, c.channels, c.ranks,
                           session.nccl);
    run(session, reducer);
    session.result.wrong += Mismatch{reducer.overruns(), 0};
  }
  group.close();
}

}  // namespace

void run_all_reduce(Session& session) {
  const BenchCase& c = session.bench_case;
  if (by_collnet(c.algorithm)) return run_direct(session);
  RingLayer ring(session, 0, c.size / c.reduction.element_bytes(), c.reduction);
  run(session, ring);
}

}  // namespace dlcp::cli
