#include "synth/output/mscclpp_blocks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace dlcp::synth {
namespace {

// The part of a message for one chunk: its place at the sender, and the place where it is written.
struct Piece {
  int chunk = 0;
  bool reduce = false;
  MscclppSpan from;
  MscclppSpan to;
};

// The operation on the pieces of one chunk, or of adjacent chunks, that arrive in one step.
struct Sum {
  std::vector<MscclppSpan> from;
  MscclppSpan to;
};

bool continues(const MscclppSpan& a, const MscclppSpan& b) {
  return a.buffer == b.buffer && a.begin + a.units == b.begin;
}

bool continues(const Sum& a, const Sum& b) {
  if (a.from.size() != b.from.size() || !continues(a.to, b.to)) return false;
  for (std::size_t i = 0; i < a.from.size(); i++)
    if (!continues(a.from[i], b.from[i])) return false;
  return true;
}

// Chunks are independent, so each thread block handles separate chunks on all GPUs, with its own
// channel to each peer: blocks of one GPU never wait for each other.
class BlockMaker {
 public:
  // Allocates scratch memory from `scratch`, by rank.
  BlockMaker(const Schedule& schedule, int box, int first, int end, std::vector<int>& scratch)
      : s_(schedule), first_(first), end_(end), scratch_(scratch) {
    for (int rank = 0; rank < s_.ranks; rank++) {
      blocks_.emplace_back(rank, box);
      for (int chunk = first; chunk < end; chunk++)
        held_.push_back(home(rank, chunk, false));
    }
    causes_.resize(held_.size());
    sent_.resize(held_.size());
  }

  std::optional<std::vector<MscclppBlock>> run() {
    std::map<int, std::vector<const Message*>> by_step;
    for (const Message& m : s_.messages)
      if (carries(m)) by_step[m.step].push_back(&m);
    greet(by_step);
    for (const auto& [step, messages] : by_step) {
      run_step(messages);
      if (!fits()) return std::nullopt;
    }
    if (first_ == 0) keep_own();
    if (!fits()) return std::nullopt;
    return std::move(blocks_);
  }

 private:
  using Ids = std::vector<std::uint32_t>;  // of sent messages, ascending

