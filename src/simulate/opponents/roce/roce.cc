#include "simulate/opponents/roce/roce.h"

#include <algorithm>
#include <utility>

namespace dlcp::simulate {

// A queue pair, both ends.
struct RoceTransport::Queue {
  HostIndex from = 0;
  HostIndex to = 0;
  FlowTransfers transfers;
  std::uint32_t next = 0;          // to be sent
  std::uint32_t sent = 0;          // all lower numbers were sent at least once
  std::uint32_t acknowledged = 0;  // all lower numbers have arrived
  Time heard_at{};                 // when `acknowledged` last grew, or sending began
  bool ready = false;              // in its host's queue
  bool waits = false;              // for its rate limit
  bool timed = false;
  DcqcnRate rate;
  // The receiver.
  std::uint32_t expected = 0;
  bool complained = false;  // sent a negative acknowledgement for the gap at `expected`
  Time reported_at{};       // time of the last mark report
  bool reported = false;

  Queue(const DcqcnConfig& config, double line) : rate(config, line) {}
  bool has_data() const { return next < transfers.packets(); }
  bool all_acknowledged() const { return acknowledged == transfers.packets(); }
};

class RoceTransport::Clock final : public Sink {
 public:
  explicit Clock(RoceTransport& transport) : transport_(transport) {}
  void on_event(Time now, PacketPtr token) override { transport_.on_wake(now, *token); }

