// The owner's part of direct exchange, run by a hub, without clock, thread or system call. A hub
// sums blocks and contributes nothing. The ranks describe each call to it (hub_call.h): the first
// description starts the call, and all others must match. The sums are added in rank order and are
// bit for bit equal to those of direct exchange.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "collective/exchange/exchange.h"
#include "collective/exchange/hub_call.h"

namespace dlcp::collective {

class HubExchange final : public AllReduce {
 public:
  struct Served {
    std::uint64_t calls = 0;  // started
    std::uint64_t bytes = 0;  // of contributions received
  };

  // `terms` are those of a hub. `staging` holds the ranks' contributions and must outlive this
  // object.
  HubExchange(const Terms& terms, std::span<std::byte> staging);

  // A hub does not start calls; the ranks' descriptions do.
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
  // All ranks have announced that they leave, so no further message will arrive.
  bool all_left() const;

 private:
  // One receive is posted for a rank's next description, and none after its last one, because a
  // rank cannot close a connection in order while a receive is posted at the other end.
  struct Rank {
    HubCall::Bytes word{};
    std::optional<HubCall> announced;  // received, but its call has not started
    std::uint64_t passed = 0;          // number of descriptions whose calls have started
    bool left = false;
  };
  struct Begun {  // a call that some ranks have not described yet
    HubCall call;
    std::uint32_t teller = 0;  // the first rank that described it
    std::uint32_t announced = 0;
  };

  bool waits() const;
  void expect_word(std::uint32_t rank);
  void pass_words();
  // Handles the rank's oldest description that is still pending; false if it must wait.
  bool pass(std::uint32_t rank);
  bool begin(std::uint32_t rank, const HubCall& announced);
  bool disagree(std::string what);

  const Terms terms_;
  const std::size_t staging_bytes_;
  Exchange exchange_;
  TransferQueues words_;
  std::vector<Rank> ranks_;
  std::deque<Begun> begun_;
  std::uint64_t first_begun_ = 0;  // a rank continues at begun_[passed - this]
  std::uint64_t next_call_ = 0;    // numbers increase
  Served served_;
  std::string disagreement_;
};

}  // namespace dlcp::collective
