#include "simulate/protocol/core_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace dlcp::simulate {
namespace {

constexpr Duration kOpenLimit = 10s;  // simulated
// After the last connection has opened, so that none of its packets remain in flight.
constexpr Duration kRest = 1ms;
// Connections to a host open one after the other, as ranks create their listeners one after the
// other.
constexpr Duration kOpenEvery = 2us;

// NCCL's number of slices in progress per channel.
constexpr std::size_t kReceivesAhead = 8;

core::RequestId request_of(std::size_t pair, std::size_t slot) {
  return core::RequestId{pair} << 32 | slot;
}

// As in dlcp-switch's plan: marks and early drops begin at this share of the bandwidth-delay
// product of the host's link, and not below this number of packets.
constexpr double kKnee = 1.2 / 7;
constexpr double kKneePackets = 16;

}  // namespace

ClassPlan CoreTransport::switches(const CoreConfig& config, const FabricPlan& fabric) {
  const double base =
      static_cast<double>(base_round_trip(fabric, static_cast<std::uint32_t>(config.host.mtu),
                                          /*answer_bytes=*/128)
                              .count());
  const double product = fabric.host.gbit_per_s / 8 * base;
  const double least = kKneePackets * static_cast<double>(config.host.mtu);
  const auto knee = static_cast<std::size_t>(config.knee * std::max(kKnee * product, least));
  ClassPlan plan = commodity_plan();
  for (QueuePlan& queue : plan.queues) {
    queue.mark.from = queue.mark.full = knee;
    for (Slope& drop : queue.drop)
      drop.from = drop.full = knee;
  }
  plan.queues[static_cast<std::size_t>(SwitchQueue::kStrictHigh)].mark = {};
  plan.queues[static_cast<std::size_t>(SwitchQueue::kExact)].weight = 2;
  plan.queues[static_cast<std::size_t>(SwitchQueue::kUrgent)].weight = 2;
  return plan;
}

CoreTransport::CoreTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
                             const CoreConfig& config)
    : fabric_(fabric),
      pool_(pool),
      listener_(listener),
      config_(config),
      field_(std::make_shared<GradientField>(memory_, config.magnitude_spread, config.blind_marks)),
      scratch_(config.host.mtu),
      unopened_(fabric.hosts()),
      blocked_(fabric.hosts()) {
  config_.host.paths = config.paths;
  config_.core.worth = field_;
  hosts_.resize(fabric.hosts());
}

void CoreTransport::add_hosts(std::span<const std::pair<HostIndex, HostIndex>> pairs) {
  std::vector<bool> own(hosts_.size());
  for (const auto& [from, to] : pairs)
    own[from] = own[to] = true;
  std::uint64_t seed = config_.seed;
  for (HostIndex i = 0; i < hosts_.size(); ++i) {
    seed = datapath::sim::mix(seed, i + 1);
    if (own[i])
      hosts_[i] = std::make_unique<CoreHost>(fabric_, pool_, memory_, scratch_, i, config_.host,
                                             config_.core, config_.packet_cost, seed, *this);
  }
}

void CoreTransport::open(std::span<const std::pair<HostIndex, HostIndex>> wanted) {
  add_hosts(wanted);
  std::vector<std::uint32_t> listeners(hosts_.size());
  Events& events = fabric_.events();
  const Time begins = events.now();
  std::vector<std::pair<std::uint32_t, std::size_t>> turns;  // of pairs at their listener
  for (const auto& [from, to] : wanted) {
    const std::size_t number = pairs_.size();
    Pair& pair = pairs_.emplace_back();
    pair.from = from;
    pair.to = to;
    numbers_[{from, to}] = number;
    turns.emplace_back(++listeners[to], number);
  }
  std::sort(turns.begin(), turns.end());
  unaccepted_ = pairs_.size();
  for (const auto& [turn, number] : turns) {
    Pair& pair = pairs_[number];
    events.run_until(begins + turn * kOpenEvery);
    const auto listening = hosts_[pair.to]->endpoint().listen(1, turn);
    pair.listener = listening.id;
    unopened_[pair.to].push_back(number);
    CoreHost& host = *hosts_[pair.from];
    pair.sender =
        host.endpoint().connect(events.now(), 1, listening.invitation, hosts_[pair.to]->address());
    host.step(events.now());
  }
  const Time until = events.now() + kOpenLimit;
  const auto all_open = [&] {
    return std::all_of(pairs_.begin(), pairs_.end(), [this](const Pair& p) { return is_open(p); });
  };
  while (unaccepted_ > 0 || !all_open()) {
    if (!events.run_next(until))
      throw std::runtime_error(
          fmt::format("{} of {} connections did not open within 10 s of simulated time",
                      unaccepted_, pairs_.size()));
  }
  events.run_until(events.now() + kRest);
}

bool CoreTransport::is_open(const Pair& pair) {
  return pair.receiver &&
         hosts_[pair.from]->endpoint().state(pair.sender) == core::ConnectionState::kOpen;
}

void CoreTransport::announce(Time now, std::span<const Transfer> transfers) {
  std::vector<std::uint64_t> most(pairs_.size());
  for (const Transfer& one : transfers) {
    if (one.bytes > kPhantomBytes / 4)
      throw std::runtime_error(
          fmt::format("a transfer of {} bytes is simulated in one piece: give at most {}, or "
                      "several transfers",
                      one.bytes, kPhantomBytes / 4));
    std::uint64_t& bytes = most[numbers_.at({one.from, one.to})];
    bytes = std::max(bytes, one.bytes);
  }
  for (const Transfer& one : transfers) {
    const std::size_t number = numbers_.at({one.from, one.to});
    Pair& pair = pairs_[number];
    Slot& slot = pair.slots.emplace_back();
    slot.memory = hosts_[one.from]->cursor().take(memory_, most[number]);
    if (one.may_lose > 0) {
      slot.licence = licence_of(one);
      slot.licence.collective = pair.slots.size();
      energy_ += field_->energy(slot.memory.first(one.bytes));
    }
  }
  for (std::size_t number = 0; number < pairs_.size(); ++number)
    blocked_[pairs_[number].to].push_back(number);
  for (auto& host : hosts_)
    if (host != nullptr) host->step(now);
}

