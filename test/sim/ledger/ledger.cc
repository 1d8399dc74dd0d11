#include "ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "util/rng.h"

namespace dlcp::test {
namespace {

constexpr std::size_t kGuardBytes = 256;
constexpr std::byte kGuard{0x5a};
constexpr std::size_t kRetiredBytesMax = std::size_t{16} << 20;

bool all_equal(std::span<const std::byte> bytes, std::byte value) {
  return std::all_of(
      bytes.begin(), bytes.end(), [&](std::byte b) { return b == value; });
}

// Compares two ranges of equal size; std::equal would compare std::bytes one by one.
bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// True if the receiver's card has written all of these bytes of the message.
bool is_by_card(const Message& message, std::size_t offset, std::size_t bytes) {
  const auto after = message.by_card.upper_bound(offset);
  if (after == message.by_card.begin()) return false;
  const auto& [begin, count] = *std::prev(after);
  return offset + bytes <= begin + count;
}

// Whether each byte of `a` is the complement of that of `b`, eight at a time: long runs of seeds
// spend most of their time here.
bool all_inverted(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::uint64_t differ = 0;
  std::size_t i = 0;
  for (; i + 8 <= a.size(); i += 8) {
    std::uint64_t one = 0;
    std::uint64_t other = 0;
    std::memcpy(&one, &a[i], 8);
    std::memcpy(&other, &b[i], 8);
    differ |= one ^ ~other;
  }
  for (; i < a.size(); ++i)
    differ |= static_cast<std::uint64_t>(a[i] ^ ~b[i]);
  return differ == 0;
}

void invert(std::span<const std::byte> from, std::byte* to) {
  std::size_t i = 0;
  for (; i + 8 <= from.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, &from[i], 8);
    word = ~word;
    std::memcpy(to + i, &word, 8);
  }
  for (; i < from.size(); ++i)
    to[i] = ~from[i];
}

}  // namespace

Ledger::Ledger(std::uint64_t seed, bool gradients)
    : pattern_(gradients ? &gradient_pattern() : &random_pattern()), next_shift_(seed) {}

void Ledger::fail(Time now, const Place& place, const std::string& what) const {
  throw Violation(fmt::format("at {} ns, flow {}, message {}: {}", ns_of(now), place.flow,
                              place.message, what));
}

Message& Ledger::plan(std::size_t flow, std::size_t bytes, std::size_t capacity) {
  next_shift_ = datapath::sim::mix(next_shift_, flow);
  auto& message = flows_[flow].messages.emplace_back();
  message.bytes = bytes;
  message.capacity = capacity;
  if (bytes > kPatternBytes / 2) throw Violation("the pattern is too short for such a message");
  message.expected = std::span(*pattern_).subspan(next_shift_ % (kPatternBytes / 2) / 4 * 4, bytes);
  return message;
}

void Ledger::provide(Time now, Message& message, std::span<const std::byte> content) {
  message.content.assign(content.begin(), content.end());
  message.expected = message.content;
  message.send_at = now;
}

std::span<const std::byte> Ledger::open_source(Message& message) {
  if (message.source.empty())
    message.source.assign(message.expected.begin(), message.expected.end());
  return message.source;
}

std::span<std::byte> Ledger::open_buffer(HostIndex host, std::size_t flow, std::size_t index) {
  Message& message = flows_[flow].messages[index];
  if (message.buffer.empty()) {
    message.buffer.assign(message.capacity + 2 * kGuardBytes, kGuard);
    const std::size_t filled = std::min(message.bytes, message.capacity);
    if (!message.known_late)
      invert(message.expected.first(filled), message.buffer.data() + kGuardBytes);
  }
  const std::span<std::byte> buffer =
      std::span(message.buffer).subspan(kGuardBytes, message.capacity);
  buffers_[host][message.buffer.data()] = {flow, index};
  return buffer;
}

void Ledger::retire(HostIndex host, Message& message) {
  buffers_[host].erase(message.buffer.data());
  retired_bytes_ += message.buffer.size();
  retired_.push_back(std::exchange(message.buffer, {}));
  for (; retired_bytes_ > kRetiredBytesMax; retired_.pop_front())
    retired_bytes_ -= retired_.front().size();
}

void Ledger::check_not_retired(Time now, HostIndex host, const core::Placement& placement) const {
  for (const auto& memory : retired_)
    if (placement.destination >= memory.data() &&
        placement.destination < memory.data() + memory.size())
      fail(now, {0, 0}, fmt::format("host {} writes to memory that was given back", host));
}

