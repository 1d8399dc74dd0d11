#include "world.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "datapath/trace/note.h"
#include "secrets.h"
#include "world_host.h"

namespace dlcp::test {
namespace {

// More steps than this at one time mean a livelock: a due event is not handled.
constexpr std::size_t kStepsAtOneTimeMax = 100'000;

}  // namespace

World::World(WorldConfig config)
    : config_(std::move(config)),
      network_(config_.network),
      ledger_(config_.seed, config_.gradients) {
  std::uint64_t seed = config_.seed;
  for (HostIndex i = 0; i < network_.host_count(); ++i) {
    const auto limits = network_.host(i).limits();
    core::Config core = config_.core;
    core.datagram_bytes_max = limits.datagram_bytes_max;
    core.paths = limits.paths;
    core.can_unmark = limits.can_unmark;
    core.receive_capacity_bytes = limits.receive_capacity_bytes;
    if (config_.adjust) config_.adjust(i, core);
    seed = datapath::sim::mix(seed, i + 1);
    core::Secrets secrets = secrets_of(seed);
    if (config_.site_secret) secrets.site = config_.site_secret(i);
    hosts_.push_back(std::make_unique<Host>(*this, i, core, config_.host, seed, secrets));
    if (datapath::sim::SimPlacer* card = network_.host(i).card()) watch(i, *card);
  }
}

void World::watch(HostIndex host, datapath::sim::SimPlacer& card) {
  card.set_write([this, host](Time now, std::span<std::byte> to, std::span<const std::byte> from) {
    ledger_.place_by_card(now, host, to, from);
  });
  ledger_.set_release_hook([this](HostIndex of, std::span<std::byte> memory) {
    network_.host(of).release_memory(memory);
  });
}

// Connections that end now are of no interest any more, and neither is what cards still write.
World::~World() {
  for (HostIndex i = 0; i < network_.host_count(); ++i)
    if (datapath::sim::SimPlacer* card = network_.host(i).card())
      card->set_write([](Time, std::span<std::byte>, std::span<const std::byte>) {});
}

core::Endpoint& World::endpoint(HostIndex host) {
  return hosts_[host]->endpoint();
}

std::size_t World::open_flow(HostIndex from, HostIndex to, core::ContextId context) {
  auto& flow = ledger_.flows().emplace_back();
  flow.from = from;
  flow.to = to;
  const auto number = static_cast<std::uint32_t>(invitations_.size() + 1);
  const auto listening = endpoint(to).listen(context, number);
  invitations_.push_back(listening.invitation);
  keys_.add(listening.invitation);
  flow.listener = listening.id;
  flow.send_connection = endpoint(from).connect(now(), context, listening.invitation,
                                                network_.host(to).local_address());
  hosts_[from]->kick();
  return ledger_.flows().size() - 1;
}

void World::decline(std::size_t index, const core::Refusal& why) {
  const Flow& declined = flow(index);
  endpoint(declined.from)
      .decline(now(), 1, invitations_[index], network_.host(declined.to).local_address(), why);
  hosts_[declined.from]->kick();
}

Message& World::transfer(std::size_t index, std::size_t bytes, Time send_at, Time receive_at,
                         std::size_t spare) {
  Message& message = ledger_.plan(index, bytes, bytes + spare);
  message.send_at = send_at;
  message.receive_at = receive_at;
  hosts_[flow(index).from]->kick();
  hosts_[flow(index).to]->kick();
  return message;
}

Message& World::transfer_later(std::size_t index, std::size_t bytes) {
  Message& message = transfer(index, bytes, kNever);
  message.known_late = true;
  return message;
}

Message& World::transfer_unexpected(std::size_t index, std::size_t bytes) {
  Message& message = transfer(index, bytes, kNever, kNever);
  message.known_late = true;
  return message;
}

void World::expect(std::size_t index, std::size_t number, const core::Licence& licence) {
  Message& message = flow(index).messages[number];
  message.receive_licence = licence;
  message.receive_at = now();
  hosts_[flow(index).to]->kick();
}

void World::provide(std::size_t index, std::size_t number, std::span<const std::byte> content) {
  ledger_.provide(now(), flow(index).messages[number], content);
  hosts_[flow(index).from]->kick();
}

void World::close_sender(std::size_t index) {
  if (flow(index).send_closed) return;
  for (const Message& message : flow(index).messages)
    hosts_[flow(index).from]->forget(flow(index).send_connection, message.source);
  ledger_.on_close(index, true);
  endpoint(flow(index).from).close(now(), flow(index).send_connection);
  hosts_[flow(index).from]->kick();
}

void World::close_receiver(std::size_t index) {
  Flow& closing = flow(index);
  if (closing.receive_closed) return;
  if (closing.receive_connection) endpoint(closing.to).close(now(), *closing.receive_connection);
  ledger_.on_close(index, false);
  endpoint(closing.to).close_listener(now(), closing.listener);
  hosts_[closing.to]->kick();
}

void World::kill(HostIndex host) {
  hosts_[host]->kill();
}

void World::freeze(HostIndex host, Duration length) {
  hosts_[host]->freeze_until(now() + length);
}

void World::set_filter(const Filter& filter) {
  for (HostIndex host = 0; host < hosts_.size(); ++host) {
    if (!filter) {
      hosts_[host]->set_filter({});
      continue;
    }
    hosts_[host]->set_filter([this, host, filter](std::vector<std::byte>& datagram) {
      keys_.see(datagram);
      return filter(host, datagram);
    });
  }
}

void World::deliver(HostIndex host, std::span<const std::byte> datagram,
                    const wire::HostAddress& source) {
  hosts_[host]->take(now(), {.bytes = datagram, .arrived_at = now(), .source = source});
  hosts_[host]->kick();
}

void World::explain(const Violation& violation) {
  struct Explained : Violation {
    using Violation::Violation;
  };
  if (dynamic_cast<const Explained*>(&violation) != nullptr) throw;
  throw Explained(fmt::format("{}\nat {} ns:\n{}the last packets and decisions:\n{}",
                              violation.what(), ns_of(now()), describe(), trace()));
}

std::string World::trace() const {
  std::vector<std::pair<HostIndex, datapath::TracedPacket>> all;
  for (HostIndex host = 0; host < hosts_.size(); ++host)
    for (const auto& packet : hosts_[host]->trace())
      all.emplace_back(host, packet);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.at < b.second.at; });
  std::string text;
  for (const auto& [host, packet] : all)
    text += fmt::format("host {}: {}\n", host, datapath::text_of(packet));
  return text;
}

