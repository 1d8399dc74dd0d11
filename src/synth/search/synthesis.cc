#include "synth/search/synthesis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "synth/evaluate/simulate.h"
#include "synth/evaluate/step_profile.h"
#include "synth/evaluate/verify.h"
#include "synth/flow/packing.h"
#include "synth/search/candidates.h"
#include "synth/search/greedy.h"

namespace dlcp::synth {
namespace {

constexpr std::size_t kSimulated = 3;          // number of candidates, for each size
constexpr std::size_t kMessagesMax = 1 << 19;  // of a schedule that is simulated with slices
constexpr std::size_t kQuickMessages =
    1 << 15;  // up to which every size is simulated, not only the largest
constexpr double kGoodEnough =
    0.994;                           // of the bound: neither packed trees nor more slices are tried
constexpr int kGreedyPartsMax = 16;  // of a rank's share
constexpr double kCloseEnough = 0.99;  // no other candidate is tried
constexpr double kNever =
    std::numeric_limits<double>::infinity();  // of impossible or rejected schedules

struct Candidate {
  Recipe recipe;  // without slices
  std::size_t messages;
  StepProfile profile;

  // A lower estimate: perfect overlap of steps, or none, for any number of slices.
  double hope(double bytes) const {
    return std::min(profile.seconds(bytes),
                    profile.seconds(0) + 1.02 * profile.seconds_per_byte() * bytes);
  }
};

struct Choice {
  Recipe recipe;
  double seconds = kNever;
};

class Search {
 public:
  Search(const Topology& topology, Collective collective, const Wishes& wishes)
      : topology_(topology),
        collective_(collective),
        wishes_(wishes),
        routes_(topology),
        bound_(bound_of(topology, collective)) {}

  const Bound& bound() const { return bound_; }
  const Routes& routes() const { return routes_; }
  bool empty() const { return candidates_.empty(); }

  void add(Recipe recipe) {
    auto schedule = expand(recipe, collective_, topology_.ranks());
    if (!schedule || !fits(schedule.value(), routes_)) return;
    StepProfile profile(topology_, routes_, schedule.value());
    candidates_.push_back({std::move(recipe), schedule->messages.size(), std::move(profile)});
  }

  void add_all(double largest) {
    add_regular();
    if (topology_.ranks() < 2) return;
    if (collective_ == Collective::kAllReduce) {
      if (auto recipe = weighted_direct(topology_, routes_)) add(std::move(*recipe));
    }
    if (empty()) return add_packed();
    // Other paths between the same pairs could only spread the load more evenly.
    if (collective_ == Collective::kAllToAll && spreads_evenly()) return;
    if (best(largest, true).seconds * kGoodEnough > bound_.seconds(largest)) add_packed();
  }

  // Whether a candidate loads every link at most as much as the bound requires.
  bool spreads_evenly() const {
    return std::any_of(
        candidates_.begin(), candidates_.end(),
        [&](const Candidate& candidate) {
          return candidate.profile.seconds_per_byte() * bound_.rate * kGoodEnough <= 1;
        });
  }

  void add_regular() {
    for (Recipe& recipe : regular_candidates(topology_, routes_, collective_)) {
      wishes_.progress(recipe.name);
      add(std::move(recipe));
    }
  }

  void add_packed() {
    const int n = topology_.ranks();
    const int most = collective_ == Collective::kAllReduce  ? 256
                     : collective_ == Collective::kAllToAll ? 4
                                                            : 32;
    // Limits the size of all trees together, so that the schedule can be simulated quickly.
    const int room =
        collective_ == Collective::kAllReduce ? (1 << 18) / (2 * n) : (1 << 17) / (n * n);
    const int parts = std::clamp(room, 1, most);
    for (const int few : {std::max(parts / 8, 1), parts}) {
      wishes_.progress(fmt::format("packing {} {}", few, few == 1 ? "part" : "parts"));
      if (auto recipe = pack(topology_, routes_, collective_, bound_, few)) add(std::move(*recipe));
      if (parts == 1) break;
    }
  }

  // Simulated for this size, with the best number of slices.
  Choice best(double bytes, bool thorough) {
    std::vector<std::size_t> order(candidates_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return candidates_[a].hope(bytes) < candidates_[b].hope(bytes);
    });
    Choice best;
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < order.size() && accepted < kSimulated; i++) {
      const Candidate& candidate = candidates_[order[i]];
      if (!thorough && candidate.messages > kQuickMessages) {
        accepted++;
        if (candidate.profile.seconds(bytes) < best.seconds)
          best = {candidate.recipe, candidate.profile.seconds(bytes)};
        continue;
      }
      wishes_.progress(fmt::format("simulating {}", candidate.recipe.name));
      auto [known, fresh] = simulated_.try_emplace({order[i], bytes});
      if (fresh) known->second = in_slices(candidate, bytes);
      const Choice& choice = known->second;
      accepted += choice.seconds < kNever;
      if (choice.seconds < best.seconds) best = choice;
      if (best.seconds * kCloseEnough <= bound_.seconds(bytes)) break;
    }
    return best;
  }

  // A schedule made for exactly this size, if it is faster than `known`.
  Choice or_greedy(Choice known, double bytes) const {
    for (int parts = 1; parts <= kGreedyPartsMax; parts *= 2) {
      if (known.seconds * kCloseEnough <= bound_.seconds(bytes)) break;
      auto recipe = greedy(topology_, routes_, collective_, bytes, parts);
      if (!recipe) break;
      wishes_.progress("simulating " + recipe->name);
      const double seconds = simulated(*recipe, bytes);
      if (seconds < known.seconds) known = {std::move(*recipe), seconds};
    }
    return known;
  }