// A placement outside of all buffers is data that the endpoint stores for a message without a
// receive.
void Ledger::place(Time now, HostIndex host, const core::Placement& placement) {
  auto& buffers = buffers_[host];
  auto found = buffers.upper_bound(placement.destination);
  const std::byte* end = nullptr;
  if (found != buffers.begin()) {
    --found;
    end = found->first + flows_[found->second.flow].messages[found->second.message].buffer.size();
  }
  if (placement.destination >= end) {
    check_not_retired(now, host, placement);
    std::copy(placement.payload.begin(), placement.payload.end(), placement.destination);
    return;
  }
  const Place place = found->second;
  Message& message = flows_[place.flow].messages[place.message];
  const std::byte* begin = found->first + kGuardBytes;
  const auto offset = static_cast<std::size_t>(placement.destination - begin);
  const std::size_t size = placement.payload.size() + placement.zeros;
  if (placement.destination < begin || offset + size > message.capacity) {
    fail(now, place,
         fmt::format("a write of {} bytes at {} leaves the buffer", size,
                     placement.destination - begin));
  }
  if (content_expected_) {
    if (offset + size > message.bytes) {
      fail(now, place,
           fmt::format("a write of {} bytes at {} exceeds the message of {}", size, offset,
                       message.bytes));
    }
    const auto expected = message.expected.subspan(offset, size);
    if (placement.zeros == 0 && !same(expected, placement.payload))
      fail(now, place, fmt::format("wrong bytes at offset {}, {} of them", offset, size));
    // The card has placed the packet, but its report has not been read.
    if (placement.zeros == 0 && is_by_card(message, offset, size)) return;
    if (!message.known_late && !all_inverted(expected, {placement.destination, size}))
      fail(now, place, fmt::format("bytes at offset {}, {} of them, written twice", offset, size));
  }
  if (placement.zeros > 0) return place_zeros(now, place, offset, size);
  std::copy(placement.payload.begin(), placement.payload.end(), placement.destination);
  message.placed += size;
  placed_bytes_[host] += size;
}

void Ledger::place_by_card(Time now, HostIndex host, std::span<std::byte> to,
                           std::span<const std::byte> from) {
  const auto& buffers = buffers_[host];
  auto found = buffers.upper_bound(to.data());
  if (found == buffers.begin())
    fail(now, {0, 0}, fmt::format("host {}'s card writes to memory that was given back", host));
  --found;
  const Place place = found->second;
  Message& message = flows_[place.flow].messages[place.message];
  const auto offset = static_cast<std::size_t>(to.data() - (found->first + kGuardBytes));
  if (to.data() >= found->first + message.buffer.size())
    fail(now, {0, 0}, fmt::format("host {}'s card writes to memory that was given back", host));
  if (offset > message.bytes || to.size() > message.bytes - offset)
    fail(now, place, fmt::format("the card writes {} bytes at {}", to.size(), offset));
  const auto expected = message.expected.subspan(offset, to.size());
  if (!same(expected, from)) fail(now, place, fmt::format("wrong bytes placed at {}", offset));
  message.by_card[offset] = to.size();
  if (all_inverted(expected, to)) {
    message.placed += to.size();
    placed_bytes_[host] += to.size();
  } else if (!same(expected, to)) {
    fail(now, place, fmt::format("the card changes bytes at {} that were zeros", offset));
  }
  std::copy(from.begin(), from.end(), to.begin());
}

// Loss is allowed for messages that both ends have licensed, and in whole elements.
void Ledger::place_zeros(Time now, const Place& place, std::size_t offset, std::size_t size) {
  Message& message = flows_[place.flow].messages[place.message];
  if (!message.send_licence.covers(message.bytes, 1) ||
      !message.receive_licence.covers(message.bytes, 1))
    fail(now, place, fmt::format("{} bytes lost of an exact message", size));
  const std::size_t element = gradient::element_bytes(message.receive_licence.element);
  if (offset % element != 0 || size % element != 0) fail(now, place, "a part of an element lost");
  std::fill_n(message.buffer.begin() + static_cast<std::ptrdiff_t>(kGuardBytes + offset), size,
              std::byte{0});
  message.holes.emplace_back(offset, size);
  message.lost += size;
}

bool Ledger::body_is_right(const Message& message) const {
  const auto body = std::span(message.buffer).subspan(kGuardBytes, message.expected.size());
  if (message.holes.empty()) return same(message.expected, body);
  std::vector<std::byte> expected(message.expected.begin(), message.expected.end());
  for (const auto& [offset, size] : message.holes)
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(offset), size, std::byte{0});
  return same(expected, body);
}

std::uint64_t Ledger::placed_bytes(HostIndex host) const {
  const auto found = placed_bytes_.find(host);
  return found == placed_bytes_.end() ? 0 : found->second;
}

void Ledger::close_buffers(std::size_t flow) {
  for (Message& message : flows_[flow].messages)
    if (release_hook_ && message.receive_posted && !message.receive_done)
      release_hook_(flows_[flow].to, message.buffer);
  std::erase_if(buffers_[flows_[flow].to],
                [&](const auto& row) { return row.second.flow == flow; });
}

void Ledger::on_accept(std::size_t index, core::ConnectionId connection) {
  Flow& flow = flows_[index];
  flow.receive_connection = connection;
  const auto early = closed_early_.find({flow.to, connection});
  if (early != closed_early_.end()) flow.receive_error = early->second;
}

void Ledger::on_close(std::size_t flow, bool sender) {
  if (sender) {
    flows_[flow].send_closed = true;
    for (auto& message : flows_[flow].messages)
      std::vector<std::byte>().swap(message.source);
  } else {
    flows_[flow].receive_closed = true;
    close_buffers(flow);
  }
}

