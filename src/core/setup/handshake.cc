#include "core/setup/handshake.h"

#include <algorithm>
#include <iterator>

#include "core/packet_size/packet_size.h"
#include "wire/data/data_header.h"

namespace dlcp::core {
namespace {

// The pause doubles up to kShortPause, and up to kLongestPause after every path was tried twice.
constexpr Duration kShortPause = 40ms;
constexpr Duration kLongestPause = 500ms;
constexpr Duration kRoundLeast = 1ms;
constexpr Duration kRoundMost = 1s;
// Rounds in which a larger HELLO may still be answered after a smaller one was.
constexpr unsigned kPatience = 4;
// Some networks drop packets with a DSCP or with ECN. After this time without an answer each round
// also sends a HELLO without them. Other addresses of the peer are tried after 500 ms
// (engine/opening).
constexpr Duration kMarkedPatience = 250ms;
// The lowest bit of the echo: this HELLO was sent without DSCP and ECN. One unit is 128 ns.
constexpr std::uint32_t kUnmarkedBit = 1;
// A size that nearly every network passes. The first round tries only this size and the largest,
// later rounds all sizes: a job opens thousands of connections at once, and nearly all networks
// pass the full size.
constexpr std::uint32_t kSafeDatagram = kCommonDatagrams[3];

}  // namespace

Handshake::Handshake(const Config& config, std::uint64_t token, const Target& target,
                     const wire::EndpointAddress& local)
    : config_(config), token_(token), target_(target), local_(local) {
  terms_.protection = config.protection;
  sizes_.push_back(static_cast<std::uint32_t>(config.datagram_bytes_max));
  for (const std::uint32_t size : kCommonDatagrams)
    if (size < sizes_.front()) sizes_.push_back(size);
}

void Handshake::wait() {
  state_ = State::kWaiting;
  joins_ = forgotten_ = false;
  next_send_ = kNever;
}

void Handshake::lead(Time now, const AssociationName& name) {
  association_ = name;
  state_ = State::kHello;
  next_send_ = now;
  unmarked_from_ = now + kMarkedPatience;
  pause_ = kFirstPause;
  rounds_ = 0;
  hello_at_.assign(config_.paths, 0);
  next_size_ = 0;
}

void Handshake::join(Time now, const AssociationName& name, const AssociationTerms& terms) {
  lead(now, name);
  joins_ = true;
  terms_ = terms;
}

void Handshake::on_joined(const wire::Welcome& welcome) {
  if (welcome.payload_bytes != terms_.payload_bytes ||
      welcome.association != association_.peer_token) {
    forgotten_ = true;
    return;
  }
  receiver_token_ = welcome.receiver_token;
  if (!welcome.lanes.empty()) peer_lanes_ = welcome.lanes;
  finish();
}

void Handshake::finish() {
  state_ = State::kDone;
  next_send_ = kNever;
  hello_at_ = {};
}

// The largest size that is still worth waiting for.
std::uint32_t Handshake::wanted() const {
  for (const std::uint32_t size : sizes_)
    if (size <= peer_datagram_max_) return size;
  return sizes_.back();
}

// All packets to the peer's host go without marks.
bool Handshake::is_known_unmarked() const {
  return target_.unmarked_peers != nullptr && target_.unmarked_peers->contains(target_.at);
}

void Handshake::on_welcome(Time now, const wire::Welcome& welcome) {
  if (state_ == State::kDone || state_ == State::kWaiting) return;
  if (joins_) return on_joined(welcome);
  const bool sound = welcome.datagram_bytes_max >= kDatagramLeast &&
                     welcome.hello_bytes >= kDatagramLeast &&
                     welcome.hello_bytes <= config_.datagram_bytes_max &&
                     (welcome.protection == wire::Protection::kEncrypted) ==
                         (config_.protection == wire::Protection::kEncrypted);
  if (!sound) return;
  const bool first = answered_ == 0;
  needs_unmarked_ = (welcome.echo & kUnmarkedBit) != 0 && (first || needs_unmarked_);
  const std::uint32_t sent = welcome.echo & ~kUnmarkedBit;
  const Duration took = now - wire::from_wire_time(sent, now);
  const Duration shortest = first ? took : std::min(terms_.round_trip, took);
  terms_.round_trip = std::clamp(shortest, kRoundLeast, kRoundMost);
  const auto answered = std::find(hello_at_.begin(), hello_at_.end(), sent);
  if (answered != hello_at_.end())
    start_path_ = static_cast<wire::PathIndex>(answered - hello_at_.begin());
  receiver_token_ = welcome.receiver_token;
  if (!welcome.lanes.empty()) peer_lanes_ = welcome.lanes;
  if (state_ == State::kStart) {  // the peer has dropped the half-open connection
    next_send_ = now;
    return;
  }
  if (peer_datagram_max_ != welcome.datagram_bytes_max) {
    peer_datagram_max_ = welcome.datagram_bytes_max;
    // The peer's own limit is a size to try as well.
    const auto at = std::find_if(sizes_.begin(), sizes_.end(),
                                 [&](std::uint32_t size) { return size <= peer_datagram_max_; });
    if (at != sizes_.begin() && (at == sizes_.end() || *at < peer_datagram_max_)) {
      sizes_.insert(at, peer_datagram_max_);
      if (next_size_ >= sizes_.size() - 1) next_send_ = now;
      next_size_ = 0;
    }
  }
  terms_.protection = std::max(terms_.protection, welcome.protection);
  if (welcome.hello_bytes > answered_) terms_.took = took;
  if (welcome.hello_bytes == answered_) terms_.took = std::min(terms_.took, took);
  answered_ = std::max(answered_, welcome.hello_bytes);
  if (answered_ >= wanted()) {
    agree_on(answered_);
    next_send_ = now;
  } else if (first) {
    pause_ = kFirstPause;
    next_send_ = std::min(next_send_, now + pause_);
  }
}

void Handshake::agree_on(std::uint32_t datagram_bytes) {
  // A HELLO can arrive at a peer whose interface could not send a packet of this size.
  datagram_bytes = std::min(datagram_bytes, peer_datagram_max_);
  const std::size_t room = datagram_bytes - wire::overhead_bytes(terms_.protection);
  terms_.payload_bytes = static_cast<std::uint32_t>(room - room % wire::kPayloadGranuleBytes);
  state_ = State::kStart;
  pause_ = kFirstPause;
  rounds_ = 0;
}

void Handshake::emit_hello(Time now, std::uint32_t size, bool unmarked, FrameWriter& frames,
                           wire::TxPacket& out) {
  wire::Hello hello;
  hello.destination = wire::listener_token(target_.listener);
  hello.listener_number = target_.listener.number;
  hello.sender_token = token_;
  hello.sender_address = local_;
  hello.hello_bytes = size;
  hello_at_[path_] = wire::wire_time(now) & ~kUnmarkedBit;
  hello.echo = hello_at_[path_] | (unmarked ? kUnmarkedBit : 0);
  hello.protection = config_.protection;
  hello.membership = target_.membership;
  hello.association = association_.token;
  hello.receiver_association = association_.peer_token;
  hello.stream = association_.stream;
  frames.emit(hello, target_.key, path_, target_.at, out);
  out.unmarked = unmarked;
}

std::size_t Handshake::poll_transmit(Time now, FrameWriter& frames, std::span<wire::TxPacket> out) {
  if (now < next_send_ || state_ == State::kDone || state_ == State::kWaiting) return 0;
  if (state_ == State::kHello && answered_ > 0 && next_size_ == 0 && ++rounds_answered_ > kPatience)
    agree_on(answered_);
  std::size_t count = 0;
  bool has_hello = state_ == State::kHello;
  const bool is_known = is_known_unmarked();
  const bool unmarked = needs_unmarked_ || is_known;
  if (state_ == State::kStart) {
    if (out.empty()) return 0;
    frames.emit(wire::Start{receiver_token_, terms_.payload_bytes, terms_.protection, unmarked},
                start_path_, target_.at, out[count]);
    out[count++].unmarked = unmarked;
    // A receiver with many half-open connections may have dropped this one, and the path may have
    // failed: send HELLO again, on the next path.
    if (++starts_ % kPatience == 0 && count < out.size()) {
      emit_hello(now, answered_, unmarked, frames, out[count++]);
      has_hello = true;
    }
  }
  if (joins_ && !out.empty()) emit_hello(now, kDatagramLeast, unmarked, frames, out[count++]);
  while (state_ == State::kHello && !joins_ && next_size_ < sizes_.size()) {
    const std::uint32_t size = sizes_[next_size_];
    const bool later = first_round_ && next_size_ > 0 && size != kSafeDatagram;
    if (later || size > peer_datagram_max_ || size <= answered_) {
      ++next_size_;
      continue;
    }
    if (count == out.size()) return count;
    ++next_size_;
    emit_hello(now, size, unmarked, frames, out[count++]);
  }
  // If only a HELLO without marks was answered, one with marks may have been lost by chance.
  const bool tries_both = config_.can_unmark && !is_known && now >= unmarked_from_;
  if (has_hello && tries_both && (answered_ == 0 || needs_unmarked_)) {
    if (count == out.size()) return count;
    emit_hello(now, kDatagramLeast, !unmarked, frames, out[count++]);
  }
  next_size_ = 0;
  first_round_ = false;
  if (has_hello) path_ = static_cast<wire::PathIndex>((path_ + 1u) % config_.paths);
  next_send_ = now + pause_;
  const bool tried_all = ++rounds_ >= 2 * config_.paths;
  pause_ = std::min(pause_ * 2, tried_all ? kLongestPause : kShortPause);
  return count;
}

}  // namespace dlcp::core
