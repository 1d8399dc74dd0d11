#include "nccl/plan/collective_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "synth/evaluate/proven_sum.h"
#include "synth/plan/plan_file.h"

namespace dlcp::nccl {
namespace {

using synth::Message;
using synth::Schedule;

// The operations of one rank in order: in each step, sends precede receives.
collective::PlannedSize part_of(const Schedule& schedule, int rank) {
  collective::PlannedSize part;
  part.units = static_cast<std::uint32_t>(schedule.units);
  for (const synth::Chunk& chunk : schedule.chunks) {
    part.chunks.push_back(
        {static_cast<std::uint32_t>(chunk.begin), static_cast<std::uint32_t>(chunk.units)});
  }
  std::vector<const Message*> mine;
  for (const Message& message : schedule.messages)
    if (message.from == rank || message.to == rank) mine.push_back(&message);
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

Error named(const std::string& path, const Error& error) {
  return {error.code, fmt::format("DLCP_PLAN = '{}': {}", path, error.what), error.hint};
}

Result<synth::Plan> read_for_all_reduce(const std::string& path, const std::string& text) {
  auto plan = synth::read_plan(text, path);
  if (!plan) return Error{plan.error().code, "DLCP_PLAN: " + plan.error().what, plan.error().hint};
  if (plan->collective != synth::Collective::kAllReduce) {
    return named(path, {ErrorCode::kInvalidUsage,
                        fmt::format("the plan is for {}", synth::name_of(plan->collective)),
                        "only all-reduces can use a plan: dlcp synth --collective allreduce"});
  }
  return plan;
}

}  // namespace

Status check_collective_plan(const std::string& path, const std::string& text) {
  const auto plan = read_for_all_reduce(path, text);
  return plan.ok() ? Status(Unit{}) : plan.error();
}

Result<CollectivePlan> collective_plan(const std::string& path, const std::string& text, int ranks,
                                       int rank) {
  auto plan = read_for_all_reduce(path, text);
  if (!plan) return plan.error();
  if (plan->ranks != ranks) {
    return named(path, {ErrorCode::kInvalidUsage,
                        fmt::format("the plan is for {} ranks, but the communicator has {}",
                                    plan->ranks, ranks),
                        "make a plan with one rank for each host of the communicator"});
  }
  CollectivePlan made;
  const std::string hash = synth::hash_of(plan.value());
  std::from_chars(hash.data(), hash.data() + hash.size(), made.hash, 16);
  made.hash = std::max(made.hash, std::uint64_t{1});
  for (const synth::Bracket& bracket : plan->brackets) {
    auto schedule = synth::proven_all_reduce(plan.value(), bracket.recipe);
    if (!schedule) return named(path, schedule.error());
    made.sizes.push_back(part_of(schedule.value(), rank));
    made.sizes.back().bytes_max = bracket.up_to > 0 ? static_cast<std::size_t>(bracket.up_to)
                                                    : std::numeric_limits<std::size_t>::max();
  }
  return made;
}

}  // namespace dlcp::nccl
