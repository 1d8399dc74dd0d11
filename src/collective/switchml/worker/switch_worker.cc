#include "collective/switchml/worker/switch_worker.h"

#include <algorithm>

#include "collective/switchml/worker/switch_scale.h"

namespace dlcp::collective {
namespace {

constexpr Duration kFirstWait = 1ms;  // timeout until answer times are measured

SwitchTerms in_range(SwitchTerms terms) {
  terms.workers = std::clamp(terms.workers, 1u, kSwitchWorkersMax);
  terms.slots = std::clamp(terms.slots, 1u, kSwitchSlotsMax);
  if (!is_switch_size(terms.values)) terms.values = 256;
  return terms;
}

}  // namespace

SwitchWorker::SwitchWorker(SwitchTerms terms)
    : terms_(in_range(terms)),
      packets_in_(terms_.slots),
      repair_(terms_.slots, kFirstWait),
      packet_(switch_packet_bytes(terms_.values)) {}

bool SwitchWorker::start(std::span<const float> input, std::span<float> result) {
  constexpr std::size_t kLongest = std::size_t{1} << 36;  // packets are counted in 32 bits
  if (call_ == Call::kRunning || input.size() != result.size() || input.size() > kLongest)
    return false;
  position_ += packets_;
  input_ = input;
  result_ = result;
  blocks_ = static_cast<std::uint32_t>((input.size() + terms_.values - 1) / terms_.values);
  batch_ = std::min(blocks_, terms_.slots);
  packets_ = blocks_ + batch_;
  done_ = 0;
  refused_ = false;
  exponents_.assign(blocks_, static_cast<std::int8_t>(kSwitchExponentMin));
  for (std::uint32_t i = 0; i < blocks_; ++i) {
    const auto exponent = switch_exponent(block(input_, i));
    if (exponent) exponents_[i] = *exponent;
    refused_ |= !exponent;
  }
  states_.assign(packets_, State::kUnsent);
  ready_.clear();
  repair_.on_call();
  call_ = blocks_ > 0 ? Call::kRunning : Call::kDone;
  for (std::uint32_t packet = 0; packet < batch_; ++packet)
    make_ready(packet);
  return true;
}

std::uint32_t SwitchWorker::slot_of(std::uint32_t packet) const {
  return static_cast<std::uint32_t>((position_ + packet) % terms_.slots);
}

SwitchHead SwitchWorker::head_of(std::uint32_t packet) const {
  SwitchHead head;
  head.job = terms_.job;
  head.serial = static_cast<std::uint32_t>(terms_.serial + position_ + packet);
  head.slot = static_cast<std::uint16_t>(slot_of(packet));
  head.second_set = (position_ + packet) / terms_.slots % 2 == 1;
  head.values = static_cast<std::uint16_t>(terms_.values);
  if (packet < blocks_) head.exponents[0] = exponents_[packet];
  return head;
}

std::span<const float> SwitchWorker::block(std::span<const float> of, std::uint32_t index) const {
  const std::size_t begin = std::size_t{index} * terms_.values;
  return of.subspan(begin, std::min<std::size_t>(terms_.values, of.size() - begin));
}

// The packet is ready once it has the exponent of its numbers and its slot's last sum has arrived.
void SwitchWorker::make_ready(std::uint64_t packet) {
  if (packet >= packets_ || states_[packet] != State::kUnsent) return;
  for (const std::uint64_t before : {std::uint64_t{batch_}, std::uint64_t{terms_.slots}})
    if (packet >= before && states_[packet - before] != State::kDone) return;
  states_[packet] = State::kReady;
  ready_.push_back(static_cast<std::uint32_t>(packet));
}

Time SwitchWorker::deadline() {
  return call_ == Call::kRunning ? repair_.deadline() : kNever;
}

// Repairs precede new packets, because other workers wait for them, too.
std::span<const std::byte> SwitchWorker::poll_transmit(Time now) {
  if (call_ != Call::kRunning) return {};
  if (const auto slot = repair_.due(now)) return transmit(packets_in_[*slot], true, now);
  if (ready_.empty()) return {};
  const std::uint32_t packet = ready_.front();
  ready_.pop_front();
  return transmit(packet, false, now);
}

std::span<const std::byte> SwitchWorker::transmit(std::uint32_t packet, bool again, Time now) {
  const std::uint32_t slot = slot_of(packet);
  states_[packet] = State::kWaiting;
  ++counts_.sent;
  if (again) ++counts_.repeated;
  packets_in_[slot] = packet;
  repair_.on_sent(slot, now);

  write_switch_head(head_of(packet), packet_);
  std::fill(packet_.begin() + kSwitchHeadBytes, packet_.end(), std::byte{0});
  if (packet < batch_) {
    store_be32(switch_value_at(std::span(packet_), 0), refused_ ? 1 : 0);
    return packet_;
  }
  const std::uint32_t index = packet - batch_;
  const SwitchScale scale(terms_.workers, exponents_[index]);
  std::byte* at = switch_value_at(std::span(packet_), 0);
  for (const float x : block(input_, index)) {
    store_be32(at, static_cast<std::uint32_t>(scale.integer_of(x)));
    at += 4;
  }
  return packet_;
}

void SwitchWorker::on_datagram(std::span<const std::byte> datagram, Time now) {
  const auto head = read_switch_head(datagram);
  const bool ours = head && call_ == Call::kRunning && head->values == terms_.values &&
                    head->job == terms_.job && head->slot < terms_.slots &&
                    repair_.waits_for(head->slot);
  if (!ours) {
    ++counts_.dropped;
    return;
  }
  const std::uint32_t packet = packets_in_[head->slot];
  const SwitchHead wanted = head_of(packet);
  if (head->serial != wanted.serial || head->second_set != wanted.second_set) {
    ++counts_.dropped;
    return;
  }
  if (packet < blocks_) {
    // With an exponent below this worker's own one, its numbers would overflow.
    if (head->exponents[0] < exponents_[packet]) {
      ++counts_.unsound;
      return;
    }
    exponents_[packet] = head->exponents[0];
  }
  repair_.on_answer(head->slot, now, packet < batch_);
  ++counts_.taken;
  finish(packet, datagram);
}

void SwitchWorker::finish(std::uint32_t packet, std::span<const std::byte> answer) {
  states_[packet] = State::kDone;
  ++done_;
  const std::byte* at = switch_value_at(answer, 0);
  if (packet < batch_) {
    // Every packet of the first batch states this, so that all workers stop after the same packet.
    refused_ |= load_be32(at) != 0;
    if (refused_ && done_ == batch_) {
      packets_ = batch_;
      call_ = Call::kRefused;
    }
    if (refused_) return;
  } else {
    const std::uint32_t index = packet - batch_;
    const SwitchScale scale(terms_.workers, exponents_[index]);
    const std::size_t begin = std::size_t{index} * terms_.values;
    for (float& sum : result_.subspan(begin, block(input_, index).size())) {
      sum = scale.float_of(static_cast<std::int32_t>(load_be32(at)));
      at += 4;
    }
  }
  make_ready(std::uint64_t{packet} + batch_);
  if (batch_ != terms_.slots) make_ready(std::uint64_t{packet} + terms_.slots);
  if (done_ == packets_) call_ = Call::kDone;
}

}  // namespace dlcp::collective
