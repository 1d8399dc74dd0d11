// An algorithm whose calls pause while the ranks reduce by other means, such as a switch. During
// that time no rank would notice that another one has died. For each pause, every rank therefore
// posts a receive to all others, which they answer only with the next call here. The peer timeout
// of these connections detects a failure.
//
// All ranks pause and continue between the same calls. No rank does either before its earlier calls
// have finished, here and elsewhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collective/calls/all_reduce.h"

namespace dlcp::collective {

class Watched final : public AllReduce {
 public:
  using Make = std::function<std::unique_ptr<AllReduce>(std::span<std::byte> staging)>;
  // The number of a pause: a call without input, which ends with the next call or leave(). It never
  // finishes; a query for it returns the group's error once the group has failed. It starts only
  // after all messages of the previous pause have arrived.
  static constexpr std::uint64_t kPauseNumber = std::uint64_t{1} << 63;

  // `staging` must outlive this object. The inner algorithm of `make` gets the part that watching
  // does not use.
  Watched(std::uint32_t ranks, std::uint32_t rank, std::span<std::byte> staging, const Make& make);

  std::size_t staging_needed(const Call& call) const override;
  std::optional<std::uint64_t> start(const Call& call) override;
  std::size_t peers_at_once() const override { return inner_->peers_at_once(); }
  void leave() override;
  bool finished(std::uint64_t call) const override;
  void post_to(Mesh& mesh) override;
  using AllReduce::on_done;
  void on_done(const Transfer& transfer, std::size_t bytes,
               std::span<const ByteRange> lost) override;
  bool work() override { return inner_->work(); }
  bool busy() const override { return inner_->busy() || !unposted_.empty(); }
  // Nothing depends on the answers of ranks that leave later.
  bool delivered() const override {
    return inner_->delivered() && unposted_.empty() && sends_out_ == 0;
  }
  // During a pause, the other ranks' answers arrive at an unknown time.
  bool idle() const override {
    return inner_->idle() && delivered() && (paused_ || receives_out_ == 0);
  }
  Blocks blocks() const override { return inner_->blocks(); }
  const std::string& disagreement() const override {
    return disagreement_.empty() ? inner_->disagreement() : disagreement_;
  }

 private:
  static constexpr std::size_t kWordBytes = 8;

  std::span<std::byte> word(std::uint32_t peer, bool sends) const;
  bool pause();
  void go_on();
  void post_to_all(bool sends);

  const std::uint32_t ranks_;
  const std::uint32_t rank_;
  const std::span<std::byte> words_;  // for each peer one to receive and one to send
  const std::unique_ptr<AllReduce> inner_;
  bool paused_ = false;
  std::uint64_t pauses_ = 0;
  std::vector<Transfer> unposted_;
  std::size_t sends_out_ = 0;
  std::size_t receives_out_ = 0;
  std::string disagreement_;
};

}  // namespace dlcp::collective
