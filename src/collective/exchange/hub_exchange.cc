#include "collective/exchange/hub_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "util/check.h"

namespace dlcp::collective {

HubExchange::HubExchange(const Terms& terms, std::span<std::byte> staging)
    : terms_(terms),
      staging_bytes_(staging.size()),
      exchange_(terms, staging),
      words_(terms.members()),
      ranks_(terms.ranks) {
  check(terms.is_hub(), "a hub's terms");
  for (std::uint32_t rank = 0; rank < terms.ranks; ++rank)
    expect_word(rank);
}

void HubExchange::expect_word(std::uint32_t rank) {
  words_.add({rank, Transfer::Lane::kResults, false, Transfer::kNoBlock, 0, ranks_[rank].word, {}});
}

void HubExchange::post_to(Mesh& mesh) {
  pass_words();
  words_.post_to(mesh, [](const Transfer&) {});
  exchange_.post_to(mesh);
}

void HubExchange::on_done(const Transfer& transfer, std::size_t bytes,
                          std::span<const ByteRange> lost) {
  if (transfer.sends || transfer.lane == Transfer::Lane::kContributions) {
    served_.bytes += transfer.sends ? 0 : bytes;
    return exchange_.on_done(transfer, bytes, lost);
  }
  const auto told = decode_hub_call(transfer.memory.first(bytes));
  if (!told) {
    disagree(
        fmt::format("rank {} of the group sent its hub {} bytes that do not describe an "
                    "all-reduce",
                    transfer.peer, bytes));
    return;
  }
  ranks_[transfer.peer].told = told;
  pass_words();
}

bool HubExchange::waits() const {
  return std::ranges::any_of(
      ranks_, [](const Rank& rank) { return rank.told.has_value(); });
}

bool HubExchange::all_left() const {
  return std::ranges::all_of(ranks_, &Rank::left);
}

void HubExchange::pass_words() {
  for (std::uint32_t rank = 0; rank < terms_.ranks; ++rank) {
    while (disagreement_.empty() && pass(rank)) {
    }
  }
}

bool HubExchange::pass(std::uint32_t number) {
  Rank& rank = ranks_[number];
  if (!rank.told) return false;
  const HubCall told = *rank.told;
  const bool first = rank.passed == first_begun_ + begun_.size();
  if (told.leaves) {
    if (!first) {
      return disagree(fmt::format("rank {} of the group left, but others started all-reduce {}",
                                  number, begun_.back().call.call));
    }
    rank.told.reset();
    rank.left = true;
    return true;
  }
  if (first && !begin(number, told)) return false;
  Begun& begun = begun_[rank.passed - first_begun_];
  if (!begun.call.same_call(told)) {
    return disagree(fmt::format(
        "rank {} of the group started all-reduce {} of {} bytes (type {}, operation {}), but "
        "rank {} started {} of {} bytes (type {}, operation {})",
        number, told.call, told.bytes, static_cast<int>(told.type), static_cast<int>(told.op),
        begun.teller, begun.call.call, begun.call.bytes, static_cast<int>(begun.call.type),
        static_cast<int>(begun.call.op)));
  }
  ++begun.told;
  ++rank.passed;
  rank.told.reset();
  expect_word(number);
  while (!begun_.empty() && begun_.front().told == terms_.ranks) {
    begun_.pop_front();
    ++first_begun_;
  }
  return true;
}

bool HubExchange::begin(std::uint32_t rank, const HubCall& told) {
  if (told.call < next_call_ || Layout(terms_, told.call, told.bytes).count_of(terms_.rank) == 0) {
    return disagree(
        fmt::format("rank {} of the group told hub {} of all-reduce {} of {} bytes, which is "
                    "over or does not use this hub",
                    rank, terms_.rank - terms_.ranks, told.call, told.bytes));
  }
  const auto left = std::ranges::find_if(ranks_, &Rank::left);
  if (left != ranks_.end()) {
    return disagree(fmt::format("rank {} of the group started all-reduce {}, but rank {} has left",
                                rank, told.call, left - ranks_.begin()));
  }
  const std::size_t needed = Exchange::staging_bytes(terms_, told.bytes);
  if (needed > staging_bytes_) {
    return disagree(
        fmt::format("an all-reduce of {} bytes over {} ranks needs {} bytes of each hub, but "
                    "the group's hubs have {}",
                    told.bytes, terms_.ranks, needed, staging_bytes_));
  }
  Call call;
  call.real_bytes = told.real_bytes;
  call.type = told.type;
  call.op = told.op;
  call.tensor = told.tensor;
  if (!exchange_.start_for(told.call, call, told.bytes)) return false;
  next_call_ = told.call + 1;
  begun_.push_back({told, rank, 0});
  ++served_.calls;
  return true;
}

bool HubExchange::disagree(std::string what) {
  disagreement_ = std::move(what);
  return false;
}

}  // namespace dlcp::collective
