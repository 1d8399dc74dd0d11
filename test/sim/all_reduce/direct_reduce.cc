#include "direct_reduce.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/group/direct_licence.h"

namespace dlcp::test {

DirectReduce::Rank::Rank(DirectReduce& of, const collective::Terms& terms,
                         std::size_t staging_bytes)
    : all(of), number(terms.rank), staging(staging_bytes) {
  if (terms.is_hub())
    exchange = std::make_unique<collective::HubExchange>(terms, staging);
  else
    exchange = std::make_unique<collective::Exchange>(terms, staging);
}

DirectReduce::DirectReduce(World& world, const DirectPlan& plan, Value value)
    : world_(world),
      plan_(plan),
      value_(std::move(value)),
      terms_{.ranks = plan.ranks,
             .rank = 0,
             .granule = plan.granule,
             .block_bytes_max = plan.block_bytes_max,
             .loss_ppm = plan.loss_ppm,
             .fill = plan.fill,
             .hubs = plan.hubs},
      first_flow_(world.ledger().flows().size()),
      lines_(std::size_t{members()} * members() * 2),
      lost_(plan.calls) {
  const std::size_t staging =
      2 * collective::Exchange::staging_bytes(terms_, plan.floats * 4) + plan.granule;
  for (std::uint32_t from = 0; from < members(); ++from) {
    for (std::uint32_t to = 0; to < members(); ++to)
      for (int lane = 0; lane < 2; ++lane)
        world.open_flow(from,
                        from == to ? (to + 1) % members() : to);  // a rank sends nothing to itself
  }
  world_.ledger().set_receive_hook(
      [this](std::size_t flow, std::size_t message, std::span<const std::byte> body) {
        arrive(flow, message, body);
      });
  for (std::uint32_t call = 0; call < plan.calls; ++call)
    plan_messages(call);
  for (std::uint32_t rank = 0; rank < members(); ++rank) {
    collective::Terms own = terms_;
    own.rank = rank;
    ranks_.push_back(std::make_unique<Rank>(*this, own, staging));
  }
  for (auto& rank : ranks_)
    if (rank->number < plan.ranks)
      begin(*rank);
    else
      drive(*rank);
}

std::size_t DirectReduce::flow_of(std::uint32_t from, std::uint32_t to, Transfer::Lane lane) const {
  return first_flow_ + (std::size_t{from} * members() + to) * 2 + static_cast<std::size_t>(lane);
}

void DirectReduce::plan_messages(std::uint32_t call) {
  const collective::Layout layout(terms_, call, plan_.floats * 4);
  for (std::uint32_t hub = plan_.ranks; hub < members(); ++hub) {
    for (std::uint32_t rank = 0; rank < plan_.ranks && layout.count_of(hub) > 0; ++rank)
      world_.transfer_unexpected(flow_of(rank, hub, Transfer::Lane::kResults),
                                 collective::HubCall::kBytes);
  }
  for (std::uint32_t block = 0; block < layout.blocks(); ++block) {
    const std::uint32_t owner = layout.owner(block);
    for (std::uint32_t other = 0; other < plan_.ranks; ++other) {
      if (other == owner) continue;
      world_.transfer_unexpected(flow_of(other, owner, Transfer::Lane::kContributions),
                                 layout.bytes_of(block));
      world_.transfer_unexpected(flow_of(owner, other, Transfer::Lane::kResults),
                                 layout.bytes_of(block));
    }
  }
}

void DirectReduce::begin(Rank& rank) {
  const auto call = static_cast<std::uint32_t>(rank.inputs.size());
  auto& input = rank.inputs.emplace_back();
  for (std::size_t at = 0; at < plan_.floats; ++at)
    input.push_back(value_(rank.number, call, at));
  auto& result = rank.results.emplace_back(plan_.floats);
  rank.began_at.push_back(world_.now());
  const auto number = rank.exchange->start({.input = std::as_bytes(std::span(input)),
                                            .result = std::as_writable_bytes(std::span(result)),
                                            .real_bytes = plan_.floats * 4,
                                            .type = collective::DataType::kFloat32,
                                            .op = collective::ReduceOp::kSum,
                                            .tensor = 1 + call / plan_.tensor_calls});
  if (number != call) throw Violation("a call was not started");
  drive(rank);
}

bool DirectReduce::post(Rank& rank, const Transfer& transfer) {
  const std::size_t flow = transfer.sends ? flow_of(rank.number, transfer.peer, transfer.lane)
                                          : flow_of(transfer.peer, rank.number, transfer.lane);
  Line& line = lines_[flow - first_flow_];
  if (transfer.sends && !may_send(rank, transfer.lane, flow)) return false;
  if (transfer.sends) {
    world_.flow(flow).messages[line.sends].send_licence = engine::direct_licence(transfer);
    world_.provide(flow, line.sends++, transfer.memory);  // keeps a copy
    rank.done.push_back({transfer, transfer.memory.size(), {}});
    return true;
  }
  // Hubs may have no further message to expect: the number of calls is fixed.
  if (line.receives == world_.flow(flow).messages.size()) return false;
  world_.expect(flow, line.receives, engine::direct_licence(transfer));
  line.expected.emplace(line.receives++, transfer);
  return true;
}

bool DirectReduce::may_send(Rank& rank, Transfer::Lane lane, std::size_t flow) {
  const auto has_sendable = [&](std::size_t each) {
    const Flow& sends = world_.flow(each);
    return sends.sends_posted < lines_[each - first_flow_].sends ||
           world_.endpoint(rank.number).has_sendable(sends.send_connection);
  };
  return rank.orders[static_cast<std::size_t>(lane)].admits(flow, rank.exchange->peers_at_once(),
                                                            has_sendable);
}

void DirectReduce::arrive(std::size_t flow, std::size_t message, std::span<const std::byte> body) {
  Rank& rank = *ranks_[world_.flow(flow).to];
  const auto found = lines_[flow - first_flow_].expected.extract(message);
  const Transfer& transfer = found.mapped();
  std::memcpy(transfer.memory.data(), body.data(), body.size());
  std::vector<ByteRange> lost;
  for (const auto& [offset, bytes] : world_.flow(flow).messages[message].holes) {
    lost.push_back({offset, offset + bytes});
    lost_[transfer.call] += bytes;
  }
  std::ranges::sort(lost, {}, &ByteRange::begin);
  rank.done.push_back({transfer, body.size(), std::move(lost)});
  drive(rank);
}

void DirectReduce::drive(Rank& rank) {
  do {
    rank.exchange->post_to(rank);
    while (!rank.done.empty()) {
      const Rank::Done done = std::move(rank.done.front());
      rank.done.pop_front();
      rank.exchange->on_done(done.transfer, done.bytes, done.lost);
    }
  } while (rank.exchange->work() || !rank.done.empty());
  if (!rank.exchange->disagreement().empty()) throw Violation(rank.exchange->disagreement());
  if (rank.done_at.size() < rank.inputs.size() && rank.exchange->finished(rank.inputs.size() - 1)) {
    rank.done_at.push_back(world_.now());
    if (rank.inputs.size() < plan_.calls) begin(rank);
  }
}

bool DirectReduce::finished() {
  for (auto& rank : ranks_)
    drive(*rank);
  return std::ranges::all_of(ranks_, [&](const auto& rank) {
    return rank->number >= plan_.ranks || rank->done_at.size() == plan_.calls;
  });
}

double DirectReduce::lost_share(std::uint32_t call) const {
  return static_cast<double>(lost_[call]) / (static_cast<double>(plan_.floats) * 4 * plan_.ranks);
}

bool DirectReduce::over(std::uint32_t call) const {
  return std::ranges::all_of(
      std::span(ranks_).first(plan_.ranks),
      [&](const auto& rank) { return rank->done_at.size() > call; });
}

Duration DirectReduce::took(std::uint32_t call) const {
  Time first = kNever, last{};
  for (const auto& rank : std::span(ranks_).first(plan_.ranks)) {
    first = std::min(first, rank->began_at[call]);
    last = std::max(last, rank->done_at[call]);
  }
  return last - first;
}

}  // namespace dlcp::test
