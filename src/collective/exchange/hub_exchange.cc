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
  const auto announced = decode_hub_call(transfer.memory.first(bytes));
  if (!announced) {
    disagree(
        fmt::format("rank {} of the group sent its hub {} bytes that do not describe an "
                    "all-reduce",
                    transfer.peer, bytes));
    return;
  }
  ranks_[transfer.peer].announced = announced;
  pass_words();
}

bool HubExchange::waits() const {
  return std::ranges::any_of(
      ranks_, [](const Rank& rank) { return rank.announced.has_value(); });
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
  if (!rank.announced) return false;
  const HubCall announced = *rank.announced;
  const bool first = rank.passed == first_begun_ + begun_.size();
  if (announced.leaves) {
    if (!first) {
      return disagree(fmt::format("rank {} of the group left, but others started all-reduce {}",
                                  number, begun_.back().call.call));
    }
    rank.announced.reset();
    rank.left = true;
    return true;
  }
  if (first && !begin(number, announced)) return false;
  Begun& begun = begun_[rank.passed - first_begun_];
  if (!begun.call.same_call(announced)) {
    return disagree(fmt::format(
        "rank {} of the group started all-reduce {} of {} bytes (type {}, operation {}), but "
        "rank {} started {} of {} bytes (type {}, operation {})",
        number, announced.call, announced.bytes, static_cast<int>(announced.type),
        static_cast<int>(announced.op), begun.teller, begun.call.call, begun.call.bytes,
        static_cast<int>(begun.call.type), static_cast<int>(begun.call.op)));
  }
  ++begun.announced;
  ++rank.passed;
  rank.announced.reset();
  expect_word(number);
  while (!begun_.empty() && begun_.front().announced == terms_.ranks) {
    begun_.pop_front();
    ++first_begun_;
  }
  return true;
}

bool HubExchange::begin(std::uint32_t rank, const HubCall& announced) {
  if (announced.call < next_call_ ||
      Layout(terms_, announced.call, announced.bytes).count_of(terms_.rank) == 0) {
    return disagree(
        fmt::format("rank {} of the group told hub {} of all-reduce {} of {} bytes, which is "
                    "over or does not use this hub",
                    rank, terms_.rank - terms_.ranks, announced.call, announced.bytes));
  }
  const auto left = std::ranges::find_if(ranks_, &Rank::left);
  if (left != ranks_.end()) {
    return disagree(fmt::format("rank {} of the group started all-reduce {}, but rank {} has left",
                                rank, announced.call, left - ranks_.begin()));
  }
  const std::size_t needed = Exchange::staging_bytes(terms_, announced.bytes);
  if (needed > staging_bytes_) {
    return disagree(
        fmt::format("an all-reduce of {} bytes over {} ranks needs {} bytes of each hub, but "
                    "the group's hubs have {}",
                    announced.bytes, terms_.ranks, needed, staging_bytes_));
  }
  Call call;
  call.real_bytes = announced.real_bytes;
  call.type = announced.type;
  call.op = announced.op;
  call.tensor = announced.tensor;
  if (!exchange_.start_for(announced.call, call, announced.bytes)) return false;
  next_call_ = announced.call + 1;
  begun_.push_back({announced, rank, 0});
  ++served_.calls;
  return true;
}

bool HubExchange::disagree(std::string what) {
  disagreement_ = std::move(what);
  return false;
}

}  // namespace dlcp::collective
