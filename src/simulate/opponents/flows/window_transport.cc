#include "simulate/opponents/flows/window_transport.h"

#include <algorithm>
#include <utility>

namespace dlcp::simulate {
namespace {

constexpr std::uint32_t kBackOffMost = 6;  // doublings

}  // namespace

class WindowTransport::Timer final : public Sink {
 public:
  explicit Timer(WindowTransport& transport) : transport_(transport) {}
  void on_event(Time now, PacketPtr token) override { transport_.on_timer(now, std::move(token)); }

 private:
  WindowTransport& transport_;
};

WindowTransport::WindowTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
                                 const WindowConfig& config)
    : fabric_(fabric),
      pool_(pool),
      listener_(listener),
      config_(config),
      timer_(std::make_unique<Timer>(*this)) {
  hosts_.resize(fabric_.hosts());
}

WindowTransport::~WindowTransport() = default;

void WindowTransport::open(std::span<const std::pair<HostIndex, HostIndex>> pairs) {
  Host::attach(*this, fabric_, pairs, hosts_);
}

std::uint32_t WindowTransport::flow_between(HostIndex from, HostIndex to) {
  const auto [at, is_new] = numbers_.try_emplace({from, to}, flows_.size());
  if (is_new) {
    flows_.emplace_back();
    flows_.back().from = from;
    flows_.back().to = to;
    on_open(at->second);
  }
  return at->second;
}

void WindowTransport::begin(Time now, TransferId id, const Transfer& transfer) {
  const std::uint32_t number = flow_between(transfer.from, transfer.to);
  Flow& flow = flows_[number];
  const bool idle = flow.done();
  flow.transfers.add(id, transfer.bytes, payload_bytes());
  const std::uint32_t packets = flow.transfers.packets();
  flow.sent_at.resize(packets);
  flow.path_of.resize(packets);
  flow.flying.resize(packets);
  on_work(number, idle);
  offer(number);
  serve(now, flow.from);
}

void WindowTransport::offer(std::uint32_t number) {
  Flow& flow = flows_[number];
  if (flow.queued || !flow.has_data() || !may_send(number)) return;
  flow.queued = true;
  hosts_[flow.from]->turns.push_back(number);
}

void WindowTransport::serve(Time now, HostIndex index) {
  auto& turns = hosts_[index]->turns;
  Port& card = fabric_.card(index);
  while (!turns.empty() && card.waiting_bytes() <= Host::kCardBytes) {
    const std::uint32_t number = turns.front();
    turns.pop_front();
    Flow& flow = flows_[number];
    flow.queued = false;
    while (!flow.again.empty() && flow.acknowledged.has(flow.again.front()))
      flow.again.pop_front();
    if (flow.has_data() && may_send(number)) send_data(now, number);
    offer(number);
  }
}

void WindowTransport::send_data(Time now, std::uint32_t number) {
  Flow& flow = flows_[number];
  std::uint32_t sequence = flow.next;
  const bool again = !flow.again.empty();
  if (again) {
    sequence = flow.again.front();
    flow.again.pop_front();
  } else {
    ++flow.next;
  }
  const auto& range = flow.transfers.range_of(sequence);
  const bool is_last = range.end == sequence + 1;
  const std::uint32_t payload = is_last ? range.last_bytes : payload_bytes();
  PacketPtr packet = pool_.take();
  packet->source = flow.from;
  packet->destination = flow.to;
  packet->wire_bytes = payload + config_.header_bytes;
  packet->flow = number;
  packet->sequence = sequence;
  packet->left = range.end - sequence;
  packet->before = sequence - range.begin;
  packet->path = choose_path(number, sequence);
  packet->ecn = Ecn::kEct0;
  packet->trimmable = config_.data_trimmable;
  packet->queue = config_.queue;
  packet->sent_at = now;
  dress(number, *packet);
  (again ? counters_.packets_again : counters_.packets) += 1;
  (again ? counters_.bytes_again : counters_.bytes) += payload;
  flow.sent_at[sequence] = now;
  flow.path_of[sequence] = packet->path;
  flow.flying[sequence] = 1;
  ++flow.in_flight;
  if (!flow.timer_set) set_timer(now + timeout_of(flow), number);
  fabric_.card(flow.from).enqueue(now, std::move(packet));
}

