#include "synth/evaluate/step_profile.h"

#include <algorithm>

namespace dlcp::synth {

StepProfile::StepProfile(const Topology& topology, const Routes& routes, const Schedule& schedule) {
  std::vector<const Message*> by_step;
  for (const Message& m : schedule.messages)
    by_step.push_back(&m);
  std::stable_sort(by_step.begin(), by_step.end(),
                   [](const Message* a, const Message* b) { return a->step < b->step; });
  std::vector<double> whole(topology.links.size()), load(topology.links.size());
  std::vector<int> messages(static_cast<std::size_t>(topology.ranks()));
  std::vector<double> by_hop(routes.hop_count());
  for (std::size_t i = 0; i < by_step.size();) {
    Step step;
    std::fill(load.begin(), load.end(), 0);
    std::fill(messages.begin(), messages.end(), 0);
    std::fill(by_hop.begin(), by_hop.end(), 0);
    for (const int now = by_step[i]->step; i < by_step.size() && by_step[i]->step == now; i++) {
      const Message& m = *by_step[i];
      messages[static_cast<std::size_t>(m.from)]++;
      messages[static_cast<std::size_t>(m.to)]++;
      step.latency = std::max(step.latency, routes.latency(m.from, m.to));
      const double share = schedule.share_of(m);
      for (const int hop : routes.hops(m.from, m.to))
        by_hop[static_cast<std::size_t>(hop)] += share;
    }
    for (std::size_t hop = 0; hop < by_hop.size(); hop++) {
      if (by_hop[hop] <= 0) continue;
      for (const LinkShare& one : routes.hop(static_cast<int>(hop)).links)
        load[static_cast<std::size_t>(one.link)] +=
            by_hop[hop] * one.share / topology.links[static_cast<std::size_t>(one.link)].rate;
    }
    for (std::size_t link = 0; link < load.size(); link++)
      whole[link] += load[link];
    step.processor = topology.message * *std::max_element(messages.begin(), messages.end());
    step.seconds_per_byte = *std::max_element(load.begin(), load.end());
    steps_.push_back(step);
  }
  if (!whole.empty()) whole_ = *std::max_element(whole.begin(), whole.end());
}

double StepProfile::seconds(double bytes) const {
  double sum = 0;
  for (const Step& step : steps_)
    sum += step.latency + std::max(step.processor, step.seconds_per_byte * bytes);
  return sum;
}

}  // namespace dlcp::synth
