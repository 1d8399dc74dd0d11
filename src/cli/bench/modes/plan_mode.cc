// plan: runs a collective that `dlcp synth` has planned and compares every element of the result.

#include <algorithm>

#include "cli/bench/modes/rounds.h"
#include "cli/data/reduce_data.h"
#include "cli/driver/plan/plan_rank.h"

namespace dlcp::cli {
namespace {

using synth::Collective;

class PlanRun final : public Round {
 public:
  explicit PlanRun(Session& session)
      : Round(session),
        s_(session),
        c_(session.bench_case),
        plan_(*session.bench_case.schedule),
        elements_(c_.size / sizeof(float)),
        sums_(plan_.collective == Collective::kAllReduce ||
              plan_.collective == Collective::kReduceScatter),
        data_({}, ReduceData::Values::kExactAlways, c_.seed, plan_.ranks),
        rank_(s_.net, comms(), plan_, s_.control.rank(), elements_) {}

  void prepare(std::uint64_t iteration) override {
    each_chunk([&](int chunk, std::size_t count, const synth::Chunk& of) {
      if (!rank_.holds(chunk)) return;
      std::fill_n(rank_.at(chunk), count * sizeof(float), std::byte{0xff});  // NaN
      if (of.source < 0 || of.source == me())
        data_.fill(me(), iteration, index_of(of), count, rank_.at(chunk));
    });
  }

  void check(std::uint64_t iteration) override {
    if (!c_.check) return;
    each_chunk([&](int chunk, std::size_t count, const synth::Chunk& of) {
      if (of.target >= 0 && of.target != me()) return;
      const std::size_t wrong = data_.count_wrong(iteration, index_of(of), count, rank_.at(chunk),
                                                  sums_ ? ReduceData::kAllRanks : of.source);
      s_.result.wrong += Mismatch{wrong * sizeof(float), wrong};
    });
  }

  void execute() override {
    rank_.restart();
    step_until([&] { return rank_.done(); }, [&] { return rank_.step(); });
  }

  void drain() override {
    step_until([&] { return rank_.drained(); }, [&] { return rank_.step(); });
  }

  std::uint64_t bytes_received() const override { return rank_.bytes_received(); }

 private:
  int me() const { return s_.control.rank(); }

  template <class Visit>
  void each_chunk(Visit visit) {
    for (std::size_t i = 0; i < plan_.chunks.size(); i++)
      visit(static_cast<int>(i), rank_.count(static_cast<int>(i)), plan_.chunks[i]);
  }

  PlanRank::Comms comms() {
    const auto n = static_cast<std::size_t>(s_.control.ranks());
    PlanRank::Comms comms{std::vector<void*>(n), std::vector<void*>(n)};
    for (Link& link : s_.links.all())
      if (link.sends(s_.control.rank()))
        comms.send[static_cast<std::size_t>(link.wire.destination)] = link.comm;
      else
        comms.recv[static_cast<std::size_t>(link.wire.source)] = link.comm;
    return comms;
  }

  // Index of the chunk's first element in the buffer of the rank that contributes it.
  std::size_t index_of(const synth::Chunk& chunk) const {
    const std::size_t begin = span_of(plan_, chunk, elements_).begin;
    if (plan_.collective != Collective::kAllToAll) return begin;
    return begin + static_cast<std::size_t>(chunk.target) *
                       (elements_ / static_cast<std::size_t>(plan_.ranks));
  }

  Session& s_;
  const BenchCase& c_;
  const synth::Schedule& plan_;
  std::size_t elements_;
  bool sums_;
  ReduceData data_;
  PlanRank rank_;
};

}  // namespace

void run_plan(Session& session) {
  PlanRun plan(session);
  run_rounds(session, plan);
}

}  // namespace dlcp::cli