void WindowTransport::on_packet(Time now, HostIndex host, PacketPtr packet) {
  switch (packet->kind) {
    case Packet::Kind::kData:
      on_data(now, *packet);
      return;
    case Packet::Kind::kAck:
      on_ack(now, *packet);
      break;
    case Packet::Kind::kTrimmed:
      // A trimmed packet: the receiver turns it into a notice, and at the sender it is a notice.
      if (host == flows_[packet->flow].to) {
        send_answer(now, *packet, Packet::Kind::kTrimmed);
        on_received(now, packet->flow);
        return;
      }
      if (flows_[packet->flow].flying[packet->sequence] != 0)
        on_trimmed(now, packet->flow, packet->sequence);
      offer(packet->flow);
      break;
    case Packet::Kind::kPull:
      on_pull(now, packet->flow);
      offer(packet->flow);
      break;
  }
  serve(now, host);
}

void WindowTransport::on_data(Time now, const Packet& packet) {
  Flow& flow = flows_[packet.flow];
  flow.arrived.add(packet.sequence);
  flow.transfers.deliver(now, flow.arrived.below(), listener_);
  send_answer(now, packet, Packet::Kind::kAck);
  on_received(now, packet.flow);
}

void WindowTransport::send_pull(Time now, std::uint32_t number) {
  const Flow& flow = flows_[number];
  PacketPtr pull = pool_.take();
  pull->source = flow.to;
  pull->destination = flow.from;
  pull->wire_bytes = config_.answer_bytes;
  pull->flow = number;
  pull->path = choose_path(number, 0);
  pull->kind = Packet::Kind::kPull;
  pull->queue = SwitchQueue::kStrictHigh;
  fabric_.card(flow.to).enqueue(now, std::move(pull));
}

void WindowTransport::send_answer(Time now, const Packet& packet, Packet::Kind kind) {
  PacketPtr answer = pool_.take();
  answer->source = packet.destination;
  answer->destination = packet.source;
  answer->wire_bytes = config_.answer_bytes;
  answer->flow = packet.flow;
  answer->sequence = packet.sequence;
  answer->cumulative = flows_[packet.flow].arrived.below();
  answer->path = packet.path;
  answer->echoed_path = packet.path;
  answer->echoed_mark = packet.ecn == Ecn::kCe;
  answer->sent_at = packet.sent_at;
  answer->kind = kind;
  answer->queue = config_.answers_first ? SwitchQueue::kStrictHigh : config_.queue;
  fabric_.card(packet.destination).enqueue(now, std::move(answer));
}

void WindowTransport::on_ack(Time now, const Packet& packet) {
  Flow& flow = flows_[packet.flow];
  const bool news = flow.acknowledged.add(packet.sequence);
  if (std::exchange(flow.flying[packet.sequence], 0) != 0) --flow.in_flight;
  if (news) flow.timeouts_in_row = 0;
  on_answer(now, packet.flow,
            {packet.sequence, packet.echoed_mark, packet.echoed_path, now - packet.sent_at, news});
  flow.transfers.acknowledge(now, flow.acknowledged.below(), listener_);
  offer(packet.flow);
}

void WindowTransport::lose(std::uint32_t number, std::uint32_t sequence) {
  Flow& flow = flows_[number];
  if (std::exchange(flow.flying[sequence], 0) == 0) return;
  --flow.in_flight;
  flow.again.push_back(sequence);
}

Duration WindowTransport::timeout_of(const Flow& flow) const {
  return config_.timeout_min * (1 << std::min(flow.timeouts_in_row, kBackOffMost));
}

void WindowTransport::set_timer(Time at, std::uint32_t number) {
  flows_[number].timer_set = true;
  PacketPtr token = pool_.take();
  token->flow = number;
  fabric_.events().schedule(at, *timer_, std::move(token));
}

// The timeout depends on the oldest unacknowledged packet.
void WindowTransport::on_timer(Time now, PacketPtr token) {
  const std::uint32_t number = token->flow;
  Flow& flow = flows_[number];
  flow.timer_set = false;
  if (flow.in_flight == 0) return;
  std::uint32_t oldest = flow.acknowledged.below();
  while (oldest < flow.next && flow.flying[oldest] == 0)
    ++oldest;
  const Time due = flow.sent_at[oldest] + timeout_of(flow);
  if (due > now) {
    set_timer(due, number);
    return;
  }
  ++counters_.timeouts;
  const Duration patience = timeout_of(flow);
  ++flow.timeouts_in_row;
  for (std::uint32_t i = oldest; i < flow.next; ++i) {
    if (flow.flying[i] == 0 || flow.sent_at[i] + patience > now) continue;
    lose(number, i);
    on_silence(number, flow.path_of[i]);
  }
  on_timeout(now, number);
  offer(number);
  serve(now, flow.from);
  if (flow.in_flight > 0 && !flow.timer_set) set_timer(now + timeout_of(flow), number);
}

}  // namespace dlcp::simulate
