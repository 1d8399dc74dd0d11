#include "synth/plan/exchange.h"

#include <map>

namespace dlcp::synth {
namespace {

// Places as digits, with chunks numbered so that the first digit is the most significant: ranks
// that agree in the first digits then own one contiguous range.
class Places {
 public:
  Places(std::span<const int> order, std::span<const Level> levels)
      : order_(order), levels_(levels) {
    int stride = 1;
    for (const Level& level : levels) {
      strides_.push_back(stride);
      stride *= level.radix;
    }
  }
  int count() const { return static_cast<int>(order_.size()); }
  int rank_at(int place) const { return order_[static_cast<std::size_t>(place)]; }
  int digit(int place, std::size_t level) const {
    return place / strides_[level] % levels_[level].radix;
  }
  int with_digit(int place, std::size_t level, int digit_wanted) const {
    return place + (digit_wanted - digit(place, level)) * strides_[level];
  }
  // The number of the chunk that `place` owns.
  int chunk_of(int place) const {
    int chunk = 0;
    for (std::size_t level = 0; level < levels_.size(); level++)
      chunk = chunk * levels_[level].radix + digit(place, level);
    return chunk;
  }
  // Chunks of the places that agree with `place` in the first `agree` digits.
  Range chunks_like(int place, std::size_t agree) const {
    int below = 1;
    for (std::size_t level = agree; level < levels_.size(); level++)
      below *= levels_[level].radix;
    return {chunk_of(place) / below * below, below};
  }

 private:
  std::span<const int> order_;
  std::span<const Level> levels_;
  std::vector<int> strides_;
};

Schedule empty(Collective collective, int ranks) {
  Schedule schedule;
  schedule.collective = collective;
  schedule.ranks = ranks;
  schedule.units = collective == Collective::kAllToAll ? 1 : ranks;
  return schedule;
}

int wrapped(int value, int radix) {
  return (value % radix + radix) % radix;
}

}  // namespace

Schedule gather_by_levels(std::span<const int> order, std::span<const Level> levels) {
  const Places places(order, levels);
  Schedule schedule = empty(Collective::kAllGather, places.count());
  schedule.chunks.resize(order.size());
  for (int place = 0; place < places.count(); place++) {
    const int owner = places.rank_at(place);
    schedule.chunks[static_cast<std::size_t>(places.chunk_of(place))] = {owner, 1, owner, -1};
  }
  // Begins with the last level, where a place has one chunk; each level multiplies the chunks by
  // its radix.
  int step = 0;
  for (std::size_t level = levels.size(); level-- > 0;) {
    const int radix = levels[level].radix;
    for (int round = 1; round < radix; round++) {
      for (int place = 0; place < places.count(); place++) {
        const int digit = places.digit(place, level);
        const int to = places.with_digit(place, level,
                                         wrapped(digit + (levels[level].ring ? 1 : round), radix));
        const int like = levels[level].ring
                             ? places.with_digit(place, level, wrapped(digit - round + 1, radix))
                             : place;
        schedule.add(step, places.rank_at(place), places.rank_at(to), false,
                     places.chunks_like(like, level + 1));
      }
      if (levels[level].ring) step++;
    }
    if (!levels[level].ring && radix > 1) step++;
  }
  return schedule;
}

Schedule all_to_all_by_levels(std::span<const int> order, std::span<const Level> levels) {
  const Places places(order, levels);
  const int n = places.count();
  Schedule schedule = empty(Collective::kAllToAll, n);
  // By level: rounds by distance in the digit, so that no rank receives from two ranks at a time.
  struct Parcel {
    int from = 0;
    int to = 0;
    std::vector<Range> chunks;
  };
  std::vector<std::map<std::pair<int, int>, Parcel>> parcels(levels.size());
  for (int from = 0; from < n; from++) {
    for (int to = 0; to < n; to++) {
      if (from == to) continue;
      const int chunk = static_cast<int>(schedule.chunks.size());
      schedule.chunks.push_back({0, 1, places.rank_at(from), places.rank_at(to)});
      int at = from;
      for (std::size_t level = 0; level < levels.size(); level++) {
        const int next = places.with_digit(at, level, places.digit(to, level));
        if (next == at) continue;
        const int distance =
            wrapped(places.digit(next, level) - places.digit(at, level), levels[level].radix);
        Parcel& parcel = parcels[level][{distance, at}];
        parcel.from = places.rank_at(at);
        parcel.to = places.rank_at(next);
        parcel.chunks.push_back({chunk, 1});
        at = next;
      }
    }
  }
  for (std::size_t level = 0; level < levels.size(); level++)
    for (const auto& [key, parcel] : parcels[level])
      schedule.add(static_cast<int>(level), parcel.from, parcel.to, false, parcel.chunks);
  return schedule;
}

Schedule all_reduce_by_doubling(std::span<const int> order) {
  const int n = static_cast<int>(order.size());
  Schedule schedule = empty(Collective::kAllReduce, n);
  schedule.units = 1;
  schedule.chunks = {{0, 1, -1, -1}};
  int step = 0;
  for (int distance = 1; distance < n; distance *= 2, step++) {
    for (int place = 0; place < n; place++)
      schedule.add(step, order[static_cast<std::size_t>(place)],
                   order[static_cast<std::size_t>(place ^ distance)], true, Range{0, 1});
  }
  return schedule;
}

}  // namespace dlcp::synth
