#include "synth/plan/schedule.h"

#include <algorithm>

namespace dlcp::synth {

void Schedule::add(int step, int from, int to, bool reduce, std::span<const Range> ranges) {
  Message message{step, from, to, reduce, static_cast<std::uint32_t>(range_pool.size()), 0};
  for (const Range& range : ranges) {
    const bool continues =
        message.ranges > 0 && range_pool.back().first + range_pool.back().count == range.first;
    if (continues) {
      range_pool.back().count += range.count;
    } else {
      range_pool.push_back(range);
      message.ranges++;
    }
  }
  messages.push_back(message);
}

int Schedule::steps() const {
  int steps = 0;
  for (const Message& message : messages)
    steps = std::max(steps, message.step + 1);
  return steps;
}

std::int64_t Schedule::units_of(const Message& message) const {
  std::int64_t sum = 0;
  each_chunk(message, [&](int chunk) { sum += chunks[static_cast<std::size_t>(chunk)].units; });
  return sum;
}

double Schedule::share_of(const Message& message) const {
  const double whole =
      static_cast<double>(units) * (collective == Collective::kAllToAll ? ranks : 1);
  return static_cast<double>(units_of(message)) / whole;
}

void Schedule::sort_by_step() {
  std::stable_sort(
      messages.begin(), messages.end(),
      [](const Message& a, const Message& b) { return a.step < b.step; });
}

Schedule reversed(const Schedule& gather) {
  Schedule back = gather;
  back.collective = Collective::kReduceScatter;
  const int last = gather.steps() - 1;
  for (Chunk& chunk : back.chunks)
    std::swap(chunk.source, chunk.target);
  std::reverse(back.messages.begin(), back.messages.end());
  for (Message& message : back.messages) {
    std::swap(message.from, message.to);
    message.step = last - message.step;
    message.reduce = true;
  }
  back.sort_by_step();
  return back;
}

Schedule all_reduce_of(const Schedule& reduce, const Schedule& gather) {
  Schedule both = reduce;
  both.collective = Collective::kAllReduce;
  const int offset = reduce.steps();
  for (Chunk& chunk : both.chunks)
    chunk.source = chunk.target = -1;
  both.messages.reserve(reduce.messages.size() + gather.messages.size());
  for (const Message& message : gather.messages)
    both.add(message.step + offset, message.from, message.to, false, gather.ranges(message));
  return both;
}

Schedule sliced(const Schedule& schedule, int slices) {
  if (slices <= 1) return schedule;
  Schedule out;
  out.collective = schedule.collective;
  out.ranks = schedule.ranks;
  out.units = schedule.units * slices;
  const int chunks = static_cast<int>(schedule.chunks.size());
  for (int slice = 0; slice < slices; slice++) {
    for (const Chunk& chunk : schedule.chunks)
      out.chunks.push_back(
          {chunk.begin * slices + slice * chunk.units, chunk.units, chunk.source, chunk.target});
  }
  std::vector<Range> moved;
  for (int slice = 0; slice < slices; slice++) {
    for (const Message& message : schedule.messages) {
      moved.clear();
      for (const Range& range : schedule.ranges(message))
        moved.push_back({range.first + slice * chunks, range.count});
      out.add(message.step + slice, message.from, message.to, message.reduce, moved);
    }
  }
  out.sort_by_step();
  return out;
}

}  // namespace dlcp::synth
