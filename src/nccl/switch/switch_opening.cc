#include "nccl/switch/switch_opening.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "engine/host/clock.h"
#include "util/rng.h"

namespace dlcp::nccl {
namespace {

constexpr std::size_t kTextAt = 12;
constexpr timespec kPause{0, 20'000};

Error not_used(const std::string& why, const std::string& hint) {
  return {ErrorCode::kInvalidUsage, "DLCP_COLLNET_SWITCH: " + why, hint};
}

// Returns the error of the first rank that is not able to use the switch.
Status all_able(const std::vector<SwitchCard>& cards, const std::string& hint) {
  for (std::size_t rank = 0; rank < cards.size(); ++rank)
    if (!cards[rank].able)
      return not_used(fmt::format("rank {} reports: {}", rank, cards[rank].why_not), hint);
  return Unit{};
}

}  // namespace

SwitchClaims& SwitchClaims::of_process() {
  static auto* const all = new SwitchClaims;
  return *all;
}

// Tests run several ranks of one communicator in a process.
bool SwitchClaims::take(const SwitchClaim& claim) {
  const std::lock_guard lock(mutex_);
  const auto excludes = [&](const SwitchClaim& each) {
    const bool is_same = each.communicator == claim.communicator && claim.communicator != 0;
    return each.name == claim.name && (!is_same || each.rank == claim.rank);
  };
  if (std::ranges::any_of(taken_, excludes)) return false;
  taken_.push_back(claim);
  return true;
}

void SwitchClaims::give_back(const SwitchClaim& claim) {
  const std::lock_guard lock(mutex_);
  std::erase(taken_, claim);
}

void SwitchCard::write(std::span<std::byte, kBytes> to) const {
  std::ranges::fill(to, std::byte{0});
  to[0] = std::byte{able};
  std::memcpy(&to[4], &slots, sizeof slots);
  std::memcpy(&to[8], &word, sizeof word);
  std::memcpy(&to[kTextAt], why_not.data(), std::min(why_not.size(), kBytes - kTextAt));
}

SwitchCard SwitchCard::read(std::span<const std::byte, kBytes> from) {
  SwitchCard card;
  card.able = from[0] == std::byte{1};
  std::memcpy(&card.slots, &from[4], sizeof card.slots);
  std::memcpy(&card.word, &from[8], sizeof card.word);
  const char* const text = reinterpret_cast<const char*>(&from[kTextAt]);
  card.why_not.assign(text, strnlen(text, kBytes - kTextAt));
  return card;
}

SwitchOpening::SwitchOpening(engine::Group& group, SwitchClaim wanted, unsigned ranks)
    : group_(group), claim_(std::move(wanted)), ranks_(ranks), rank_(claim_.rank) {}

SwitchOpening::~SwitchOpening() {
  if (has_claim_) SwitchClaims::of_process().give_back(claim_);
}

SwitchClaim SwitchOpening::keep_claim() {
  has_claim_ = false;
  return claim_;
}

Result<std::unique_ptr<SwitchLine>> SwitchOpening::run(const SwitchTimes& times) {
  auto line = reach();
  SwitchCard card;
  card.able = line.ok();
  card.why_not = line.ok() ? "" : line.error().what;
  const auto named = collective::switch_name(claim_.name);
  card.slots = line.ok() ? std::min(named.ok() ? named.value().slots - 1 : 0u,
                                    std::max(line.value()->packets_held(), 1u))
                         : 0;
  Rng rng(static_cast<std::uint64_t>(ns_of(engine::steady_now())) ^
          static_cast<std::uint64_t>(getpid()) << 40);
  card.word = static_cast<std::uint32_t>(rng.next());
  auto cards = tell_all(card, times.ranks);
  if (!cards) return cards.error();
  const char* const in_general = "fix the cause, or unset the setting on all ranks";
  if (const auto able = all_able(cards.value(), in_general); !able) return able.error();
  const std::uint32_t job = cards.value()[0].word;
  collective::SwitchHello::Terms hello;
  hello.workers = ranks_;
  hello.rank = rank_;
  hello.slot = std::ranges::min_element(cards.value(), {}, &SwitchCard::slots)->slots;
  hello.job = static_cast<std::uint8_t>(job >> 24);
  hello.serial = job;
  hello.word = job;
  line.value()->join(hello, times.peer);
  const auto greeted = greet(*line.value(), times.opening);
  card.able = greeted.ok();
  card.why_not = greeted.ok() ? "" : greeted.error().what;
  cards = tell_all(card, times.opening + times.ranks);
  if (!cards) return cards.error();
  const std::string hint = fmt::format(
      "check that dlcp-aggregator runs there with --workers {}, --values 256 and at least {} "
      "--slots, and read its output, because it serves one job at a time",
      ranks_, hello.slot + 1);
  if (const auto able = all_able(cards.value(), hint); !able) return able.error();
  return line;
}

Result<std::unique_ptr<SwitchLine>> SwitchOpening::reach() {
  const auto named = collective::switch_name(claim_.name);
  if (!named) return named.error();
  if (ranks_ > collective::kSwitchWorkersMax) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("the communicator has {} ranks, but SwitchML supports at most {} "
                             "workers",
                             ranks_, collective::kSwitchWorkersMax),
                 ""};
  }
  has_claim_ = SwitchClaims::of_process().take(claim_);
  if (!has_claim_) {
    return Error{ErrorCode::kInvalidUsage,
                 "another communicator of this process uses the switch, which serves only one", ""};
  }
  return SwitchLine::open(named.value(), rank_);
}

