#include "simulate/opponents/dctcp.h"

#include <algorithm>

namespace dlcp::simulate {
namespace {

constexpr double kGain = 1.0 / 16;
constexpr std::uint32_t kLater = 3;  // packets that arrived although an earlier one did not

}  // namespace

ClassPlan DctcpTransport::switches(const DctcpConfig& config) {
  ClassPlan plan = commodity_plan();
  for (QueuePlan& queue : plan.queues) {
    queue.mark.from = config.mark_bytes;
    queue.mark.full = config.mark_bytes;
  }
  return plan;
}

void DctcpTransport::on_open(std::uint32_t index) {
  states_.emplace_back();
  flow(index).window = dctcp_.first_window;
}

// One path keeps packets in order, so packets sent before an acknowledged one are lost.
void DctcpTransport::find_losses(std::uint32_t index, State& state, const Answer& answer) {
  Flow& sender = flow(index);
  bool lost = false;
  const Time sent_at = sender.sent_at[answer.sequence];
  for (std::uint32_t i = sender.acknowledged.below(); i + kLater <= answer.sequence; ++i) {
    if (sender.flying[i] == 0 || sender.sent_at[i] >= sent_at) continue;
    lose(index, i);
    lost = true;
  }
  if (!lost || sender.acknowledged.below() < state.recovers) return;
  state.recovers = sender.next;
  state.threshold = std::max(sender.window / 2, 2.0);
  sender.window = state.threshold;
}

void DctcpTransport::on_answer(Time, std::uint32_t index, const Answer& answer) {
  State& state = states_[index];
  Flow& sender = flow(index);
  if (!answer.news) return;
  find_losses(index, state, answer);
  state.acked += 1;
  state.marked += answer.marked ? 1 : 0;
  if (answer.marked) state.threshold = std::min(state.threshold, sender.window);
  if (sender.window < state.threshold)
    sender.window += 1;
  else
    sender.window += 1 / sender.window;
  if (sender.acknowledged.below() < state.window_ends) return;
  state.alpha += kGain * (state.marked / state.acked - state.alpha);
  if (state.marked > 0) {
    sender.window = std::max(sender.window * (1 - state.alpha / 2), 1.0);
    state.threshold = sender.window;
  }
  state.acked = state.marked = 0;
  state.window_ends = sender.next;
}

void DctcpTransport::on_timeout(Time, std::uint32_t index) {
  Flow& sender = flow(index);
  State& state = states_[index];
  state.threshold = std::max(sender.window / 2, 2.0);
  state.recovers = sender.next;
  sender.window = 1;
}

}  // namespace dlcp::simulate
