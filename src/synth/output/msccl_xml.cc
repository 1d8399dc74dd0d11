#include "synth/output/msccl_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dlcp::synth {
namespace {

struct At {  // a step of a thread block
  int block = -1;
  int step = -1;
};

struct Step {
  const char* type;
  char buffer;
  int offset;
  int count;
  At waits_for;
  bool waited_for = false;
};

struct Block {
  int send = -1;
  int receive = -1;
  std::vector<Step> steps;
};

struct Place {
  char buffer;
  int offset;
};

// All operations of one GPU.
class Gpu {
 public:
  Gpu(const Schedule& schedule, int rank)
      : s_(schedule), rank_(rank), uses_(schedule.chunks.size()) {}

  void add(const Message& m) {
    const bool receives = m.to == rank_;
    s_.each_chunk(m, [&](int chunk) {
      add_step(chunk, receives, m.reduce, block_for(receives ? m.from : m.to, receives));
    });
  }

  // AllToAll: copies a rank's block for itself.
  void copy_own() {
    blocks_.push_back({});
    blocks_.back().steps.push_back({"cpy", 'i', rank_ * s_.units, s_.units, {}, false});
  }

  int scratch() const { return scratch_; }
  std::string to_xml() const {
    std::string xml;
    for (std::size_t id = 0; id < blocks_.size(); id++) {
      const Block& block = blocks_[id];
      xml += fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"0\">\n", id, block.send,
                         block.receive);
      for (std::size_t i = 0; i < block.steps.size(); i++) {
        const Step& step = block.steps[i];
        const bool copies = std::string_view(step.type) == "cpy";
        xml += fmt::format(
            "      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" "
            "dstoff=\"{}\" cnt=\"{}\" depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
            i, step.type, step.buffer, step.offset, copies ? 'o' : step.buffer, step.offset,
            step.count, step.waits_for.block, step.waits_for.step, step.waited_for ? 1 : 0);
      }
      xml += "    </tb>\n";
    }
    return xml;
  }

 private:
  struct Uses {  // of this GPU's copy of a chunk
    At written;
    std::vector<At> read;  // since the last write
    int scratch = -1;
  };

  int block_for(int peer, bool receives) {
    const auto [at, fresh] =
        by_peer_.try_emplace({peer, receives}, static_cast<int>(blocks_.size()));
    if (fresh) blocks_.push_back({receives ? -1 : peer, receives ? peer : -1, {}});
    return at->second;
  }

  Place place_of(int index) {
    const Chunk& chunk = s_.chunks[static_cast<std::size_t>(index)];
    switch (s_.collective) {
      case Collective::kAllReduce:
      case Collective::kReduceScatter:
        return {'i', chunk.begin};
      case Collective::kAllGather:
        return {'o', chunk.begin};
      case Collective::kAllToAll:
        break;
    }
    if (chunk.source == rank_) return {'i', chunk.target * s_.units + chunk.begin};
    if (chunk.target == rank_) return {'o', chunk.source * s_.units + chunk.begin};
    int& scratch = uses_[static_cast<std::size_t>(index)].scratch;
    if (scratch < 0) {
      scratch = scratch_;
      scratch_ += chunk.units;
    }
    return {'s', scratch};
  }

  void add_step(int index, bool receives, bool reduce, int block) {
    Uses& uses = uses_[static_cast<std::size_t>(index)];
    // A step can depend on only one other step: empty steps before it carry the remaining
    // dependencies.
    std::map<int, int> waits;
    const auto wait_for = [&](const At& at) {
      if (at.block >= 0 && at.block != block)
        waits[at.block] = std::max(waits.try_emplace(at.block, at.step).first->second, at.step);
    };
    wait_for(uses.written);
    if (receives) std::for_each(uses.read.begin(), uses.read.end(), wait_for);
    auto& steps = blocks_[static_cast<std::size_t>(block)].steps;
    const Place place = place_of(index);
    for (const auto& [other, step] : waits)
      blocks_[static_cast<std::size_t>(other)].steps[static_cast<std::size_t>(step)].waited_for =
          true;
    At last;
    for (const auto& [other, step] : waits) {
      if (last.block >= 0) steps.push_back({"nop", place.buffer, 0, 0, last, false});
      last = {other, step};
    }
    steps.push_back({!receives ? "s"
                     : reduce  ? "rrc"
                               : "r",
                     place.buffer, place.offset, s_.chunks[static_cast<std::size_t>(index)].units,
                     last, false});
    const At mine{block, static_cast<int>(steps.size()) - 1};
    if (receives)
      uses = {mine, {}, uses.scratch};
    else
      uses.read.push_back(mine);
  }

  const Schedule& s_;
  int rank_;
  std::vector<Uses> uses_;  // by chunk
  std::vector<Block> blocks_;
  std::map<std::pair<int, bool>, int> by_peer_;
  int scratch_ = 0;
};

std::string without_markup(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '"' || c == '<' || c == '>' || c == '&' || static_cast<unsigned char>(c) < 32 ? '_'
                                                                                              : c;
  return out;
}

}  // namespace

std::string msccl_xml(const Schedule& schedule, const std::string& name) {
  struct Op {
    int step;
    bool receives;
    const Message* message;
  };
  const bool to_all = schedule.collective == Collective::kAllToAll;
  const int shard = to_all ? schedule.units : schedule.units / schedule.ranks;
  const int all = to_all ? schedule.units * schedule.ranks : schedule.units;
  const char* names[] = {"allreduce", "allgather", "reduce_scatter", "alltoall"};
  std::string xml = fmt::format(
      "<algo name=\"{}\" nchunksperloop=\"{}\" nchannels=\"1\" proto=\"Simple\" ngpus=\"{}\" "
      "coll=\"{}\" inplace=\"{}\" outofplace=\"{}\" minBytes=\"0\" maxBytes=\"0\">\n",
      without_markup(name), all, schedule.ranks, names[static_cast<int>(schedule.collective)],
      to_all ? 0 : 1, to_all ? 1 : 0);
  for (int rank = 0; rank < schedule.ranks; rank++) {
    std::vector<Op> ops;
    for (const Message& m : schedule.messages) {
      if (m.from == rank) ops.push_back({m.step, false, &m});
      if (m.to == rank) ops.push_back({m.step, true, &m});
    }
    std::stable_sort(ops.begin(), ops.end(), [](const Op& a, const Op& b) {
      return a.step != b.step ? a.step < b.step : a.receives < b.receives;
    });
    Gpu gpu(schedule, rank);
    for (const Op& op : ops)
      gpu.add(*op.message);
    if (to_all) gpu.copy_own();
    const bool gathers = schedule.collective == Collective::kAllGather,
               scatters = schedule.collective == Collective::kReduceScatter;
    xml += fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", rank,
                       gathers ? shard : all, scatters ? shard : all, gpu.scratch());
    xml += gpu.to_xml() + "  </gpu>\n";
  }
  return xml + "</algo>\n";
}

}  // namespace dlcp::synth