Status SwitchOpening::greet(SwitchLine& line, Duration patience) {
  const Time end = engine::steady_now() + patience;
  for (;;) {
    const Time now = engine::steady_now();
    const auto greeted = line.greet(now);
    if (!greeted) return greeted.error();
    if (greeted.value()) return Unit{};
    if (now >= end) return Error{ErrorCode::kRemote, line.silence(), ""};
    nanosleep(&kPause, nullptr);
  }
}

// Without the limit, a rank that waits for something else, such as a name server, would keep the
// others waiting, because its helper threads still answer them.
Status SwitchOpening::exchange(const collective::Call& call, Duration within) {
  const Time end = engine::steady_now() + within;
  std::optional<std::uint64_t> number;
  for (; engine::steady_now() < end; nanosleep(&kPause, nullptr)) {
    if (!number) {
      const auto started = group_.start(call);
      if (!started) return started.error();
      number = started.value();
    }
    const auto done = number ? group_.finished(*number) : Result<bool>(false);
    if (!done) return done.error();
    if (done.value()) return Unit{};
  }
  const Error late =
      not_used(fmt::format("rank {} has not received the reports of all ranks within {:g} s", rank_,
                           std::chrono::duration<double>(within).count()),
               "see the logs of all ranks; DLCP_COLLNET_TIMEOUT sets the time limit");
  group_.fail(late);
  return late;
}

// A sum of bytes to which each rank contributes only its own card.
Result<std::vector<SwitchCard>> SwitchOpening::tell_all(const SwitchCard& card, Duration within) {
  constexpr std::size_t kBytes = SwitchCard::kBytes;
  std::vector<std::byte> memory(std::size_t{2} * ranks_ * kBytes);
  const std::span<std::byte> all(memory);
  card.write(all.subspan(rank_ * kBytes).first<kBytes>());
  collective::Call call;
  call.input = all.first(ranks_ * kBytes);
  call.result = all.subspan(ranks_ * kBytes);
  call.real_bytes = call.input.size();
  call.type = collective::DataType::kUint8;
  const engine::Memory registered{memory.data(), memory.size(), this};
  group_.register_memory(registered);
  const Status done = exchange(call, within);
  group_.release_memory(registered);
  if (!done) return done.error();
  std::vector<SwitchCard> cards;
  for (unsigned rank = 0; rank < ranks_; ++rank) {
    const std::span<const std::byte> result = call.result;
    cards.push_back(SwitchCard::read(result.subspan(rank * kBytes).first<kBytes>()));
  }
  return cards;
}

}  // namespace dlcp::nccl
