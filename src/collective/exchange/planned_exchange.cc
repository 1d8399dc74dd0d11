#include "collective/exchange/planned_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "collective/reduce/reduce.h"
#include "util/check.h"

namespace dlcp::collective {
namespace {

// The offset of unit `unit` of a call. If the elements do not divide evenly, chunks differ by one
// element.
std::size_t offset_of(const Call& call, std::uint64_t unit, std::uint64_t units) {
  const std::size_t element = bytes_of(call.type);
  const std::uint64_t elements = call.input.size() / element;  // at most 2^31, like the units
  return static_cast<std::size_t>(elements * unit / units) * element;
}

Transfer::Lane lane_of(const PlannedMessage& message) {
  return message.adds ? Transfer::Lane::kContributions : Transfer::Lane::kResults;
}

std::size_t line_of(const PlannedMessage& message) {
  return TransferQueues::index(message.peer, lane_of(message), message.sends);
}

std::size_t bytes_of_chunk(const Call& call, const PlannedSize& plan, std::uint32_t chunk) {
  const PlannedChunk& c = plan.chunks[chunk];
  return offset_of(call, std::uint64_t{c.begin} + c.units, plan.units) -
         offset_of(call, c.begin, plan.units);
}

}  // namespace

PlannedExchange::PlannedExchange(std::uint32_t ranks, const std::vector<PlannedSize>& sizes,
                                 std::span<std::byte> staging)
    : staging_(staging), queues_(ranks) {
  check(ranks >= 2 && !sizes.empty(), "a plan for some ranks and some size");
  for (const PlannedSize& plan : sizes) {
    Size& size = sizes_.emplace_back();
    size.plan = plan;
    size.of_chunk.resize(plan.chunks.size());
    size.lines.resize(TransferQueues::count(ranks));
    for (std::uint32_t m = 0; m < plan.messages.size(); ++m) {
      const PlannedMessage& message = plan.messages[m];
      size.lines[line_of(message)].push_back(m);
      for (const std::uint32_t chunk : message.chunks)
        size.of_chunk[chunk].push_back({m, static_cast<std::uint32_t>(size.parts++)});
    }
  }
}

const PlannedExchange::Size& PlannedExchange::size_for(const Call& call) const {
  for (const Size& size : sizes_)
    if (call.input.size() <= size.plan.bytes_max) return size;
  return sizes_.back();
}

std::size_t PlannedExchange::staging_needed(const Call& call) const {
  const PlannedSize& plan = size_for(call).plan;
  std::size_t bytes = 0;
  for (const PlannedMessage& message : plan.messages)
    for (const std::uint32_t chunk : message.chunks)
      bytes += bytes_of_chunk(call, plan, chunk);
  return bytes;
}

std::span<std::byte> PlannedExchange::chunk_of(const Running& running, std::uint32_t chunk) {
  const PlannedSize& plan = running.size->plan;
  return running.call.result.subspan(offset_of(running.call, plan.chunks[chunk].begin, plan.units),
                                     bytes_of_chunk(running.call, plan, chunk));
}

// Assigns memory to each message, and an offset in it to each part.
void PlannedExchange::cut(Running& running, std::span<std::byte> staging) const {
  const PlannedSize& plan = running.size->plan;
  std::size_t at = 0;
  for (const PlannedMessage& message : plan.messages) {
    const std::size_t begin = at;
    for (const std::uint32_t chunk : message.chunks) {
      running.offsets.push_back(at - begin);
      at += bytes_of_chunk(running.call, plan, chunk);
    }
    const bool empty = at == begin;  // more units than elements: neither end sends anything
    running.memory.push_back(staging.subspan(begin, at - begin));
    running.missing.push_back(message.sends ? static_cast<std::uint32_t>(message.chunks.size())
                              : empty       ? 0
                                            : 1);
    running.unposted += message.sends && !empty;
  }
}

std::optional<std::uint64_t> PlannedExchange::start(const Call& call) {
  Running running;
  running.call = call;
  running.size = &size_for(call);
  const std::size_t bytes = staging_needed(call);
  std::span<std::byte> memory;
  if (bytes > 0) {
    const auto taken = staging_.take(bytes);
    if (!taken) return std::nullopt;
    memory = *taken;
    running.staged = true;
  }
  if (call.result.data() != call.input.data())
    std::memcpy(call.result.data(), call.input.data(), call.input.size());
  cut(running, memory);
  running.parts_left = running.size->parts;
  running.turn.resize(running.size->plan.chunks.size());
  running.sent.resize(running.size->lines.size());
  for (std::uint32_t chunk = 0; chunk < running.turn.size(); ++chunk)
    running.ready.push_back(chunk);
  const std::uint64_t number = first_call_ + calls_.size();
  calls_.push_back(std::move(running));
  expect(number);
  return number;
}

// Posts all receives at once, so that no rank that is ahead of this one waits for permission to
// send.
void PlannedExchange::expect(std::uint64_t number) {
  const Running& call = running(number);
  const PlannedSize& plan = call.size->plan;
  for (const auto& line : call.size->lines) {
    for (std::uint32_t i = 0; i < line.size(); ++i) {
      const PlannedMessage& message = plan.messages[line[i]];
      if (!message.sends && !call.memory[line[i]].empty())
        queues_.add({message.peer, lane_of(message), false, i, number, call.memory[line[i]]});
    }
  }
}

bool PlannedExchange::finished(std::uint64_t call) const {
  return call < first_call_ || calls_[call - first_call_].finished();
}

bool PlannedExchange::busy() const {
  return !queues_.empty() || std::ranges::any_of(
                                 calls_, [](const Running& call) { return !call.finished(); });
}

void PlannedExchange::post_to(Mesh& mesh) {
  queues_.post_to(mesh, [&](const Transfer& posted) {
    if (posted.sends) {
      --running(posted.call).unposted;
      ++running(posted.call).out;
    }
  });
  retire();
}

void PlannedExchange::on_done(const Transfer& transfer, std::size_t bytes,
                              std::span<const ByteRange>) {
  Running& call = running(transfer.call);
  if (transfer.sends) {
    --call.out;
    return retire();
  }
  const auto line = TransferQueues::index(transfer.peer, transfer.lane, false);
  const std::uint32_t message = call.size->lines[line][transfer.block];
  if (bytes != transfer.memory.size()) {
    disagreement_ =
        fmt::format("rank {} of the group sent {} bytes in all-reduce {}, but the plan says {}",
                    transfer.peer, bytes, transfer.call, transfer.memory.size());
    return;
  }
  call.missing[message] = 0;
  for (const std::uint32_t chunk : call.size->plan.messages[message].chunks)
    call.ready.push_back(chunk);
}

bool PlannedExchange::work() {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    while (!calls_[i].ready.empty()) {
      const std::uint32_t chunk = calls_[i].ready.front();
      calls_[i].ready.pop_front();
      if (advance(calls_[i], chunk)) {
        retire();
        return true;
      }
    }
  }
  return false;
}

