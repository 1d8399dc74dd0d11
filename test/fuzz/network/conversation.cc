#include "conversation.h"

#include <algorithm>
#include <map>

#include "core/bounded_loss/loss_ledger.h"
#include "secrets.h"

namespace dlcp::test {
namespace {

constexpr std::size_t kPaths = 4;
constexpr std::uint64_t kPoolBytes = 5000;

core::Config config_of(FuzzInput& input, bool hostile) {
  constexpr std::array<std::size_t, 4> kDatagrams{600, 1472, 4172, 8972};
  core::Config config;
  const auto choice = input.take<std::uint8_t>();
  config.datagram_bytes_max = kDatagrams[choice & 3];
  config.protection = (choice & 4) != 0 ? wire::Protection::kFull : wire::Protection::kHeader;
  config.unit_bytes = (choice & 8) != 0 ? 16'000 : 0;
  config.can_unmark = (choice & 8) != 0;
  config.eager_bytes = std::size_t{(choice >> 4) & 3u} * 3000;
  config.unposted_pool_bytes = (choice & 64) != 0 ? 5000 : 100'000;
  if ((choice & 128) != 0) config.compression = {compression::Mode::kOn, 1};
  config.requests_max = 1 + input.below(8);
  config.receive_capacity_bytes = std::size_t{8192} << (config.requests_max & 3);
  config.paths = kPaths;
  config.licence_bytes_min = 1;
  config.peer_timeout = hostile ? 200ms : 20s;
  return config;
}

}  // namespace

Duration some_time(FuzzInput& input) {
  const auto length = input.take<std::uint8_t>();
  return Duration((1000 + 66 * (length & 15)) << (length >> 4));
}

Conversation::End::End(Conversation& conversation, HostIndex index, ByteCard& datapath,
                       const core::Config& config)
    : of(conversation),
      host(index),
      card(datapath),
      pump(datapath, config, secrets_of(index + 7), *this) {}

void Conversation::End::place(const core::Placement& placement) {
  of.ledger_.place(of.now_, host, placement);
}

Conversation::Conversation(FuzzInput& input, const Time& now, bool hostile,
                           std::array<ByteCard*, 2> cards)
    : now_(now), ledger_(1, /*gradients=*/true) {
  const core::Config config = config_of(input, hostile);
  if (hostile) {
    ledger_.allow_failures();
    ledger_.expect_content(false);
  }
  for (SharedBudget& pool : pools_)
    pool.grant(kPoolBytes);
  for (HostIndex host = 0; host < 2; ++host)
    ends_[host] = std::make_unique<End>(*this, host, *cards[host], config);
  add_traffic(input, 0, 1);
  add_traffic(input, 1, 0);
}

void Conversation::add_traffic(FuzzInput& input, HostIndex from, HostIndex to) {
  const auto shape = input.take<std::uint8_t>();
  if ((shape & 7) == 0) return;  // nothing in this direction
  const std::size_t index = ledger_.flows().size();
  Flow& flow = ledger_.flows().emplace_back();
  flow.from = from;
  flow.to = to;
  flow.close_when_done = (shape & 8) != 0;
  const bool direct = (shape & 16) != 0;
  const auto listening = pump(to).endpoint().listen(1, static_cast<std::uint32_t>(index));
  keys_.add(listening.invitation);
  flow.listener = listening.id;
  flow.send_connection =
      pump(from).endpoint().connect(now_, 1, listening.invitation, byte_address(to));
  for (unsigned k = 0; k < (shape & 7u); ++k) {
    const auto kind = input.take<std::uint8_t>();
    const bool licensed = (kind & 1) != 0;
    std::size_t bytes = input.below((kind & 2) != 0 ? 40'000 : 3000);
    if (licensed) bytes = (bytes / 4 + 1) * 4;
    Message& message = ledger_.plan(index, bytes, bytes + ((kind & 4) != 0 ? 777 : 0));
    message.send_at = message.receive_at = now_;
    if ((kind & 8) != 0) message.receive_at += some_time(input);
    if ((kind & 16) != 0) message.send_at += some_time(input);
    if (!licensed) continue;
    core::Licence licence{1 + k / 2, 100'000, 2, 2, 0, 0, gradient::ElementType::kFloat32};
    licence.budget_ppm = (kind & 32) != 0 ? core::kBudgetPpmMax : 10'000;
    licence.urgent = (kind & 64) != 0;
    if (direct) licence.shape = core::LossShape::kDirect;
    message.send_licence = licence;
    if (direct) licence.pool = &pools_[to];
    if ((kind & 128) == 0) message.receive_licence = licence;  // else the message is exact
  }
}

Time Conversation::next_post() const {
  Time next = kNever;
  for (const Flow& flow : ledger_.flows()) {
    if (flow.sends_posted < flow.messages.size()) {
      const Time at = flow.messages[flow.sends_posted].send_at;
      if (at > now_) next = std::min(next, at);
    }
    if (flow.receives_posted < flow.messages.size()) {
      const Time at = flow.messages[flow.receives_posted].receive_at;
      if (at > now_) next = std::min(next, at);
    }
  }
  return next;
}

void Conversation::serve(HostIndex host) {
  for (std::size_t i = 0; i < ledger_.flows().size(); ++i) {
    const Flow& flow = ledger_.flows()[i];
    if (flow.from == host && !flow.send_closed && !flow.send_error) serve_sender(i);
    if (flow.to == host && !flow.receive_closed && !flow.receive_error) serve_receiver(i);
  }
  hear_events(host);  // a failed post also ends other connections of its communicator
  for (std::size_t i = 0; i < ledger_.flows().size(); ++i) {
    const Flow& flow = ledger_.flows()[i];
    if (!flow.close_when_done) continue;
    if (flow.from == host && sender_is_done(flow)) close_sender(i);
    if (flow.to == host && receiver_is_done(flow)) close_receiver(i);
  }
}

bool Conversation::sender_is_done(const Flow& flow) {
  return !flow.send_closed && !flow.send_error && flow.sends_done == flow.messages.size() &&
         endpoint(flow.from).state(flow.send_connection) == core::ConnectionState::kOpen;
}

bool Conversation::receiver_is_done(const Flow& flow) const {
  return flow.receive_connection && !flow.receive_closed && !flow.receive_error &&
         flow.receives_done == flow.messages.size();
}

void Conversation::serve_sender(std::size_t index) {
  Flow& flow = ledger_.flows()[index];
  for (; flow.sends_posted < flow.messages.size(); ++flow.sends_posted) {
    Message& message = flow.messages[flow.sends_posted];
    if (message.send_at > now_) break;
    const auto request = Ledger::request_id(index, flow.sends_posted);
    const auto source = ledger_.open_source(message);
    if (!pump(flow.from).endpoint().post_send(now_, flow.send_connection, request, source,
                                              message.send_licence))
      break;
  }
}

void Conversation::serve_receiver(std::size_t index) {
  Flow& flow = ledger_.flows()[index];
  if (!flow.receive_connection) {
    const auto accepted = pump(flow.to).endpoint().accept(flow.listener);
    if (!accepted) return;
    ledger_.on_accept(index, *accepted);
    if (flow.receive_error) return;
  }
  for (; flow.receives_posted < flow.messages.size(); ++flow.receives_posted) {
    Message& message = flow.messages[flow.receives_posted];
    if (message.receive_at > now_) break;
    const auto request = Ledger::request_id(index, flow.receives_posted);
    const auto buffer = ledger_.open_buffer(flow.to, index, flow.receives_posted);
    if (!pump(flow.to).post_receive(now_, *flow.receive_connection, request, buffer,
                                    message.receive_licence))
      break;
    message.receive_posted = true;
  }
}

// The application closes, whatever is outstanding; it has received all earlier events.
void Conversation::hang_up(HostIndex host) {
  hear_events(host);
  for (std::size_t i = 0; i < ledger_.flows().size(); ++i) {
    const Flow& flow = ledger_.flows()[i];
    if (flow.from == host && !flow.send_closed && !flow.send_error) close_sender(i);
    if (flow.to == host && flow.receive_connection && !flow.receive_closed && !flow.receive_error)
      close_receiver(i);
  }
}

void Conversation::close_sender(std::size_t index) {
  const Flow& flow = ledger_.flows()[index];
  forget_sends(index);
  ledger_.on_close(index, true);
  pump(flow.from).endpoint().close(now_, flow.send_connection);
}

void Conversation::close_receiver(std::size_t index) {
  const Flow& flow = ledger_.flows()[index];
  ledger_.on_close(index, false);
  pump(flow.to).endpoint().close(now_, *flow.receive_connection);
}

void Conversation::hear_events(HostIndex host) {
  while (const auto event = pump(host).poll_event(now_)) {
    ledger_.on_event(now_, host, *event);
    if (event->kind != core::Event::Kind::kClosed) continue;
    for (std::size_t i = 0; i < ledger_.flows().size(); ++i) {
      const Flow& flow = ledger_.flows()[i];
      if (flow.from == host && flow.send_connection == event->connection) forget_sends(i);
    }
  }
}

void Conversation::forget_sends(std::size_t index) {
  const Flow& flow = ledger_.flows()[index];
  for (const Message& message : flow.messages) {
    if (message.send_done) continue;
    pump(flow.from).forget(flow.send_connection, message.source);
    ends_[flow.from]->card.abandon(message.source);
  }
}

bool Conversation::finished() const {
  const auto& flows = ledger_.flows();
  return std::all_of(flows.begin(), flows.end(), [](const Flow& flow) {
    return flow.sends_finished() && flow.receives_finished();
  });
}

// All messages of a collective together lose at most its licence's budget on this hop.
void Conversation::check_budgets() const {
  std::array<std::uint64_t, 2> of_pool{};
  for (const Flow& flow : ledger_.flows()) {
    std::map<std::uint64_t, std::uint64_t> spent;
    for (const Message& message : flow.messages) {
      if (message.lost == 0) continue;
      const core::Licence& licence = message.receive_licence;
      if (licence.pool != nullptr) {
        of_pool[flow.to] += message.lost;
        continue;
      }
      const auto cost = spent[licence.collective] += message.lost * licence.cost();
      if (cost > core::LossLedger::budget(licence, message.bytes))
        throw Violation("a collective has lost more than its budget");
    }
  }
  for (std::size_t host = 0; host < of_pool.size(); ++host)
    if (of_pool[host] != pools_[host].spent() || of_pool[host] > kPoolBytes)
      throw Violation("contributions have lost more than their pool");
}

}  // namespace dlcp::test