void Ledger::on_event(Time now, HostIndex host, const core::Event& event) {
  using Kind = core::Event::Kind;
  if (event.kind == Kind::kClosed) return closed(now, host, event);
  if (event.kind == Kind::kDeclined) return declined(now, host, event);
  if (event.kind == Kind::kUnmarked) return;
  const Place place{event.request >> 32, event.request & 0xffffffffu};
  if (place.flow >= flows_.size() || place.message >= flows_[place.flow].messages.size())
    fail(now, place, "an event for an unknown request");
  hash_ = datapath::sim::mix(hash_, static_cast<std::uint64_t>(ns_of(now)));
  hash_ = datapath::sim::mix(hash_, event.request << 1 | (event.kind == Kind::kSendDone));
  event.kind == Kind::kSendDone ? send_done(now, place, event) : receive_done(now, place, event);
}

void Ledger::send_done(Time now, Place place, const core::Event& event) {
  Flow& flow = flows_[place.flow];
  Message& message = flow.messages[place.message];
  if (flow.send_closed || flow.send_error) fail(now, place, "a send done after the end");
  if (event.connection != flow.send_connection) fail(now, place, "a send of another connection");
  if (place.message >= flow.sends_posted) fail(now, place, "a send done that was not posted");
  if (message.send_done) fail(now, place, "a send done twice");
  if (event.bytes != message.bytes) fail(now, place, fmt::format("{} bytes sent", event.bytes));
  if (message.receive_posted && content_expected_ &&
      message.placed + message.lost != message.bytes) {
    fail(now, place,
         fmt::format("a send done with {} of {} bytes at the receiver", message.placed,
                     message.bytes));
  }
  message.send_done = true;
  ++flow.sends_done;
  std::vector<std::byte>().swap(message.source);  // later reads are reads of freed memory
}

void Ledger::receive_done(Time now, Place place, const core::Event& event) {
  Flow& flow = flows_[place.flow];
  Message& message = flow.messages[place.message];
  if (flow.receive_closed || flow.receive_error) fail(now, place, "a receive done after the end");
  if (event.connection != flow.receive_connection) fail(now, place, "another connection's receive");
  if (!message.receive_posted) fail(now, place, "a receive done that was not posted");
  if (message.receive_done) fail(now, place, "a receive done twice");
  if (content_expected_) {
    if (event.bytes != message.bytes || event.lost != message.lost ||
        message.placed + message.lost != message.bytes) {
      fail(now, place,
           fmt::format("a receive done with {} bytes of {}, {} of them placed, {} zeros of {}",
                       event.bytes, message.bytes, message.placed, message.lost, event.lost));
    }
    auto holes = message.holes;
    std::ranges::sort(holes);
    const bool named = std::ranges::equal(holes, event.holes, [](const auto& seen, ByteRange told) {
      return seen.first == told.begin && seen.second == told.size();
    });
    if (!named) fail(now, place, "a receive done that names other holes than it has");
    const std::span<const std::byte> all = message.buffer;
    if (!body_is_right(message)) fail(now, place, "a receive done with wrong bytes");
    if (!all_equal(all.first(kGuardBytes), kGuard) ||
        !all_equal(all.subspan(kGuardBytes + message.bytes), kGuard))
      fail(now, place, "bytes outside the message were written");
  }
  message.receive_done = true;
  message.done_at = last_done_at_ = now;
  ++flow.receives_done;
  if (receive_hook_) {
    receive_hook_(place.flow, place.message,
                  std::span(message.buffer).subspan(kGuardBytes, message.bytes));
  }
  retire(flow.to, message);
}

void Ledger::declined(Time now, HostIndex host, const core::Event& event) {
  for (Flow& flow : flows_) {
    if (flow.to != host || flow.listener != event.connection) continue;
    if (flow.declined && flow.declined->proven == event.proven)
      fail(now, {0, 0}, "a listener received the same refusal twice");
    flow.declined = event;
    return;
  }
  fail(now, {0, 0}, "a refusal for an unknown listener");
}

void Ledger::closed(Time now, HostIndex host, const core::Event& event) {
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
    const bool sender = flow.from == host && flow.send_connection == event.connection;
    const bool receiver = flow.to == host && flow.receive_connection == event.connection;
    if (!sender && !receiver) continue;
    const char* end = sender ? "sender" : "receiver";
    if (!failures_allowed_ || event.error.code == ErrorCode::kInternal) {
      fail(now, {i, sender ? flow.sends_done : flow.receives_done},
           fmt::format("the {}'s connection closed: {}", end, event.error.message()));
    }
    auto& error = sender ? flow.send_error : flow.receive_error;
    if (error || (sender ? flow.send_closed : flow.receive_closed))
      fail(now, {i, 0}, fmt::format("the {}'s connection closed after its end", end));
    error = event.error;
    if (receiver) close_buffers(i);
    return;
  }
  if (!failures_allowed_ || event.error.code == ErrorCode::kInternal)
    fail(now, {0, 0}, "an unknown connection closed: " + event.error.message());
  closed_early_[{host, event.connection}] = event.error;
}

}  // namespace dlcp::test
