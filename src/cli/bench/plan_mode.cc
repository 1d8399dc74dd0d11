// plan: runs a collective that `dlcp synth` has planned, and compares every element of the result.

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/bench/contribution.h"
#include "cli/bench/plan_rank.h"
#include "cli/bench/reduce.h"
#include "cli/bench/rounds.h"

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
        rank_(s_.net, comms(), plan_, s_.control.rank(), elements_) {
    for (std::size_t chunk = 0; chunk < plan_.chunks.size(); chunk++)
      add_chunk(static_cast<int>(chunk));
  }

  void prepare(std::uint64_t iteration) override {
    for (std::size_t chunk = 0; chunk < plan_.chunks.size(); chunk++) {
      const int index = static_cast<int>(chunk);
      if (rank_.holds(index))
        std::fill_n(rank_.at(index), rank_.count(index), std::numeric_limits<float>::quiet_NaN());
    }
    for (const Values& input : inputs_) {
      float* to = rank_.at(input.chunk);
      for (std::size_t i = 0; i < input.floats.size(); i++)
        to[i] = input.floats[i] + iteration_offset(iteration);
    }
  }

  void check(std::uint64_t iteration) override {
    if (!c_.check) return;
    const float offset = iteration_offset(iteration) * static_cast<float>(sums_ ? plan_.ranks : 1);
    for (const Values& output : outputs_) {
      const std::size_t wrong =
          count_unequal(rank_.at(output.chunk), output.floats.data(), offset, output.floats.size());
      s_.result.wrong += Mismatch{wrong * sizeof(float), wrong};
    }
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
  struct Values {  // of one chunk, without the iteration's offset
    int chunk;
    std::vector<float> floats;
  };

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

  // Where in its contributor's buffer the chunk begins.
  std::size_t index_of(const synth::Chunk& chunk) const {
    const std::size_t begin = span_of(plan_, chunk, elements_).begin;
    if (plan_.collective != Collective::kAllToAll) return begin;
    return begin + static_cast<std::size_t>(chunk.target) *
                       (elements_ / static_cast<std::size_t>(plan_.ranks));
  }

  void add_chunk(int index) {
    const int me = s_.control.rank();
    const synth::Chunk& chunk = plan_.chunks[static_cast<std::size_t>(index)];
    const std::size_t begin = index_of(chunk), count = rank_.count(index);
    const auto values = [&](int first, int last) {
      std::vector<float> floats(count);
      for (int rank = first; rank <= last; rank++) {
        const auto part = contribution(c_.seed, rank, begin, count);
        for (std::size_t i = 0; i < count; i++)
          floats[i] += static_cast<float>(part[i]);
      }
      return floats;
    };
    if (chunk.source < 0 || chunk.source == me) inputs_.push_back({index, values(me, me)});
    if (chunk.target >= 0 && chunk.target != me) return;
    outputs_.push_back(
        {index, sums_ ? values(0, plan_.ranks - 1) : values(chunk.source, chunk.source)});
  }

  Session& s_;
  const BenchCase& c_;
  const synth::Schedule& plan_;
  std::size_t elements_;
  bool sums_;
  PlanRank rank_;
  std::vector<Values> inputs_;   // what this rank begins with
  std::vector<Values> outputs_;  // what it must end with
};

}  // namespace

void run_plan(Session& session) {
  PlanRun plan(session);
  run_rounds(session, plan);
}

}  // namespace dlcp::cli