// Performs all operations on a chunk that are possible now; false if there are none.
bool PlannedExchange::advance(Running& call, std::uint32_t chunk) {
  const auto& parts = call.size->of_chunk[chunk];
  std::uint32_t& turn = call.turn[chunk];
  const std::uint32_t before = turn;
  while (turn < parts.size()) {
    const Part& part = parts[turn];
    const PlannedMessage& message = call.size->plan.messages[part.message];
    if (message.sends) {
      gather(call, chunk, part);
      ++turn;
      continue;
    }
    if (message.adds) {
      const std::size_t added = add_arrived(call, chunk);
      if (added == 0) break;
      turn += static_cast<std::uint32_t>(added);
      continue;
    }
    if (call.missing[part.message] > 0) break;
    const auto to = chunk_of(call, chunk);
    if (!to.empty()) {
      std::memcpy(to.data(), call.memory[part.message].data() + call.offsets[part.index],
                  to.size());
    }
    ++turn;
  }
  call.parts_left -= turn - before;
  return turn > before;
}

// Adds all contributions that precede the chunk's next send or replacement, in the plan's order.
// Returns the number of operations, or 0 if some contributions are missing.
std::size_t PlannedExchange::add_arrived(Running& call, std::uint32_t chunk) {
  const auto& parts = call.size->of_chunk[chunk];
  const auto to = chunk_of(call, chunk);
  inputs_.assign(1, to.data());
  std::size_t end = call.turn[chunk];
  for (; end < parts.size(); ++end) {
    const PlannedMessage& message = call.size->plan.messages[parts[end].message];
    if (message.sends || !message.adds) break;
    if (call.missing[parts[end].message] > 0) return 0;
    inputs_.push_back(call.memory[parts[end].message].data() + call.offsets[parts[end].index]);
  }
  if (!to.empty()) reduce(call.call.type, call.call.op, inputs_, to.size(), to.data());
  return end - call.turn[chunk];
}

// Messages are sent from the staging, so later operations may change the chunk, and the call may
// finish, before delivery.
void PlannedExchange::gather(Running& call, std::uint32_t chunk, const Part& part) {
  const auto from = chunk_of(call, chunk);
  if (!from.empty()) {
    std::memcpy(call.memory[part.message].data() + call.offsets[part.index], from.data(),
                from.size());
  }
  if (--call.missing[part.message] == 0)
    send_what_is_whole(line_of(call.size->plan.messages[part.message]));
}

// Sends in the order in which the other end receives: by call, then in the plan's order.
void PlannedExchange::send_what_is_whole(std::size_t line_index) {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    Running& call = calls_[i];
    const auto& line = call.size->lines[line_index];
    std::size_t& next = call.sent[line_index];
    for (; next < line.size(); ++next) {
      if (call.missing[line[next]] > 0) return;
      const PlannedMessage& message = call.size->plan.messages[line[next]];
      if (!call.memory[line[next]].empty()) {
        queues_.add({message.peer, lane_of(message), true, static_cast<std::uint32_t>(next),
                     first_call_ + i, call.memory[line[next]]});
      }
    }
  }
}

// Removes the oldest calls that have no outstanding transfers.
void PlannedExchange::retire() {
  while (!calls_.empty() && calls_.front().finished() && calls_.front().out == 0) {
    if (calls_.front().staged) staging_.give_back();
    calls_.pop_front();
    ++first_call_;
  }
}

}  // namespace dlcp::collective
