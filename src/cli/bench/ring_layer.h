// A part of a vector that is reduced over the ring in one all-reduce, spread over the ring's
// channels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cli/bench/all_reducer.h"
#include "cli/bench/rank.h"
#include "cli/bench/reduce.h"
#include "cli/bench/ring_channel.h"

namespace dlcp::cli {

class RingLayer final : public AllReducer {
 public:
  // Elements begin to end of the vector, over the session's links.
  RingLayer(Session& session, std::size_t begin, std::size_t end, const Reduction& reduction = {});

  void restart() override;
  bool step(const void* input, void* output) override;
  bool done() const override;
  std::uint64_t bytes_received() const override;
  std::uint64_t contributions_lost() const override;

 private:
  Session& s_;
  std::size_t count_;
  std::vector<std::unique_ptr<RingChannel>> channels_;
};

}  // namespace dlcp::cli