bool World::step(Time limit) {
  try {
    return advance(limit);
  } catch (const Violation& violation) {
    explain(violation);
  }
}

bool World::advance(Time limit) {
  Time next = network_.events().next();
  for (auto& host : hosts_)
    next = std::min(next, host->wake_at(now()));
  if (next > limit) {
    network_.events().run_until(limit);
    return false;
  }
  network_.events().run_until(next);
  for (auto& host : hosts_)
    if (host->wake_at(next) <= next) host->step(next);
  steps_at_this_time_ = next == std::exchange(last_step_at_, next) ? steps_at_this_time_ + 1 : 0;
  if (steps_at_this_time_ > kStepsAtOneTimeMax) throw Violation("time stands still");
  return true;
}

void World::run_until(Time limit) {
  while (step(limit)) {
  }
}

bool World::run_until(Time limit, const std::function<bool()>& reached) {
  while (!reached())
    if (!step(limit)) return reached();
  return true;
}

bool World::finished() {
  for (const Flow& each : ledger_.flows()) {
    const bool from_dead = hosts_[each.from]->dead();
    const bool to_dead = hosts_[each.to]->dead();
    if (!from_dead && !each.sends_finished()) return false;
    if (!to_dead && !each.receives_finished()) return false;
    if (!each.close_when_done) continue;
    if (!from_dead && !each.send_closed && !each.send_error) return false;
    if (!to_dead && !each.receive_closed && !each.receive_error) return false;
  }
  return true;
}

void World::finish(Duration limit) {
  const Time until = now() + limit;
  try {
    if (!run_until(until, [this] { return finished(); })) throw Violation("not finished in time");
    run_for(5ms);  // late events must do no harm
    check_counters();
  } catch (const Violation& violation) {
    explain(violation);
  }
}

std::uint64_t World::sum(core::Counter counter) {
  std::uint64_t total = 0;
  for (auto& host : hosts_)
    total += host->endpoint().counters()[counter];
  return total;
}

void World::check_counters() {
  using core::Counter;
  bool failed = false;
  std::vector<std::uint64_t> sent(hosts_.size());
  for (const Flow& each : ledger_.flows()) {
    failed = failed || each.send_error || each.receive_error;
    for (const Message& message : each.messages)
      sent[each.from] += message.bytes;
    if (each.sends_done < each.messages.size()) failed = true;
  }
  for (HostIndex i = 0; i < hosts_.size(); ++i) {
    const auto& counters = endpoint(i).counters();
    const auto placed = counters[Counter::kBytesReceived];
    if (!failed && placed != ledger_.placed_bytes(i)) {
      throw Violation(fmt::format("host {} counts {} bytes received and placed {}", i, placed,
                                  ledger_.placed_bytes(i)));
    }
    const auto once = counters[Counter::kBytesSent] - counters[Counter::kBytesRetransmitted];
    if (!failed && once != sent[i]) {
      throw Violation(fmt::format("host {} counts {} bytes sent, less {} retransmitted, for {}", i,
                                  counters[Counter::kBytesSent],
                                  counters[Counter::kBytesRetransmitted], sent[i]));
    }
  }
}

std::string World::describe() {
  std::string text;
  for (std::size_t i = 0; i < ledger_.flows().size(); ++i) {
    const Flow& each = flow(i);
    text += fmt::format(
        "flow {} ({} -> {}): {} messages, sends {} posted {} done, receives {} "
        "posted {} done{}\n",
        i, each.from, each.to, each.messages.size(), each.sends_posted, each.sends_done,
        each.receives_posted, each.receives_done, each.receive_connection ? "" : ", not accepted");
  }
  for (HostIndex i = 0; i < hosts_.size(); ++i) {
    const Time wake = hosts_[i]->wake_at(now());
    text += fmt::format("host {} wakes at {}:", i, wake == kNever ? -1 : ns_of(wake));
    for (const auto& row : core::kCounterRows) {
      const auto value = endpoint(i).counters()[row.counter];
      if (value > 0) text += fmt::format(" {}={}", row.name, value);
    }
    text += '\n';
  }
  return text;
}

}  // namespace dlcp::test
