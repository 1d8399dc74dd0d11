// An algorithm whose calls pause while the ranks reduce by other means, as in a switch. Whoever
// waits there hears nothing of a rank that dies. So for a pause every rank posts a receive to all
// others, who do not answer before the next call here: their connections owe a word as long as
// that, and are seen to fail.
//
// All ranks pause and go on between the same calls, and nobody does either before his earlier calls
// here, and elsewhere, have finished.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collective/all_reduce.h"

namespace dlcp::collective {

class Watched final : public AllReduce {
 public:
  using Make = std::function<std::unique_ptr<AllReduce>(std::span<std::byte> staging)>;
  // Calls that reduce nothing: their input is empty, and `tensor` is one of these. A pause does not
  // finish; whether it is asked of its group tells whether the group still stands.
  static constexpr std::uint64_t kPause = 1;
  static constexpr std::uint64_t kGoOn = 2;  // as the next call does
  static constexpr std::uint64_t kPauseNumber = std::uint64_t{1} << 63;

  // `staging` outlives this; the algorithm that `make` makes has what watching leaves of it.
  Watched(std::uint32_t ranks, std::uint32_t rank, std::span<std::byte> staging, const Make& make);

  std::size_t staging_needed(const Call& call) const override;
  std::optional<std::uint64_t> start(const Call& call) override;
  void leave() override { inner_->leave(); }
  bool finished(std::uint64_t call) const override;
  void post_to(Mesh& mesh) override;
  using AllReduce::on_done;
  void on_done(const Transfer& transfer, std::size_t bytes,
               std::span<const ByteRange> lost) override;
  bool work() override { return inner_->work(); }
  bool busy() const override { return inner_->busy() || !unposted_.empty(); }
  bool idle() const override { return inner_->idle() && unposted_.empty() && sends_out_ == 0; }
  Blocks blocks() const override { return inner_->blocks(); }
  const std::string& disagreement() const override {
    return disagreement_.empty() ? inner_->disagreement() : disagreement_;
  }

 private:
  static constexpr std::size_t kWordBytes = 8;

  std::span<std::byte> word(std::uint32_t peer, bool sends) const;
  void pause();
  void go_on();
  void tell_all(bool sends);

  const std::uint32_t ranks_;
  const std::uint32_t rank_;
  const std::span<std::byte> words_;  // of each peer one to receive, one to send
  const std::unique_ptr<AllReduce> inner_;
  bool paused_ = false;
  std::uint64_t pauses_ = 0;
  std::vector<Transfer> unposted_;
  std::size_t sends_out_ = 0;
  std::string disagreement_;
};

}  // namespace dlcp::collective
