#include "ring_reduce.h"

#include <algorithm>
#include <cstring>

namespace dlcp::test {

RingReduce::RingReduce(World& world, const RingPlan& plan, Value value)
    : world_(world),
      plan_(plan),
      value_(std::move(value)),
      first_flow_(world.ledger().flows().size()),
      ranks_(plan.ranks),
      began_at_(plan.collectives, kNever) {
  world_.ledger().set_receive_hook(
      [this](std::size_t flow, std::size_t message, std::span<const std::byte> body) {
        if (flow < first_flow_ || flow >= first_flow_ + plan_.ranks) return;
        const auto rank = static_cast<std::uint32_t>((flow - first_flow_ + 1) % plan_.ranks);
        Rank& mine = ranks_[rank];
        mine.early[message].assign(body.begin(), body.end());
        for (auto found = mine.early.begin();
             found != mine.early.end() && found->first == mine.next; found = mine.early.begin()) {
          const auto next = mine.early.extract(found);
          ++mine.next;
          take_up(rank, next.key(), next.mapped());
        }
      });
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank)
    world.open_flow(rank, (rank + 1) % plan.ranks);
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    for (std::uint32_t message = 0; message < plan.collectives * plan.stages(); ++message) {
      const std::uint32_t collective = message / plan.stages();
      Message& planned = world.transfer_later(flow_of(rank), plan.part_bytes());
      planned.send_licence = planned.receive_licence = licence(collective, message % plan.stages());
    }
    begin(rank, 0);
  }
}

core::Licence RingReduce::licence(std::uint32_t collective, std::uint32_t stage) const {
  if (plan_.budget_ppm == 0) return {};
  core::Licence licence;
  licence.collective = collective + 1;
  licence.result_bytes = plan_.result_bytes();
  licence.ranks = licence.hops = plan_.ranks;
  licence.stage = stage;
  licence.budget_ppm = plan_.budget_ppm;
  licence.element = gradient::ElementType::kFloat32;
  licence.urgent = collective % 2 == 1;
  return licence;
}

void RingReduce::begin(std::uint32_t rank, std::uint32_t collective) {
  Rank& mine = ranks_[rank];
  mine.sums.resize(plan_.part_floats * plan_.ranks);
  for (std::size_t at = 0; at < mine.sums.size(); ++at)
    mine.sums[at] = value_(rank, collective, at);
  began_at_[collective] = std::min(began_at_[collective], world_.now());
  send(rank, collective, 0);
}

// In stage s rank r sends part r - s, which it received in the previous stage.
void RingReduce::send(std::uint32_t rank, std::uint32_t collective, std::uint32_t stage) {
  const std::uint32_t part = (rank + 2 * plan_.ranks - stage) % plan_.ranks;
  const float* from = ranks_[rank].sums.data() + part * plan_.part_floats;
  world_.provide(flow_of(rank), collective * plan_.stages() + stage,
                 std::as_bytes(std::span(from, plan_.part_floats)));
}

void RingReduce::take_up(std::uint32_t rank, std::size_t message,
                         const std::vector<std::byte>& body) {
  const auto collective = static_cast<std::uint32_t>(message / plan_.stages());
  const auto stage = static_cast<std::uint32_t>(message % plan_.stages());
  const std::uint32_t part = (rank + 2 * plan_.ranks - 1 - stage) % plan_.ranks;
  float* sums = ranks_[rank].sums.data() + part * plan_.part_floats;
  for (std::size_t i = 0; i < plan_.part_floats; ++i) {
    float value = 0;
    std::memcpy(&value, body.data() + i * 4, 4);
    sums[i] = stage + 1 < plan_.ranks ? sums[i] + value : value;
  }
  if (stage + 1 < plan_.stages()) return send(rank, collective, stage + 1);
  Rank& mine = ranks_[rank];
  mine.finished = mine.sums;
  mine.done_at.push_back(world_.now());
  if (collective + 1 < plan_.collectives) begin(rank, collective + 1);
}

double RingReduce::lost_share(std::uint32_t collective) const {
  double contributions = 0;
  for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) {
    const Flow& flow = world_.flow(flow_of(rank));
    for (std::uint32_t stage = 0; stage + 1 < plan_.ranks; ++stage) {
      const Message& message = flow.messages[collective * plan_.stages() + stage];
      contributions += static_cast<double>(message.lost) * (stage + 1);
    }
  }
  return contributions / (static_cast<double>(plan_.result_bytes()) * plan_.ranks);
}

std::uint64_t RingReduce::lost_bytes() const {
  std::uint64_t lost = 0;
  for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank)
    for (const Message& message : world_.flow(flow_of(rank)).messages)
      lost += message.lost;
  return lost;
}

Duration RingReduce::took(std::uint32_t collective) const {
  Time last{};
  for (const Rank& rank : ranks_)
    last = std::max(last, rank.done_at[collective]);
  return last - began_at_[collective];
}

}  // namespace dlcp::test
