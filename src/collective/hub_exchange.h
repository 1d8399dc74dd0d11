// The owner's part of direct exchange by itself, without clock, thread or system call: a hub has
// blocks to sum and nothing to contribute. What calls there are the ranks tell it (hub_call.h): the
// first that does starts the call, and all others must tell the same. The sums, in rank order, are
// bit for bit those that direct exchange makes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "collective/exchange.h"
#include "collective/hub_call.h"

namespace dlcp::collective {

class HubExchange final : public AllReduce {
 public:
  struct Served {
    std::uint64_t calls = 0;  // begun
    std::uint64_t bytes = 0;  // of contributions that have come
  };

  // `terms`: of a hub. `staging`: for what ranks send; outlives this.
  HubExchange(const Terms& terms, std::span<std::byte> staging);

  // A hub starts nothing by itself.
  std::size_t staging_needed(const Call&) const override { return 0; }
  std::optional<std::uint64_t> start(const Call&) override { return std::nullopt; }
  bool finished(std::uint64_t) const override { return true; }

  void post_to(Mesh& mesh) override;
  using AllReduce::on_done;
  void on_done(const Transfer& transfer, std::size_t bytes,
               std::span<const ByteRange> lost) override;
  bool work() override { return exchange_.work(); }
  bool busy() const override { return waits() || exchange_.busy(); }
  bool idle() const override { return !waits() && exchange_.idle(); }
  Blocks blocks() const override { return exchange_.blocks(); }
  const std::string& disagreement() const override {
    return disagreement_.empty() ? exchange_.disagreement() : disagreement_;
  }
  const Served& served() const { return served_; }
  // All ranks have said that they leave: nothing will come any more, and nothing waits for it.
  bool all_left() const;

 private:
  // One receive waits for a rank's next word, and none for what comes behind its last: where a
  // receive waits the rank cannot close in order.
  struct Rank {
    HubCall::Bytes word{};
    std::optional<HubCall> told;  // and its call has not begun
    std::uint64_t passed = 0;     // words whose call has begun
    bool left = false;
  };
  struct Begun {  // a call that some ranks have not told yet
    HubCall call;
    std::uint32_t teller = 0;  // the first
    std::uint32_t told = 0;
  };

  bool waits() const;
  void expect_word(std::uint32_t rank);
  void pass_words();
  // What the rank told first of what has not been passed; false if it has to wait.
  bool pass(std::uint32_t rank);
  bool begin(std::uint32_t rank, const HubCall& told);
  bool disagree(std::string what);

  const Terms terms_;
  const std::size_t staging_bytes_;
  Exchange exchange_;
  TransferQueues words_;
  std::vector<Rank> ranks_;
  std::deque<Begun> begun_;
  std::uint64_t first_begun_ = 0;  // what a rank's `passed` counts to is begun_[passed - this]
  std::uint64_t next_call_ = 0;    // numbers only grow
  Served served_;
  std::string disagreement_;
};

}  // namespace dlcp::collective