  bool fits() const {
    return std::all_of(
        blocks_.begin(), blocks_.end(), [](const MscclppBlock& block) { return block.fits(); });
  }
  std::size_t at(int rank, int chunk) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(end_ - first_) +
           static_cast<std::size_t>(chunk - first_);
  }
  const Chunk& chunk(int index) const { return s_.chunks[static_cast<std::size_t>(index)]; }
  MscclppBlock& block(int rank) { return blocks_[static_cast<std::size_t>(rank)]; }
  template <class Visit>
  void each_chunk(const Message& m, Visit visit) const {
    for (const Range& range : s_.ranges(m)) {
      const int end = std::min(range.first + range.count, end_);
      for (int c = std::max(range.first, first_); c < end; c++)
        visit(c);
    }
  }
  bool carries(const Message& m) const {
    const auto ranges = s_.ranges(m);
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
      return range.first < end_ && range.first + range.count > first_;
    });
  }

  // The place of a chunk at the beginning, or the place of its result; `units` is 0 if the chunk
  // has no such place.
  MscclppSpan home(int rank, int index, bool result) const {
    const Chunk& c = chunk(index);
    switch (s_.collective) {
      case Collective::kAllReduce:
        return {'i', c.begin, c.units};
      case Collective::kAllGather:
        return {'o', c.begin, result || c.source == rank ? c.units : 0};
      case Collective::kReduceScatter:
        if (!result) return {'i', c.begin, c.units};
        return {'o', c.begin - c.target * (s_.units / s_.ranks), c.target == rank ? c.units : 0};
      case Collective::kAllToAll:
        break;
    }
    if (!result) return {'i', c.target * s_.units + c.begin, c.source == rank ? c.units : 0};
    return {'o', c.source * s_.units + c.begin, c.target == rank ? c.units : 0};
  }

  MscclppSpan fresh(int rank, int units) {
    int& next = scratch_[static_cast<std::size_t>(rank)];
    next += units;
    return {'s', next - units, units};
  }

  // No rank writes to a peer before the peer's kernel has begun, which releases its buffers.
  void greet(const std::map<int, std::vector<const Message*>>& by_step) {
    std::vector<std::set<int>> to(blocks_.size()), from(blocks_.size());
    for (const auto& [step, messages] : by_step) {
      for (const Message* m : messages) {
        to[static_cast<std::size_t>(m->from)].insert(m->to);
        from[static_cast<std::size_t>(m->to)].insert(m->from);
      }
    }
    for (std::size_t rank = 0; rank < blocks_.size(); rank++) {
      blocks_[rank].signal({from[rank].begin(), from[rank].end()});
      blocks_[rank].wait({to[rank].begin(), to[rank].end()});
    }
  }

  // Copies each rank's own data to its output.
  void keep_own() {
    const bool moves = s_.collective == Collective::kAllToAll ||
                       (s_.collective == Collective::kReduceScatter && s_.ranks == 1);
    for (int rank = 0; moves && rank < s_.ranks; rank++)
      block(rank).sum({{'i', rank * s_.units, s_.units}}, {'o', rank * s_.units, s_.units});
  }

  // All messages of a step are sent from the data before the step.
  void run_step(const std::vector<const Message*>& messages) {
    const std::uint32_t first_id = ids_;
    for (const Message* m : messages) {
      each_chunk(*m, [&](int c) { sent_[at(m->from, c)].push_back(ids_); });
      ids_++;
    }
    std::vector<std::vector<MscclppPut>> puts(blocks_.size());
    std::vector<MscclppBlock::Peers> senders(blocks_.size());
    std::vector<std::vector<Piece>> arriving(blocks_.size());
    std::vector<std::pair<std::size_t, Ids>> learnt;
    for (std::size_t i = 0; i < messages.size(); i++) {
      const Message& m = *messages[i];
      auto& mine = puts[static_cast<std::size_t>(m.from)];
      const std::size_t begin = mine.size();
      each_chunk(m, [&](int c) {
        const Piece piece = piece_of(m, c);
        arriving[static_cast<std::size_t>(m.to)].push_back(piece);
        Ids known = causes_[at(m.from, c)];
        known.push_back(first_id + static_cast<std::uint32_t>(i));
        learnt.emplace_back(at(m.to, c), std::move(known));
        if (mine.size() > begin && continues(mine.back().from, piece.from) &&
            continues(mine.back().to, piece.to)) {
          mine.back().from.units += piece.from.units;
          mine.back().to.units += piece.to.units;
        } else {
          mine.push_back({m.to, piece.from, piece.to});
        }
      });
      auto& from = senders[static_cast<std::size_t>(m.to)];
      if (std::find(from.begin(), from.end(), m.from) == from.end()) from.push_back(m.from);
    }
    for (auto& [place, ids] : learnt) {
      Ids both;
      std::set_union(causes_[place].begin(), causes_[place].end(), ids.begin(), ids.end(),
                     std::back_inserter(both));
      causes_[place] = std::move(both);
    }
    for (int rank = 0; rank < s_.ranks; rank++) {
      if (const auto& list = puts[static_cast<std::size_t>(rank)]; !list.empty())
        block(rank).send(list);
      if (const auto& from = senders[static_cast<std::size_t>(rank)]; !from.empty()) {
        block(rank).wait(from);
        settle(rank, arriving[static_cast<std::size_t>(rank)]);
      }
    }
  }

  Piece piece_of(const Message& m, int index) {
    Piece piece{index, m.reduce, held_[at(m.from, index)], home(m.to, index, true)};
    // The receiver performs sums. A copy goes to its final place, unless an earlier transfer may
    // still read the data there.
    if (m.reduce || piece.to.units == 0 || is_read(m, index))
      piece.to = fresh(m.to, chunk(index).units);
    return piece;
  }

  // Whether the receiver has sent some data of this chunk that the arriving message does not depend
  // on.
  bool is_read(const Message& m, int index) const {
    const Ids& causes = causes_[at(m.from, index)];
    const Ids& sent = sent_[at(m.to, index)];
    return !std::includes(causes.begin(), causes.end(), sent.begin(), sent.end());
  }

  void settle(int rank, const std::vector<Piece>& pieces) {
    std::map<int, Sum> by_chunk;
    for (const Piece& piece : pieces) {
      auto [found, fresh] = by_chunk.try_emplace(piece.chunk);
      Sum& sum = found->second;
      if (fresh) {
        const MscclppSpan& held = held_[at(rank, piece.chunk)];
        sum.to = home(rank, piece.chunk, true);
        // Sums that a rank only forwards must not overwrite its input.
        if (sum.to.units == 0) sum.to = held.buffer == 's' && held.units > 0 ? held : piece.to;
        if (piece.reduce) sum.from.push_back(held);
      }
      sum.from.push_back(piece.to);
    }
    std::vector<Sum> joined;
    for (const auto& [index, sum] : by_chunk) {
      held_[at(rank, index)] = sum.to;
      if (!joined.empty() && continues(joined.back(), sum)) {
        joined.back().to.units += sum.to.units;
        for (MscclppSpan& from : joined.back().from)
          from.units += sum.to.units;
      } else {
        joined.push_back(sum);
      }
    }
    for (const Sum& sum : joined) {
      const bool there = sum.from.size() == 1 && sum.from[0].buffer == sum.to.buffer &&
                         sum.from[0].begin == sum.to.begin;
      if (!there) block(rank).sum(sum.from, sum.to);
    }
  }

  const Schedule& s_;
  int first_, end_;  // chunks
  std::vector<int>& scratch_;
  std::vector<MscclppBlock> blocks_;  // by rank
  // By rank and chunk: the place of its copy, the messages it depends on, and the messages that
  // sent it.
  std::vector<MscclppSpan> held_;
  std::vector<Ids> causes_, sent_;
  std::uint32_t ids_ = 0;
};

}  // namespace

std::optional<std::vector<MscclppBlock>> mscclpp_blocks(const Schedule& schedule, int box,
                                                        int first, int end,
                                                        std::vector<int>& scratch) {
  return BlockMaker(schedule, box, first, end, scratch).run();
}

}  // namespace dlcp::synth