void CoreTransport::begin(Time now, TransferId id, const Transfer& transfer) {
  const std::size_t number = numbers_.at({transfer.from, transfer.to});
  Pair& pair = pairs_[number];
  Slot& slot = pair.slots[pair.begun++];
  slot.id = id;
  slot.bytes = transfer.bytes;
  blocked_[pair.from].push_back(number);
  hosts_[pair.from]->step(now);
}

bool CoreTransport::post_sends(Time now, std::size_t number) {
  Pair& pair = pairs_[number];
  core::Endpoint& endpoint = hosts_[pair.from]->endpoint();
  for (; pair.sent < pair.begun; ++pair.sent) {
    const Slot& slot = pair.slots[pair.sent];
    core::Licence licence = slot.licence;
    licence.pool = nullptr;  // the pool is set at the receiver
    if (!endpoint.post_send(now, pair.sender, request_of(number, pair.sent),
                            slot.memory.first(slot.bytes), licence))
      return false;
  }
  return true;
}

// Ahead of the sends, as NCCL does.
bool CoreTransport::post_receives(Time now, std::size_t number) {
  Pair& pair = pairs_[number];
  engine::Pump& pump = hosts_[pair.to]->pump();
  const std::size_t end = std::min(pair.slots.size(), pair.received + kReceivesAhead);
  for (; pair.expected < end; ++pair.expected) {
    const Slot& slot = pair.slots[pair.expected];
    if (!pump.post_receive(now, *pair.receiver, request_of(number, pair.expected), slot.memory,
                           slot.licence))
      return false;
  }
  return true;
}

core::Licence CoreTransport::licence_of(const Transfer& transfer) {
  core::Licence licence;
  licence.element = gradient::ElementType::kFloat32;
  licence.ranks = licence.hops = transfer.ranks;
  licence.budget_ppm = static_cast<std::uint32_t>(transfer.may_lose * core::kBudgetScale);
  if (transfer.pool == 0) {
    // With two ranks each byte is half of the result: half the budget is the share of a transfer.
    licence.hops = 1;
    licence.budget_ppm = static_cast<std::uint32_t>(transfer.may_lose / 2 * core::kBudgetScale);
    return licence;
  }
  const auto [pool, is_new] = pools_.try_emplace(transfer.pool);
  licence.shape = core::LossShape::kDirect;
  licence.result_bytes = transfer.bytes * transfer.ranks;  // of a call with that many equal parts
  licence.pool = &pool->second;
  if (is_new) pool->second.grant(licence.result_bytes * licence.budget_ppm / core::kBudgetScale);
  return licence;
}

void CoreTransport::on_step(Time now, HostIndex host) {
  std::erase_if(unopened_[host], [&](std::size_t number) {
    Pair& pair = pairs_[number];
    pair.receiver = hosts_[host]->endpoint().accept(pair.listener);
    unaccepted_ -= pair.receiver ? 1 : 0;
    return pair.receiver.has_value();
  });
  if (blocked_[host].empty()) return;
  std::vector<std::size_t> still;
  for (const std::size_t number : std::exchange(blocked_[host], {})) {
    const bool done =
        pairs_[number].from == host ? post_sends(now, number) : post_receives(now, number);
    if (!done) still.push_back(number);
  }
  blocked_[host].insert(blocked_[host].end(), still.begin(), still.end());
}

void CoreTransport::on_zeros(std::span<const std::byte> place) {
  energy_given_up_ += field_->energy(place);
}

void CoreTransport::on_core_event(Time now, HostIndex, const core::Event& event) {
  using Kind = core::Event::Kind;
  if (event.kind == Kind::kClosed || event.kind == Kind::kDeclined)
    throw std::runtime_error("a simulated connection failed: " + event.error.message());
  const std::size_t number = event.request >> 32;
  Pair& pair = pairs_[number];
  const TransferId id = pair.slots[event.request & 0xffffffff].id;
  if (event.kind == Kind::kReceiveDone) {
    ++pair.received;
    blocked_[pair.to].push_back(number);
    bytes_given_up_ += event.lost;
    listener_.on_delivered(now, id);
  } else {
    listener_.on_acknowledged(now, id);
  }
}

core::Counters CoreTransport::core_counters() const {
  core::Counters total;
  for (const auto& host : hosts_) {
    if (host == nullptr) continue;
    const core::Counters one = host->endpoint().counters();
    for (const auto& row : core::kCounterRows)
      total.add(row.counter, one[row.counter]);
  }
  return total;
}

TransportCounters CoreTransport::counters() const {
  const core::Counters total = core_counters();
  TransportCounters counters;
  counters.packets_again = total[core::Counter::kPacketsRetransmitted];
  counters.packets = total[core::Counter::kPacketsSent] - counters.packets_again;
  counters.bytes_again = total[core::Counter::kBytesRetransmitted];
  counters.bytes = total[core::Counter::kBytesSent] - counters.bytes_again;
  counters.bytes_given_up = bytes_given_up_;
  counters.energy = energy_;
  counters.energy_given_up = energy_given_up_;
  return counters;
}

}  // namespace dlcp::simulate
