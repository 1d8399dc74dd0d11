#include "nccl/collective_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "synth/plan_file.h"
#include "synth/verify.h"

namespace dlcp::nccl {
namespace {

using synth::Message;
using synth::Schedule;

// What a copy of a chunk is made of, as a number that only equal sums in equal order have.
class Origins {
 public:
  explicit Origins(const Schedule& schedule)
      : schedule_(schedule), chunks_(schedule.chunks.size()) {
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
        cells_.push_back({mix(0, static_cast<std::uint64_t>(rank) + 1), {}});
      }
    }
  }

  // All messages of a step carry what was there before it.
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
      for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
        if (settled(rank, static_cast<int>(chunk)) != settled(0, static_cast<int>(chunk))) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  struct Cell {
    std::uint64_t value = 0;
    std::vector<std::uint64_t> added;  // not yet: what comes in a row is added at once
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
      for (const std::uint64_t one : c.added) {
        c.value = mix(c.value, one);
      }
      c.value = mix(c.value, c.added.size());
    }
    c.added.clear();
    return c.value;
  }

  const Schedule& schedule_;
  std::size_t chunks_;
  std::vector<Cell> cells_;
};

// What one rank does, in the order in which it does it: of each step what it sends comes first.
collective::PlannedSize part_of(const Schedule& schedule, int rank) {
  collective::PlannedSize part;
  part.units = static_cast<std::uint32_t>(schedule.units);
  for (const synth::Chunk& chunk : schedule.chunks) {
    part.chunks.push_back(
        {static_cast<std::uint32_t>(chunk.begin), static_cast<std::uint32_t>(chunk.units)});
  }
  std::vector<const Message*> mine;
  for (const Message& message : schedule.messages) {
    if (message.from == rank || message.to == rank) {
      mine.push_back(&message);
    }
  }
  std::ranges::stable_sort(mine, {}, [&](const Message* message) {
    return std::pair(message->step, message->to == rank);
  });
  for (const Message* message : mine) {
    const bool sends = message->from == rank;
    auto& made = part.messages.emplace_back();
    made.peer = static_cast<std::uint32_t>(sends ? message->to : message->from);
    made.sends = sends;
    made.adds = message->reduce;
    schedule.each_chunk(
        *message, [&](int chunk) { made.chunks.push_back(static_cast<std::uint32_t>(chunk)); });
  }
  return part;
}

Result<Schedule> proven(const synth::Plan& plan, synth::Recipe recipe) {
  const int slices = std::exchange(recipe.slices, 1);  // copies that share nothing: one proves all
  auto once = synth::expand(recipe, plan.collective, plan.ranks);
  if (!once) {
    return once.error();
  }
  once->sort_by_step();
  if (const auto verdict = synth::verify(once.value()); !verdict.correct) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("its '{}' is wrong: {}", recipe.name, verdict.why),
                 "make it again with dlcp synth"};
  }
  if (!adds_alike(once.value())) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("in its '{}' ranks add in different orders, so that their results "
                             "would differ in bits",
                             recipe.name),
                 "take a plan in which one rank adds a chunk for all, as dlcp synth makes them"};
  }
  if (slices == 1) {
    return once;
  }
  recipe.slices = slices;
  auto schedule = synth::expand(recipe, plan.collective, plan.ranks);
  if (schedule) {
    schedule->sort_by_step();
  }
  return schedule;
}

Error named(const std::string& path, const Error& error) {
  return {error.code, fmt::format("DLCP_PLAN = '{}': {}", path, error.what), error.hint};
}

Result<synth::Plan> read_for_all_reduce(const std::string& path, const std::string& text) {
  auto plan = synth::read_plan(text, path);
  if (!plan) {
    return Error{plan.error().code, "DLCP_PLAN: " + plan.error().what, plan.error().hint};
  }
  if (plan->collective != synth::Collective::kAllReduce) {
    return named(path, {ErrorCode::kInvalidUsage,
                        fmt::format("it is for {}", synth::name_of(plan->collective)),
                        "only all-reduces can go by a plan: dlcp synth --collective allreduce"});
  }
  return plan;
}

}  // namespace

bool adds_alike(const Schedule& schedule) {
  Origins origins(schedule);
  const auto& messages = schedule.messages;
  for (std::size_t first = 0, end = 0; first < messages.size(); first = end) {
    while (end < messages.size() && messages[end].step == messages[first].step) {
      ++end;
    }
    origins.run(first, end);
  }
  return origins.alike();
}

Status check_collective_plan(const std::string& path, const std::string& text) {
  const auto plan = read_for_all_reduce(path, text);
  return plan.ok() ? Status(Unit{}) : plan.error();
}

Result<CollectivePlan> collective_plan(const std::string& path, const std::string& text, int ranks,
                                       int rank) {
  auto plan = read_for_all_reduce(path, text);
  if (!plan) {
    return plan.error();
  }
  if (plan->ranks != ranks) {
    return named(path, {ErrorCode::kInvalidUsage,
                        fmt::format("it is for {} ranks, and the group has {}", plan->ranks, ranks),
                        "a group has a rank for each host; make a plan for these"});
  }
  CollectivePlan made;
  const std::string hash = synth::hash_of(plan.value());
  std::from_chars(hash.data(), hash.data() + hash.size(), made.hash, 16);
  made.hash = std::max(made.hash, std::uint64_t{1});
  for (const synth::Bracket& bracket : plan->brackets) {
    auto schedule = proven(plan.value(), bracket.recipe);
    if (!schedule) {
      return named(path, schedule.error());
    }
    made.sizes.push_back(part_of(schedule.value(), rank));
    made.sizes.back().bytes_max = bracket.up_to > 0 ? static_cast<std::size_t>(bracket.up_to)
                                                    : std::numeric_limits<std::size_t>::max();
  }
  return made;
}

}  // namespace dlcp::nccl
