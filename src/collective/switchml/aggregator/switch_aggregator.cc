#include "collective/switchml/aggregator/switch_aggregator.h"

#include <algorithm>

namespace dlcp::collective {
namespace {

AggregatorTerms in_range(AggregatorTerms terms) {
  terms.workers = std::clamp(terms.workers, 1u, kSwitchWorkersMax);
  terms.slots = std::clamp(terms.slots, 1u, kSwitchSlotsMax);
  if (!is_switch_size(terms.values)) terms.values = 256;
  return terms;
}

// Serials wrap around.
bool is_older(std::uint32_t serial, std::uint32_t than) {
  return serial - than >= 0x80000000u;
}

}  // namespace

SwitchAggregator::SwitchAggregator(AggregatorTerms terms)
    : terms_(in_range(terms)),
      sets_(terms_.slots),
      last_(std::size_t{terms_.slots} * terms_.workers),
      sums_(std::size_t{2} * terms_.slots * terms_.values),
      answer_(switch_packet_bytes(terms_.values)) {}

void SwitchAggregator::restart() {
  if (any_) ++counts_.restarts;
  any_ = false;
  std::ranges::fill(sets_, std::array<Set, 2>{});
  std::ranges::fill(last_, Last{});
}

SwitchAggregator::To SwitchAggregator::on_packet(unsigned worker,
                                                 std::span<const std::byte> datagram) {
  const auto head = read_switch_head(datagram);
  if (!head || !fits(*head) || worker >= terms_.workers) {
    ++counts_.unsound;
    return To::kNobody;
  }
  if (any_ && head->job != job_) restart();
  job_ = head->job;
  any_ = true;

  Last& last = last_[std::size_t{head->slot} * terms_.workers + worker];
  if (last.known && head->serial == last.serial) return repeat(*head, last);
  Set& set = sets_[head->slot][head->second_set ? 1 : 0];
  if ((last.known && is_older(head->serial, last.serial)) ||
      (set.members != 0 && is_older(head->serial, set.serial))) {
    ++counts_.stale;
    return To::kNobody;
  }
  last = {head->serial, head->second_set, true};
  if (set.members == 0 || set.serial != head->serial) {
    set = {0, head->serial, false, {head->exponents[0], head->exponents[1]}};
    std::ranges::fill(sums_of(*head), 0u);
  }
  add(*head, set, datagram);
  const std::uint32_t bit = std::uint32_t{1} << worker;
  set.members |= bit;
  sets_[head->slot][head->second_set ? 0 : 1].members &= ~bit;
  const std::uint32_t everyone =
      terms_.workers == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << terms_.workers) - 1;
  if (set.members != everyone) return To::kNobody;
  set.complete = true;
  ++counts_.sums;
  write_answer(*head, set);
  return To::kEveryone;
}

std::span<std::uint32_t> SwitchAggregator::sums_of(const SwitchHead& head) {
  const std::size_t index = std::size_t{2} * head.slot + (head.second_set ? 1 : 0);
  return std::span(sums_).subspan(index * terms_.values, terms_.values);
}

SwitchAggregator::To SwitchAggregator::repeat(const SwitchHead& head, const Last& last) {
  const Set& set = sets_[head.slot][head.second_set ? 1 : 0];
  ++counts_.repeated;
  if (head.second_set != last.second_set || set.serial != head.serial || !set.complete)
    return To::kNobody;
  write_answer(head, set);
  return To::kSender;
}

void SwitchAggregator::add(const SwitchHead& head, Set& set, std::span<const std::byte> datagram) {
  ++counts_.added;
  for (std::size_t i = 0; i < 2; ++i)
    set.exponents[i] = std::max(set.exponents[i], head.exponents[i]);
  const std::byte* at = switch_value_at(datagram, 0);
  for (std::uint32_t& sum : sums_of(head)) {
    sum += load_be32(at);
    at += 4;
  }
}

void SwitchAggregator::write_answer(const SwitchHead& head, const Set& set) {
  SwitchHead answer = head;
  answer.exponents[0] = set.exponents[0];
  answer.exponents[1] = set.exponents[1];
  write_switch_head(answer, answer_);
  std::byte* at = switch_value_at(std::span(answer_), 0);
  for (const std::uint32_t sum : sums_of(head)) {
    store_be32(at, sum);
    at += 4;
  }
}

}  // namespace dlcp::collective
