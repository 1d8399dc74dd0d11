#include "synth/evaluate/proven_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "synth/evaluate/verify.h"

namespace dlcp::synth {
namespace {

// The composition of each copy of a chunk, as a number that is equal only for equal sums in equal
// order.
class Origins {
 public:
  explicit Origins(const Schedule& schedule)
      : schedule_(schedule), chunks_(schedule.chunks.size()) {
    for (int rank = 0; rank < schedule.ranks; ++rank)
      for (std::size_t chunk = 0; chunk < chunks_; ++chunk)
        cells_.push_back({mix(0, static_cast<std::uint64_t>(rank) + 1), {}});
  }

  // All messages of a step carry the data before the step.
  void run(std::size_t first, std::size_t end) {
    std::vector<std::uint64_t> sent;
    for (std::size_t m = first; m < end; ++m) {
      const Message& message = schedule_.messages[m];
      schedule_.each_chunk(message,
                           [&](int chunk) { sent.push_back(settled(message.from, chunk)); });
    }
    std::size_t next = 0;
    for (std::size_t m = first; m < end; ++m) {
      const Message& message = schedule_.messages[m];
      schedule_.each_chunk(message, [&](int chunk) {
        if (message.reduce) {
          cell(message.to, chunk).added.push_back(sent[next++]);
        } else {
          settled(message.to, chunk);
          cell(message.to, chunk).value = sent[next++];
        }
      });
    }
  }

  bool alike() {
    for (int rank = 1; rank < schedule_.ranks; ++rank) {
      for (std::size_t chunk = 0; chunk < chunks_; ++chunk)
        if (settled(rank, static_cast<int>(chunk)) != settled(0, static_cast<int>(chunk)))
          return false;
    }
    return true;
  }

 private:
  struct Cell {
    std::uint64_t value = 0;
    std::vector<std::uint64_t> added;  // pending: consecutive arrivals are added together
  };

  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 29)) * 0x94d049bb133111ebu;
    return x ^ (x >> 32);
  }
  Cell& cell(int rank, int chunk) {
    return cells_[static_cast<std::size_t>(rank) * chunks_ + static_cast<std::size_t>(chunk)];
  }
  std::uint64_t settled(int rank, int chunk) {
    Cell& c = cell(rank, chunk);
    if (c.added.size() == 1) {
      c.value = mix(std::min(c.value, c.added[0]), std::max(c.value, c.added[0]));
    } else if (!c.added.empty()) {
      for (const std::uint64_t one : c.added)
        c.value = mix(c.value, one);
      c.value = mix(c.value, c.added.size());
    }
    c.added.clear();
    return c.value;
  }

  const Schedule& schedule_;
  std::size_t chunks_;
  std::vector<Cell> cells_;
};

}  // namespace

bool adds_alike(const Schedule& schedule) {
  Origins origins(schedule);
  const auto& messages = schedule.messages;
  for (std::size_t first = 0, end = 0; first < messages.size(); first = end) {
    while (end < messages.size() && messages[end].step == messages[first].step)
      ++end;
    origins.run(first, end);
  }
  return origins.alike();
}

Result<Schedule> proven_all_reduce(const Plan& plan, Recipe recipe) {
  const int slices = std::exchange(recipe.slices, 1);  // independent copies: one proves all
  auto once = expand(recipe, plan.collective, plan.ranks);
  if (!once) return once.error();
  once->sort_by_step();
  if (const auto verdict = verify(once.value()); !verdict.correct) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("the plan's '{}' is wrong: {}", recipe.name, verdict.why),
                 "create the plan again with dlcp synth"};
  }
  if (!adds_alike(once.value())) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("in the plan's '{}' ranks add in different orders, so that their "
                             "results could differ in some bits",
                             recipe.name),
                 "use a plan in which one rank adds each chunk for all, as those of dlcp synth"};
  }
  if (slices == 1) return once;
  recipe.slices = slices;
  auto schedule = expand(recipe, plan.collective, plan.ranks);
  if (schedule) schedule->sort_by_step();
  return schedule;
}

}  // namespace dlcp::synth