  double simulated(const Recipe& recipe, double bytes) const {
    const auto schedule = expand(recipe, collective_, topology_.ranks());
    if (!schedule || !fits(schedule.value(), routes_) || !wishes_.accepts(schedule.value()))
      return kNever;
    return simulate(topology_, routes_, schedule.value(), bytes).seconds;
  }

  Choice in_slices(const Candidate& candidate, double bytes) const {
    Choice best;
    for (int slices = 1; slices <= 64; slices *= 4) {
      if (slices > 1 && candidate.messages * static_cast<std::size_t>(slices) > kMessagesMax) break;
      Recipe recipe = candidate.recipe;
      recipe.slices = slices;
      const double seconds = simulated(recipe, bytes);
      if (seconds >= best.seconds) break;
      best = {std::move(recipe), seconds};
      if (seconds * kGoodEnough <= bound_.seconds(bytes)) break;
    }
    return best;
  }

 private:
  const Topology& topology_;
  Collective collective_;
  const Wishes& wishes_;
  Routes routes_;
  Bound bound_;
  std::vector<Candidate> candidates_;
  std::map<std::pair<std::size_t, double>, Choice> simulated_;  // by candidate and size
};

// The time of NCCL's algorithm in the input's order of ranks.
double baseline(const Search& search, Recipe recipe, double bytes) {
  recipe.slices = 1;
  const double whole = search.simulated(recipe, bytes);
  if (recipe.family != Family::kTrees) return whole;
  double best = whole;
  for (const int slices : {4, 16, 64}) {
    recipe.slices = slices;
    best = std::min(best, search.simulated(recipe, bytes));
  }
  return best;
}

void append(Plan& plan, const Choice& choice, double bytes, double up_to) {
  if (!plan.brackets.empty()) {
    Bracket& last = plan.brackets.back();
    if (last.recipe == choice.recipe) {
      last.up_to = up_to;
      last.at = bytes;
      last.seconds = choice.seconds;
      return;
    }
  }
  plan.brackets.push_back({up_to, choice.recipe, choice.seconds, bytes});
}

void prove(Synthesis& synthesis, const Routes& routes) {
  synthesis.verified = true;
  synthesis.ranks_taking_part = synthesis.plan.ranks;
  for (const Bracket& bracket : synthesis.plan.brackets) {
    Recipe recipe = bracket.recipe;
    recipe.slices = 1;  // slices are independent copies
    const auto schedule = expand(recipe, synthesis.plan.collective, synthesis.plan.ranks);
    const Verdict verdict =
        schedule ? verify(schedule.value(), &routes) : Verdict{false, schedule.error().what, 0};
    synthesis.verified = synthesis.verified && verdict.correct;
    if (!verdict.correct && synthesis.fault.empty())
      synthesis.fault = bracket.recipe.name + ": " + verdict.why;
    synthesis.ranks_taking_part = std::min(synthesis.ranks_taking_part, verdict.ranks_taking_part);
  }
}

}  // namespace

Result<Synthesis> synthesise(const Topology& topology, Collective collective,
                             const std::vector<double>& sizes, const Wishes& wishes) {
  wishes.progress("bound");
  const Algorithms algorithms = wishes.algorithms;
  Search search(topology, collective, wishes);
  Synthesis out;
  out.bound = search.bound();
  out.plan.topology = topology.name;
  out.plan.collective = collective;
  out.plan.ranks = topology.ranks();
  for (int rank = 0; rank < topology.ranks(); rank++)
    out.plan.rank_names.push_back(topology.rank_name(rank));
  if (topology.ranks() > 1) out.plan.bound_rate = out.bound.rate;
  std::vector<int> given(static_cast<std::size_t>(topology.ranks()));
  std::iota(given.begin(), given.end(), 0);
  if (algorithms == Algorithms::kNcclRing) search.add(nccl_ring(given));
  if (algorithms == Algorithms::kNcclTree) search.add(nccl_tree(given));
  if (algorithms == Algorithms::kAll) search.add_all(sizes.back());
  if (search.empty())
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("this algorithm cannot perform {} on {}: two ranks that must "
                             "exchange data are connected only through other ranks",
                             name_of(collective), topology.name),
                 "omit --algorithm, or add links"};
  for (std::size_t i = 0; i < sizes.size(); i++) {
    const bool last = i + 1 == sizes.size();
    Choice choice = search.best(sizes[i], last);
    if (algorithms == Algorithms::kAll) choice = search.or_greedy(std::move(choice), sizes[i]);
    if (choice.seconds == kNever)
      return Error{ErrorCode::kInvalidUsage,
                   fmt::format("every {} on {} exceeds the size limit of plans",
                               name_of(collective), topology.name),
                   "plan for fewer ranks"};
    append(out.plan, choice, sizes[i], last ? 0 : std::floor(std::sqrt(sizes[i] * sizes[i + 1])));
    Outcome outcome{
        sizes[i], out.plan.brackets.size() - 1, choice.seconds, out.bound.seconds(sizes[i]), 0, 0};
    const auto known = [](double seconds) { return seconds < kNever ? seconds : 0; };
    if (collective != Collective::kAllToAll)
      outcome.ring_seconds = known(baseline(search, nccl_ring(given), sizes[i]));
    if (collective == Collective::kAllReduce)
      outcome.tree_seconds = known(baseline(search, nccl_tree(given), sizes[i]));
    out.outcomes.push_back(outcome);
  }
  wishes.progress("proof");
  prove(out, search.routes());
  return out;
}

}  // namespace dlcp::synth
