#include "byte_network.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "wire/codec.h"
#include "wire/frames/control_frame.h"

namespace dlcp::test {
namespace {

constexpr Duration kTransit = 10us;
constexpr std::size_t kActionsMax = 96;
constexpr std::size_t kInFlightMax = 2048;
constexpr std::size_t kSeenMax = 48;
// More steps than this at one time mean a livelock: a due event is not handled.
constexpr std::size_t kStepsAtOneTimeMax = 2000;
constexpr std::size_t kPollsMax = 10'000;
// Bits of the first byte of an input.
constexpr std::uint8_t kHostile = 1, kNarrow = 2, kFetches = 4;
// Once the network is clean: far longer than any back-off interval, but finite.
constexpr Duration kFinish = 30s;

std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t hash) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), sizeof hash))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
    hash = (std::rotl(hash, 5) ^ word) * 0x100'0000'01b3u;
  }
  return hash;
}

}  // namespace

ByteNetwork::ByteNetwork(FuzzInput& input)
    : input_(input),
      kind_(input.take<std::uint8_t>()),
      hostile_((kind_ & kHostile) != 0),
      rng_(input.take<std::uint16_t>()),
      now_(time_from_ns(1'000'000'000)),
      cards_{card(0), card(1)},
      ends_(input, now_, hostile_, {&cards_[0], &cards_[1]}) {}

ByteCard ByteNetwork::card(HostIndex host) {
  const CardHabits habits{.narrow = (kind_ & kNarrow) != 0, .fetches = (kind_ & kFetches) != 0};
  return {host, now_, habits, [this, host](std::vector<std::byte> bytes, wire::PathIndex path) {
            send(host, std::move(bytes), path);
          }};
}

void ByteNetwork::run() {
  drive(0);
  drive(1);
  for (std::size_t i = 0; i < kActionsMax && !input_.empty(); ++i)
    act();
  weather_ = {};
  const Time until = now_ + (hostile_ ? 2 * ends_.endpoint(0).config().peer_timeout : kFinish);
  while (!ends_.finished() && step(until)) {
  }
  if (!hostile_ && !ends_.finished())
    throw Violation("requests are unfinished although the network is clean");
  run_for(2 * kTransit);  // late datagrams must do no harm
  ends_.check_budgets();
}

void ByteNetwork::act() {
  const auto action = input_.take<std::uint8_t>();
  switch (action & 7) {
    case 0:
    case 1:
      return run_for(some_time(input_));
    case 2:
      return change_weather();
    case 3: {
      const HostIndex host = (action >> 3) & 1;
      if (hostile_ && (action & 128) != 0) return ends_.hang_up(host);
      frozen_until_[host] = now_ + some_time(input_);
      return;
    }
    case 4:  // a recorded datagram is delivered again, unchanged
      if (!seen_.empty()) inject(seen_[input_.below(seen_.size())]);
      return;
    case 5:
      if (hostile_) return forge();
      [[fallthrough]];
    default:
      if (!in_flight_.empty()) work_on(in_flight_[input_.below(in_flight_.size())], action >> 3);
  }
}

void ByteNetwork::change_weather() {
  constexpr std::array<std::size_t, 4> kSizes{65'536, 4'200, 1'472, 640};
  const auto kind = input_.take<std::uint8_t>();
  const double share = (kind >> 4) / 15.0;
  switch (kind & 7) {
    case 0:
      weather_ = {};
      return;
    case 1:
      weather_.drop = share;
      return;
    case 2:
      weather_.duplicate = share;
      return;
    case 3:
      weather_.jitter = some_time(input_);
      return;
    case 4:
      weather_.bytes_max = kSizes[(kind >> 4) & 3];
      return;
    case 5:
      weather_.black_holes = kind >> 4;
      return;
    case 6:
      weather_.mark = share;
      return;
    default:  // all datagrams in flight are lost
      in_flight_.clear();
  }
}

void ByteNetwork::work_on(Datagram& datagram, unsigned action) {
  switch (action & 3) {
    case 0: {
      datagram = std::move(in_flight_.back());
      in_flight_.pop_back();
      return;
    }
    case 1: {
      Datagram copy = datagram;
      copy.due += some_time(input_);
      in_flight_.push_back(std::move(copy));
      return;
    }
    case 2:
      datagram.due += some_time(input_);
      return;
    default: {
      // Payloads without DLCP's checksum rely on those of UDP and of the link.
      const bool data = datagram.bytes[2] == static_cast<std::byte>(wire::FrameType::kData);
      const bool covered =
          !data || ends_.endpoint(0).config().protection == wire::Protection::kFull;
      const std::size_t most = covered ? datagram.bytes.size() : wire::kDataHeaderBytes;
      const std::size_t at = input_.below(std::min(most, datagram.bytes.size()));
      datagram.bytes[at] ^= static_cast<std::byte>(1u << ((action >> 2) & 7));
    }
  }
}

void ByteNetwork::forge() {
  if (seen_.empty()) return;
  Datagram forged = seen_[input_.below(seen_.size())];
  const auto kind = input_.take<std::uint8_t>();
  switch (kind & 3) {
    case 0:
    case 1:  // some fields overwritten
      for (unsigned i = 0; i <= ((kind >> 2) & 3u); ++i) {
        std::size_t at = wire::kFrameHeadBytes + input_.below(48);
        for (const std::byte byte : input_.take_bytes(1 + ((kind >> 4) & 3u)))
          if (at < forged.bytes.size()) forged.bytes[at++] = byte;
      }
      break;
    case 2: {  // another type of frame to the same connection
      forged.bytes.resize(wire::kControlHeadBytes);
      forged.bytes[2] = static_cast<std::byte>(1 + (kind >> 2) % 18);
      const auto body = input_.take_bytes(input_.below(120));
      forged.bytes.insert(forged.bytes.end(), body.begin(), body.end());
      forged.bytes.resize(forged.bytes.size() + wire::kTagBytes);
      break;
    }
    default:  // truncated or extended
      forged.bytes.resize(wire::kFrameHeadBytes + input_.below(1500));
  }
  make_right(forged.bytes, (kind & 64) != 0);
  inject(std::move(forged));
}

// Always corrects the tag, and if `fresh` uses a new number: else most datagrams would be refused
// at once.
void ByteNetwork::make_right(std::vector<std::byte>& datagram, bool fresh) {
  const auto head = wire::decode_head(datagram);
  const auto number = head ? ends_.keys().next_number(head->destination) : std::nullopt;
  if (fresh && number && head->type != wire::FrameType::kData &&
      datagram.size() >= wire::kControlHeadBytes) {
    wire::store_le(datagram.data() + wire::kFrameHeadBytes,
                   *number + static_cast<std::uint32_t>(++forged_));
  }
  ends_.keys().reseal(datagram);
}

void ByteNetwork::inject(Datagram datagram) {
  datagram.due = now_;
  in_flight_.push_back(std::move(datagram));
}

void ByteNetwork::run_for(Duration duration) {
  const Time until = now_ + duration;
  while (step(until)) {
  }
  now_ = until;
}

Time ByteNetwork::next_event() {
  Time next = ends_.next_post();
  for (const Datagram& datagram : in_flight_)
    next = std::min(next, std::max(datagram.due, frozen_until_[datagram.to]));
  for (HostIndex host = 0; host < 2; ++host)
    next = std::min(next, std::max(ends_.pump(host).deadline(now_), frozen_until_[host]));
  return next;
}

bool ByteNetwork::step(Time limit) {
  const Time next = std::max(next_event(), now_);
  if (next > limit) return false;
  steps_at_this_time_ = next == now_ ? steps_at_this_time_ + 1 : 0;
  if (steps_at_this_time_ > kStepsAtOneTimeMax) throw Violation("time stands still");
  now_ = next;
  deliver_due();
  for (HostIndex host = 0; host < 2; ++host) {
    if (frozen_until_[host] > now_) continue;
    while (ends_.pump(host).receive(now_).more) {
    }
    drive(host);
  }
  return true;
}

void ByteNetwork::deliver_due() {
  for (std::size_t i = 0; i < in_flight_.size();) {
    if (in_flight_[i].due > now_ || frozen_until_[in_flight_[i].to] > now_) {
      ++i;
      continue;
    }
    ends_.keys().see(in_flight_[i].bytes);
    cards_[in_flight_[i].to].arrive(std::move(in_flight_[i]));
    in_flight_[i] = std::move(in_flight_.back());
    in_flight_.pop_back();
  }
}

void ByteNetwork::drive(HostIndex host) {
  std::size_t rounds = 0;
  do {
    if (++rounds > kPollsMax) throw Violation("a host sends for ever");
    ends_.hear_events(host);
    ends_.serve(host);
  } while (ends_.pump(host).transmit(now_).packets > 0);
  ends_.hear_events(host);
}

void ByteNetwork::send(HostIndex from, std::vector<std::byte> bytes, wire::PathIndex path) {
  const std::size_t size = bytes.size();
  Datagram datagram{.to = 1 - from, .due = now_ + kTransit, .bytes = std::move(bytes)};
  sent_hash_ = datapath::sim::mix(sent_hash_, static_cast<std::uint64_t>(ns_of(now_)));
  sent_hash_ = hash_of(datagram.bytes, sent_hash_);
  if (seen_.size() < kSeenMax)
    seen_.push_back(datagram);
  else if (++sent_ % 8 == 0)
    seen_[rng_.below(kSeenMax)] = datagram;
  if (size > weather_.bytes_max || ((weather_.black_holes >> path) & 1) != 0 ||
      in_flight_.size() >= kInFlightMax || rng_.chance(weather_.drop))
    return;
  if (weather_.jitter > Duration::zero()) {
    datagram.due += Duration(
        static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(weather_.jitter.count()))));
  }
  if (rng_.chance(weather_.mark)) datagram.ecn = Ecn::kCe;
  if (rng_.chance(weather_.duplicate)) in_flight_.push_back(datagram);
  in_flight_.push_back(std::move(datagram));
}

}  // namespace dlcp::test
