#include "collective/exchange/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "collective/reduce/reduce.h"
#include "util/check.h"

namespace dlcp::collective {
namespace {

// The data is only read, but one Transfer type serves both directions.
std::span<std::byte> to_send(std::span<const std::byte> memory) {
  return {const_cast<std::byte*>(memory.data()), memory.size()};
}

}  // namespace

Exchange::Exchange(const Terms& terms, std::span<std::byte> staging)
    : terms_(terms), staging_(staging), queues_(terms.members()), inputs_(terms.ranks) {
  check(terms.ranks >= 2 && terms.rank < terms.members() && terms.granule > 0,
        "terms of a group as they were agreed on");
}

std::size_t Exchange::staging_bytes(const Terms& terms, std::size_t call_bytes) {
  const Layout layout(terms, 0, call_bytes);
  return layout.count_of(terms.first_owner()) * Layout::block_bytes(terms, call_bytes) *
         terms.contributions();
}

std::optional<std::uint64_t> Exchange::start(const Call& call) {
  const std::uint64_t number = next_;
  return start_for(number, call, call.input.size()) ? std::optional(number) : std::nullopt;
}

bool Exchange::start_for(std::uint64_t number, const Call& call, std::size_t bytes) {
  RunningCall running{number, call, bytes, Layout(terms_, number, bytes), {}};
  const Layout& layout = running.layout;
  const std::uint32_t owned = terms_.owns() ? layout.count_of(terms_.rank) : 0;
  if (owned > 0) {
    const std::size_t slots = Layout::block_bytes(terms_, bytes) * others();
    const auto memory = staging_.take(owned * slots);
    if (!memory) return false;
    for (std::uint32_t i = 0; i < owned; ++i) {
      const std::uint32_t block = layout.first_of(terms_.rank) + i * layout.owners();
      running.owned.push_back({block,
                               others(),
                               layout.bytes_within(block, call.real_bytes),
                               memory->subspan(i * slots, slots),
                               {}});
    }
  }
  running.pool = pool_for(running);
  calls_.push_back(std::move(running));
  next_ = number + 1;
  expect(calls_.back());
  if (!terms_.is_hub()) {
    announce_to_hubs(calls_.back());
    contribute(calls_.back());
  }
  return true;
}

void Exchange::leave() {
  if (terms_.hubs == 0) return;
  calls_.push_back({next_, {}, 0, Layout(terms_, next_, 0), {}});
  ++next_;
  RunningCall& last = calls_.back();
  last.announcement = encode(HubCall{.leaves = true});
  for (std::uint32_t turn = 0; turn < terms_.hubs; ++turn)
    tell(other_owner(turn), last);
}

void Exchange::tell(std::uint32_t hub, RunningCall& call) {
  ++call.results_unposted;
  ++call.results_out;
  queues_.add({hub,
               Transfer::Lane::kResults,
               true,
               Transfer::kNoBlock,
               call.number,
               call.announcement,
               {}});
}

// The licence covers P of all contributions to this rank's blocks, including its own, which cannot
// be lost.
std::shared_ptr<SharedBudget> Exchange::pool_for(const RunningCall& running) {
  const Call& call = running.call;
  if (terms_.loss_ppm == 0 || call.tensor == 0 || !may_lose(call.type, call.op)) return nullptr;
  if (std::exchange(tensor_, call.tensor) != call.tensor) {
    pool_ = std::make_shared<SharedBudget>();
    tensor_began_ = running.number;
  }
  std::uint64_t bytes = 0;
  for (const OwnedBlock& owned : running.owned)
    bytes += owned.bytes;
  pool_->grant(bytes * terms_.ranks * terms_.loss_ppm / 1'000'000);
  return pool_;
}

Leave Exchange::leave_for(const RunningCall& running) const {
  if (running.pool == nullptr) return {};
  return {terms_.loss_ppm, terms_.ranks, running.call.type, running.call.real_bytes,
          running.pool.get()};
}

// Posts receives first, so that no rank that is ahead of this one waits for permission to send.
void Exchange::expect(RunningCall& call) {
  for (const OwnedBlock& owned : call.owned) {
    const std::size_t bytes = call.layout.bytes_of(owned.block);
    for (std::uint32_t turn = 0; turn < others(); ++turn) {
      queues_.add({other(turn), Transfer::Lane::kContributions, false, owned.block, call.number,
                   slot(owned, other(turn)).first(bytes), leave_for(call)});
    }
  }
  for (std::uint32_t block = 0; !terms_.is_hub() && block < call.layout.blocks(); ++block) {
    if (call.layout.owner(block) != terms_.rank) {
      ++call.results_awaited;
      queues_.add({call.layout.owner(block),
                   Transfer::Lane::kResults,
                   false,
                   block,
                   call.number,
                   call.call.result.subspan(call.layout.offset(block), call.layout.bytes_of(block)),
                   {}});
    }
  }
}

void Exchange::announce_to_hubs(RunningCall& call) {
  const bool loses = call.pool != nullptr;
  call.announcement = encode({call.number, call.bytes, call.call.real_bytes,
                              loses ? tensor_began_ + 1 : 0, call.call.type, call.call.op});
  for (std::uint32_t turn = 0; turn < terms_.hubs; ++turn) {
    const std::uint32_t hub = other_owner(turn);
    if (call.layout.count_of(hub) > 0) tell(hub, call);
  }
}

// Each rank begins with the owner after it, so that the ranks do not all send to one at the same
// time.
void Exchange::contribute(RunningCall& call) {
  for (std::uint32_t row = 0; row < call.layout.blocks(); row += call.layout.owners()) {
    for (std::uint32_t turn = 0; turn < other_owners(); ++turn) {
      const std::uint32_t block = row + call.layout.first_of(other_owner(turn));
      if (block < call.layout.blocks()) {
        ++call.contributions_out;
        queues_.add(
            {other_owner(turn), Transfer::Lane::kContributions, true, block, call.number,
             to_send(call.call.input.subspan(
                 call.layout.offset(block), call.layout.bytes_within(block, call.call.real_bytes))),
             leave_for(call)});
      }
    }
  }
}

std::span<std::byte> Exchange::slot(const OwnedBlock& owned, std::uint32_t rank) const {
  const std::size_t bytes = owned.slots.size() / others();
  return owned.slots.subspan((rank < terms_.rank ? rank : rank - 1) * bytes, bytes);
}

std::deque<RunningCall>::iterator Exchange::at_or_after(std::uint64_t call) {
  return std::ranges::lower_bound(calls_, call, {}, &RunningCall::number);
}

bool Exchange::finished(std::uint64_t call) const {
  const auto found = std::ranges::lower_bound(calls_, call, {}, &RunningCall::number);
  return found == calls_.end() ? call < next_ : found->number != call || found->finished();
}

bool Exchange::busy() const {
  if (!queues_.empty()) return true;
  for (const RunningCall& call : calls_)
    if (!call.finished()) return true;
  return false;
}

void Exchange::post_to(Mesh& mesh) {
  queues_.post_to(mesh, [&](const Transfer& posted) {
    if (posted.sends && posted.lane == Transfer::Lane::kResults)
      --running(posted.call).results_unposted;
  });
  retire();
}

void Exchange::on_done(const Transfer& transfer, std::size_t bytes,
                       std::span<const ByteRange> lost) {
  RunningCall& call = running(transfer.call);
  const bool contribution = transfer.lane == Transfer::Lane::kContributions;
  if (transfer.sends)
    --(contribution ? call.contributions_out : call.results_out);
  else if (contribution)
    take_contribution(call, transfer, bytes, lost);
  else
    take_result(call, transfer, bytes);
  retire();
}

// A rank that does not know how much of the call is data sends all of it. Ranks that know must send
// the same length as this rank, if it knows.
void Exchange::take_contribution(RunningCall& call, const Transfer& transfer, std::size_t bytes,
                                 std::span<const ByteRange> lost) {
  OwnedBlock& owned =
      call.owned[(transfer.block - call.layout.first_of(terms_.rank)) / call.layout.owners()];
  const std::size_t whole = call.layout.bytes_of(transfer.block);
  --owned.awaited;
  owned.lost.add(lost, whole, terms_.ranks);
  if (bytes == whole || bytes == owned.bytes) return;
  if (call.knows_length() || owned.bytes != whole) {
    disagreement_ = fmt::format(
        "rank {} of the group sent {} bytes for block {} of all-reduce {}, but other ranks {} "
        "of {}",
        transfer.peer, bytes, transfer.block, transfer.call, owned.bytes, whole);
    return;
  }
  owned.bytes = bytes;
}

void Exchange::take_result(RunningCall& call, const Transfer& transfer, std::size_t bytes) {
  --call.results_awaited;
  const std::size_t real = call.layout.bytes_within(transfer.block, call.call.real_bytes);
  if (call.knows_length() && bytes < real) {
    disagreement_ = fmt::format(
        "rank {} of the group reduced {} bytes of block {} of all-reduce {}, but this one {}",
        transfer.peer, bytes, transfer.block, transfer.call, real);
  }
}

bool Exchange::work() {
  // Calls in which this member owns no block may have been removed already.
  auto call = at_or_after(reduces_);
  while (call != calls_.end() && call->reduced == call->owned.size())
    ++call;
  if (call == calls_.end()) {
    reduces_ = next_;
    return false;
  }
  reduces_ = call->number;
  OwnedBlock& owned = call->owned[call->reduced];
  if (owned.awaited > 0) return false;
  ++call->reduced;
  reduce_block(*call, owned);
  return true;
}

void Exchange::reduce_block(RunningCall& call, OwnedBlock& owned) {
  const std::size_t at = call.layout.offset(owned.block);
  for (std::uint32_t rank = 0; rank < terms_.ranks; ++rank)
    inputs_[rank] = rank == terms_.rank ? call.call.input.data() + at : slot(owned, rank).data();
  // The result is sent from the staging, so the call can finish before all other ranks have
  // received it.
  const std::span<std::byte> sum = slot(owned, other(0)).first(owned.bytes);
  if (!sum.empty()) {
    if (owned.lost.any() && terms_.fill == LossFill::kRescale)
      reduce_scaled(call.call.type, inputs_, sum.size(), owned.lost.counts(), sum.data());
    else
      reduce(call.call.type, call.call.op, inputs_, sum.size(), sum.data());
    if (!terms_.is_hub()) std::memcpy(call.call.result.data() + at, sum.data(), sum.size());
  }
  ++(owned.lost.any() ? blocks_.partial : blocks_.whole);
  for (std::uint32_t turn = 0; turn < others(); ++turn) {
    ++call.results_unposted;
    ++call.results_out;
    queues_.add({other(turn), Transfer::Lane::kResults, true, owned.block, call.number, sum, {}});
  }
}

// Removes the oldest calls that have no outstanding transfers.
void Exchange::retire() {
  while (!calls_.empty() && calls_.front().finished() && calls_.front().results_out == 0) {
    if (!calls_.front().owned.empty()) staging_.give_back();
    calls_.pop_front();
  }
}

}  // namespace dlcp::collective
