// What each message of a schedule waits for: the arrivals that its sender's copy is made of. For
// the simulation, which counts them down, and for the verifier, which looks for circles.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "synth/schedule.h"

namespace dlcp::synth {

// A graph of messages (0..messages-1, by their index) and gates (from messages on): a gate is open
// when all it waits for has happened, so that many that wait for the same many need few arcs.
class Waits {
 public:
  // `schedule` must have valid indices.
  explicit Waits(const Schedule& schedule);

  std::size_t size() const { return waits_for_.size(); }
  bool is_gate(std::uint32_t node) const { return node >= messages_; }
  std::uint32_t count(std::uint32_t node) const { return waits_for_[node]; }  // what it waits for
  // Calls visit(node) for all that wait for `node`.
  template <class Visit>
  void each_after(std::uint32_t node, Visit visit) const {
    for (std::uint32_t at = first_[node]; at != kNone; at = arcs_[at].next)
      visit(arcs_[at].to);
  }
  void add(std::uint32_t before, std::uint32_t after);

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Arc {
    std::uint32_t to;
    std::uint32_t next;
  };
  std::uint32_t add_node();

  std::uint32_t messages_;
  std::vector<std::uint32_t> waits_for_;
  std::vector<std::uint32_t> first_;
  std::vector<Arc> arcs_;
};

// A message that can never be sent if messages between two ranks keep the list's order; nothing if
// all can.
std::optional<std::size_t> first_waiting(const Schedule& schedule);

}  // namespace dlcp::synth