 private:
  RoceTransport& transport_;
};

RoceConfig RoceTransport::defaults(double gbit_per_s) {
  RoceConfig config;
  const double scale = gbit_per_s / 40;
  config.mark = {static_cast<std::size_t>(5'000 * scale), static_cast<std::size_t>(200'000 * scale),
                 0.01};
  config.pause.off_bytes = static_cast<std::size_t>(120'000 * scale);
  config.pause.on_bytes = config.pause.off_bytes - std::size_t{2} * config.packet_bytes;
  return config;
}

ClassPlan RoceTransport::switches(const RoceConfig& config) {
  ClassPlan plan;
  for (QueuePlan& queue : plan.queues) {
    queue.limit_bytes = std::size_t{1} << 40;  // pauses keep it short
    queue.mark = config.mark;
  }
  return plan;
}

RoceTransport::RoceTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
                             const RoceConfig& config)
    : fabric_(fabric),
      pool_(pool),
      listener_(listener),
      config_(config),
      line_(fabric.plan().host.gbit_per_s),
      hosts_(fabric.hosts()),
      clock_(std::make_unique<Clock>(*this)) {}

RoceTransport::~RoceTransport() = default;

void RoceTransport::open(std::span<const std::pair<HostIndex, HostIndex>> pairs) {
  Host::attach(*this, fabric_, pairs, hosts_);
}

std::uint32_t RoceTransport::queue_between(HostIndex from, HostIndex to) {
  const auto [at, is_new] = numbers_.try_emplace({from, to}, queues_.size());
  if (is_new) {
    Queue& queue = queues_.emplace_back(config_.dcqcn, line_);
    queue.from = from;
    queue.to = to;
  }
  return at->second;
}

void RoceTransport::begin(Time now, TransferId id, const Transfer& transfer) {
  const std::uint32_t number = queue_between(transfer.from, transfer.to);
  Queue& queue = queues_[number];
  if (queue.all_acknowledged()) queue.heard_at = now;
  queue.transfers.add(id, transfer.bytes, payload_bytes());
  if (!queue.timed) wake(now + config_.timeout, number, true);
  wake(now, number, false);
}

// Schedules a wake-up for its rate limit or its timeout.
void RoceTransport::wake(Time at, std::uint32_t number, bool timeout) {
  Queue& queue = queues_[number];
  if (!timeout && (queue.waits || queue.ready || !queue.has_data())) return;
  (timeout ? queue.timed : queue.waits) = true;
  PacketPtr token = pool_.take();
  token->flow = number;
  token->sequence = timeout ? 1 : 0;
  fabric_.events().schedule(at, *clock_, std::move(token));
}

void RoceTransport::on_wake(Time now, const Packet& token) {
  const std::uint32_t number = token.flow;
  Queue& queue = queues_[number];
  if (token.sequence == 0) {
    queue.waits = false;
    if (!queue.has_data()) return;
    queue.ready = true;
    hosts_[queue.from]->turns.push_back(number);
    serve(now, queue.from);
    return;
  }
  queue.timed = false;
  if (queue.all_acknowledged()) return;
  if (now >= queue.heard_at + config_.timeout && queue.acknowledged < queue.next) {
    ++counters_.timeouts;
    go_back(now, number);
  }
  wake(std::max(queue.heard_at + config_.timeout, now + config_.timeout / 8), number, true);
}

void RoceTransport::serve(Time now, HostIndex index) {
  auto& turns = hosts_[index]->turns;
  while (!turns.empty() && fabric_.card(index).waiting_bytes() <= Host::kCardBytes) {
    const std::uint32_t number = turns.front();
    turns.pop_front();
    queues_[number].ready = false;
    if (queues_[number].has_data()) send(now, number);
  }
}

void RoceTransport::send(Time now, std::uint32_t number) {
  Queue& queue = queues_[number];
  const std::uint32_t sequence = queue.next++;
  const auto& range = queue.transfers.range_of(sequence);
  const bool is_last = range.end == sequence + 1;
  const std::uint32_t payload = is_last ? range.last_bytes : payload_bytes();
  const bool again = sequence < queue.sent;
  queue.sent = std::max(queue.sent, queue.next);
  (again ? counters_.packets_again : counters_.packets) += 1;
  (again ? counters_.bytes_again : counters_.bytes) += payload;
  PacketPtr packet = pool_.take();
  packet->source = queue.from;
  packet->destination = queue.to;
  packet->wire_bytes = payload + config_.header_bytes;
  packet->flow = number;
  packet->sequence = sequence;
  packet->path = static_cast<std::uint16_t>(number);
  packet->ecn = Ecn::kEct0;
  packet->sent_at = now;
  const double bytes = packet->wire_bytes;
  fabric_.card(queue.from).enqueue(now, std::move(packet));
  queue.rate.on_sent(now, bytes);
  const double ns = bytes * 8 / queue.rate.rate(now);
  wake(now + Duration(static_cast<std::int64_t>(ns)), number, false);
}

void RoceTransport::on_packet(Time now, HostIndex /*host*/, PacketPtr packet) {
  if (packet->kind == Packet::Kind::kData)
    on_data(now, *packet);
  else
    on_answer(now, *packet);
}

void RoceTransport::on_data(Time now, const Packet& packet) {
  Queue& queue = queues_[packet.flow];
  const bool in_order = packet.sequence == queue.expected;
  if (in_order) {
    ++queue.expected;
    queue.complained = false;
  }
  queue.transfers.deliver(now, queue.expected, listener_);
  // After a gap only the first packet is answered, and none is kept.
  const bool gap = packet.sequence > queue.expected;
  const bool marks = packet.ecn == Ecn::kCe &&
                     (!queue.reported || now >= queue.reported_at + config_.dcqcn.cnp_gap);
  if (gap && std::exchange(queue.complained, true) && !marks) return;
  if (marks) {
    queue.reported = true;
    queue.reported_at = now;
  }
  PacketPtr answer = pool_.take();
  answer->source = packet.destination;
  answer->destination = packet.source;
  answer->wire_bytes = config_.answer_bytes;
  answer->flow = packet.flow;
  answer->cumulative = queue.expected;
  answer->path = packet.path;
  answer->echoed_mark = marks;
  answer->kind = gap ? Packet::Kind::kTrimmed : Packet::Kind::kAck;
  answer->queue = SwitchQueue::kStrictHigh;
  fabric_.card(packet.destination).enqueue(now, std::move(answer));
}

void RoceTransport::on_answer(Time now, const Packet& packet) {
  Queue& queue = queues_[packet.flow];
  if (packet.echoed_mark && config_.slows_down) queue.rate.on_marks(now);
  if (packet.cumulative > queue.acknowledged) {
    queue.acknowledged = packet.cumulative;
    queue.next = std::max(queue.next, queue.acknowledged);
    queue.heard_at = now;
  }
  queue.transfers.acknowledge(now, queue.acknowledged, listener_);
  if (packet.kind == Packet::Kind::kTrimmed && packet.cumulative == queue.acknowledged)
    go_back(now, packet.flow);
}

void RoceTransport::go_back(Time now, std::uint32_t number) {
  Queue& queue = queues_[number];
  queue.next = queue.acknowledged;
  queue.heard_at = now;
  wake(now, number, false);
}

}  // namespace dlcp::simulate
