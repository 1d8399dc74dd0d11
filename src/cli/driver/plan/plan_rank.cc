#include "cli/driver/plan/plan_rank.h"

#include <algorithm>
#include <numeric>

#include "cli/driver/reduce.h"

namespace dlcp::cli {
namespace {

// Slots of a connection. They should hold what arrives within a round trip, so that on a long path
// no message waits for a slot. At most NCCL_NET_MAX_REQUESTS (32), fewer where messages are large.
constexpr std::size_t kSlotsLeast = 4;
constexpr std::size_t kSlotsMost = 32;
constexpr std::size_t kSlotBytes = std::size_t{16} << 20;

std::size_t slots_for(std::size_t transfers, std::size_t bytes) {
  return std::min(transfers, std::clamp(kSlotBytes / bytes, kSlotsLeast, kSlotsMost));
}

std::size_t cut(std::size_t elements, int unit, int units) {
  // At most 2^29 elements and 2^30 units.
  return elements * static_cast<std::size_t>(unit) / static_cast<std::size_t>(units);
}

}  // namespace

Span span_of(const synth::Schedule& schedule, const synth::Chunk& chunk, std::size_t elements) {
  if (schedule.collective == synth::Collective::kAllToAll)
    elements /= static_cast<std::size_t>(schedule.ranks);
  const std::size_t begin = cut(elements, chunk.begin, schedule.units);
  return {begin, cut(elements, chunk.begin + chunk.units, schedule.units) - begin};
}

PlanRank::PlanRank(NetPlugin& net, const Comms& comms, const synth::Schedule& schedule, int rank,
                   std::size_t elements)
    : net_(net), schedule_(schedule), rank_(rank) {
  place_chunks(elements);
  add_transfers(comms);
}

void PlanRank::place_chunks(std::size_t elements) {
  const bool blocks = schedule_.collective == synth::Collective::kAllToAll;
  const std::size_t chunks = schedule_.chunks.size();
  place_.assign(chunks, kNowhere);
  counts_.assign(chunks, 0);
  turns_.assign(chunks, 0);
  std::vector<bool> mine(chunks, !blocks);
  for (std::size_t c = 0; c < chunks; c++) {
    const synth::Chunk& chunk = schedule_.chunks[c];
    if (chunk.source == rank_ || chunk.target == rank_) mine[c] = true;
  }
  for (const synth::Message& m : schedule_.messages) {
    if (m.from != rank_ && m.to != rank_) continue;
    for (const synth::Range& range : schedule_.ranges(m))
      std::fill_n(mine.begin() + range.first, range.count, true);
  }
  std::size_t end = blocks ? 0 : elements;
  for (std::size_t c = 0; c < chunks; c++) {
    const Span span = span_of(schedule_, schedule_.chunks[c], elements);
    counts_[c] = span.count;
    if (!mine[c]) continue;
    place_[c] = blocks ? end : span.begin;
    end += blocks ? span.count : 0;
  }
  memory_.resize(end * sizeof(float));
}

void PlanRank::add_transfers(const Comms& comms) {
  const auto peers = static_cast<std::size_t>(schedule_.ranks);
  sends_.resize(peers);
  recvs_.resize(peers);
  struct Op {
    int step;
    bool receives;
    std::size_t message;
  };
  std::vector<Op> ops;
  for (std::size_t i = 0; i < schedule_.messages.size(); i++) {
    const synth::Message& m = schedule_.messages[i];
    if (m.from == rank_) ops.push_back({m.step, false, i});
    if (m.to == rank_) ops.push_back({m.step, true, i});
  }
  std::stable_sort(ops.begin(), ops.end(), [](const Op& a, const Op& b) {
    return a.step != b.step ? a.step < b.step : a.receives < b.receives;
  });
  std::vector<std::uint32_t> next(schedule_.chunks.size());
  for (const Op& op : ops) {
    const synth::Message& m = schedule_.messages[op.message];
    Transfer transfer{m.reduce, 0, {}};
    schedule_.each_chunk(m, [&](int c) {
      const auto chunk = static_cast<std::size_t>(c);
      if (counts_[chunk] == 0) return;  // fewer elements than units; both ends skip it
      transfer.parts.push_back({c, next[chunk]++});
      transfer.count += counts_[chunk];
    });
    if (transfer.count == 0) continue;
    Line& line = op.receives ? recvs_[static_cast<std::size_t>(m.from)]
                             : sends_[static_cast<std::size_t>(m.to)];
    line.slot_bytes = std::max(line.slot_bytes, transfer.count * sizeof(float));
    line.transfers.push_back(std::move(transfer));
    transfers_++;
  }
  const auto open = [&](std::vector<Line>& lines, const std::vector<void*>& all, Lane::Way way) {
    for (std::size_t peer = 0; peer < lines.size(); peer++) {
      Line& line = lines[peer];
      if (line.transfers.empty()) continue;
      line.lane = std::make_unique<Lane>(
          net_, all[peer], way, slots_for(line.transfers.size(), line.slot_bytes), line.slot_bytes);
    }
  };
  open(sends_, comms.send, Lane::Way::kSend);
  open(recvs_, comms.recv, Lane::Way::kReceive);
}

void PlanRank::restart() {
  std::fill(turns_.begin(), turns_.end(), 0);
  left_ = transfers_;
  for (auto* lines : {&sends_, &recvs_}) {
    for (Line& line : *lines) {
      line.first += line.at;
      line.at = 0;
    }
  }
}

bool PlanRank::my_turn(const Transfer& transfer) const {
  return std::all_of(
      transfer.parts.begin(), transfer.parts.end(),
      [&](const Part& part) { return turns_[static_cast<std::size_t>(part.chunk)] == part.turn; });
}

void PlanRank::take_turn(const Transfer& transfer) {
  for (const Part& part : transfer.parts)
    turns_[static_cast<std::size_t>(part.chunk)]++;
}

bool PlanRank::send(Line& line) {
  Lane& lane = *line.lane;
  bool moved = lane.test().has_value();
  while (line.at < line.transfers.size() && lane.under_way() < lane.slots().count()) {
    const Transfer& transfer = line.transfers[line.at];
    if (!my_turn(transfer)) break;
    std::byte* to = lane.slots().at(lane.posted());
    for (const Part& part : transfer.parts)
      to = std::copy_n(at(part.chunk), count(part.chunk) * sizeof(float), to);
    if (!lane.post(transfer.count * sizeof(float))) break;
    line.at++;
    left_--;
    take_turn(transfer);
    moved = true;
  }
  return moved;
}

bool PlanRank::receive(Line& line) {
  Lane& lane = *line.lane;
  bool moved = false;
  // Post receives for the next run as well: on a long path it takes the sender half a round trip to
  // learn of them.
  while (lane.posted() - line.first - line.at < lane.slots().count() && lane.post(line.slot_bytes))
    moved = true;
  if (const auto bytes = lane.test()) {
    bytes_ += static_cast<std::uint64_t>(*bytes);
    moved = true;
  }
  while (line.at < line.transfers.size() && lane.done() > line.first + line.at) {
    const Transfer& transfer = line.transfers[line.at];
    if (!my_turn(transfer)) break;
    const std::byte* from = lane.slots().at(line.first + line.at);
    for (const Part& part : transfer.parts) {
      const std::size_t bytes = count(part.chunk) * sizeof(float);
      if (transfer.reduce)
        combine({}, at(part.chunk), nullptr, at(part.chunk), from, bytes);
      else
        std::copy_n(from, bytes, at(part.chunk));
      from += bytes;
    }
    line.at++;
    left_--;
    take_turn(transfer);
    moved = true;
  }
  return moved;
}

bool PlanRank::drained() const {
  return done() &&
         std::all_of(
             sends_.begin(), sends_.end(),
             [](const Line& line) { return line.lane == nullptr || line.lane->under_way() == 0; });
}

bool PlanRank::step() {
  bool moved = false;
  for (std::size_t peer = 0; peer < sends_.size(); peer++) {
    if (recvs_[peer].lane != nullptr) moved |= receive(recvs_[peer]);
    if (sends_[peer].lane != nullptr) moved |= send(sends_[peer]);
  }
  return moved;
}

}  // namespace dlcp::cli
