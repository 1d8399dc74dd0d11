// The dependencies of each message of a schedule: the arrivals that make up its sender's copy. The
// simulation counts them down; the verifier searches them for cycles.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "synth/plan/schedule.h"

namespace dlcp::synth {

// A graph of messages (0..messages-1, by their index) and gates (from messages on). A gate opens
// when all its dependencies are complete, so that messages with many common dependencies need few
// arcs.
class Waits {
 public:
  // `schedule` must have valid indices.
  explicit Waits(const Schedule& schedule);

  std::size_t size() const { return waits_for_.size(); }
  bool is_gate(std::uint32_t node) const { return node >= messages_; }
  std::uint32_t count(std::uint32_t node) const { return waits_for_[node]; }  // of dependencies
  // Calls visit(node) for all nodes that depend on `node`.
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

// A message that can never be sent if messages between two ranks keep the list's order; nullopt if
// all can.
std::optional<std::size_t> first_waiting(const Schedule& schedule);

}  // namespace dlcp::synth
