#include "synth/evaluate/waits.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace dlcp::synth {
namespace {

// The arrivals at one rank's copy of one chunk, up to the current step.
struct Arrivals {
  std::vector<std::uint32_t> before;   // of lower steps: dependencies of a message sent now
  std::vector<std::uint32_t> current;  // of `step`
  int step = -1;

  void advance(int to) {
    if (step >= to) return;
    before.insert(before.end(), current.begin(), current.end());
    current.clear();
    step = to;
  }
};

}  // namespace

Waits::Waits(const Schedule& schedule)
    : messages_(static_cast<std::uint32_t>(schedule.messages.size())) {
  waits_for_.resize(messages_);
  first_.resize(messages_, kNone);
  std::vector<std::uint32_t> by_step(messages_);
  std::iota(by_step.begin(), by_step.end(), 0);
  std::stable_sort(by_step.begin(), by_step.end(), [&](std::uint32_t a, std::uint32_t b) {
    return schedule.messages[a].step < schedule.messages[b].step;
  });
  std::unordered_map<std::uint64_t, Arrivals> copies;
  const auto copy_at = [&](int rank, int chunk) -> Arrivals& {
    return copies[static_cast<std::uint64_t>(rank) << 32 | static_cast<std::uint32_t>(chunk)];
  };
  std::vector<std::uint32_t> wanted;
  for (const std::uint32_t index : by_step) {
    const Message& m = schedule.messages[index];
    wanted.clear();
    schedule.each_chunk(m, [&](int chunk) {
      const auto found =
          copies.find(static_cast<std::uint64_t>(m.from) << 32 | static_cast<std::uint32_t>(chunk));
      if (found != copies.end()) {
        Arrivals& mine = found->second;
        mine.advance(m.step);
        if (mine.before.size() > 1) {
          const std::uint32_t gate = add_node();
          for (const std::uint32_t before : mine.before)
            add(before, gate);
          mine.before.assign(1, gate);
        }
        wanted.insert(wanted.end(), mine.before.begin(), mine.before.end());
      }
      Arrivals& theirs = copy_at(m.to, chunk);
      theirs.advance(m.step);
      theirs.current.push_back(index);
    });
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    for (const std::uint32_t before : wanted)
      add(before, index);
  }
}

std::uint32_t Waits::add_node() {
  waits_for_.push_back(0);
  first_.push_back(kNone);
  return static_cast<std::uint32_t>(waits_for_.size() - 1);
}

void Waits::add(std::uint32_t before, std::uint32_t after) {
  arcs_.push_back({after, first_[before]});
  first_[before] = static_cast<std::uint32_t>(arcs_.size() - 1);
  waits_for_[after]++;
}

std::optional<std::size_t> first_waiting(const Schedule& schedule) {
  Waits waits(schedule);
  std::unordered_map<std::uint64_t, std::uint32_t> last;
  for (std::uint32_t i = 0; i < schedule.messages.size(); i++) {
    const Message& m = schedule.messages[i];
    const auto [at, fresh] = last.try_emplace(
        static_cast<std::uint64_t>(m.from) << 32 | static_cast<std::uint32_t>(m.to), i);
    if (fresh) continue;
    waits.add(at->second, i);
    at->second = i;
  }
  std::vector<std::uint32_t> left(waits.size());
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < left.size(); i++) {
    left[i] = waits.count(i);
    if (left[i] == 0) open.push_back(i);
  }
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    waits.each_after(node, [&](std::uint32_t after) {
      if (--left[after] == 0) open.push_back(after);
    });
  }
  for (std::size_t i = 0; i < schedule.messages.size(); i++)
    if (left[i] > 0) return i;
  return std::nullopt;
}

}  // namespace dlcp::synth
