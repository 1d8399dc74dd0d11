#include "synth/evaluate/simulate.h"

#include <algorithm>
#include <queue>

#include "synth/evaluate/waits.h"

namespace dlcp::synth {
namespace {

class Simulation {
 public:
  Simulation(const Topology& topology, const Routes& routes, const Schedule& schedule, double bytes)
      : topology_(topology),
        routes_(routes),
        schedule_(schedule),
        waits_(schedule),
        left_(waits_.size()),
        state_(schedule.messages.size()),
        bytes_(schedule.messages.size()),
        free_(topology.links.size()),
        busy_(topology.links.size()),
        cpu_(static_cast<std::size_t>(topology.ranks())),
        ports_(routes.hop_count()) {
    for (std::size_t i = 0; i < bytes_.size(); i++)
      bytes_[i] = schedule.share_of(schedule.messages[i]) * bytes;
  }

  Simulated run(bool keep_timings) {
    for (std::uint32_t i = 0; i < left_.size(); i++) {
      left_[i] = waits_.count(i);
      if (left_[i] == 0) make_ready(0, i);
    }
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.what == What::kHead)
        pass(event.time, event.subject);
      else if (event.what == What::kTail)
        receive(event.time, event.subject);
      else if (event.what == What::kDone)
        finish(event.time, event.subject);
      else
        serve(event.time, event.subject);
    }
    result_.busiest =
        result_.seconds > 0 ? *std::max_element(busy_.begin(), busy_.end()) / result_.seconds : 0;
    if (keep_timings)
      for (const State& state : state_)
        result_.timings.push_back({state.begin, state.tail});
    return std::move(result_);
  }

 private:
  enum class What : std::uint8_t { kDone, kTail, kPort, kHead };
  struct Event {
    double time;
    What what;
    std::uint32_t subject;  // a message or gate; kPort: a hop
    bool operator>(const Event& other) const {
      if (time != other.time) return time > other.time;
      return what != other.what ? what > other.what : subject > other.subject;
    }
  };
  struct State {
    std::uint32_t hop = 0;
    double begin = 0;
    double tail = 0;  // when the last byte is where the head is
  };
  struct Port {  // a first hop: ready messages, in the schedule's order
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    bool waked = false;
  };

  const Message& message(std::uint32_t index) const { return schedule_.messages[index]; }

  void make_ready(double time, std::uint32_t node) {
    if (waits_.is_gate(node)) {
      events_.push({time, What::kDone, node});
      return;
    }
    const auto port =
        static_cast<std::uint32_t>(routes_.hops(message(node).from, message(node).to)[0]);
    ports_[port].ready.push(node);
    wake(time, port);
  }

  void wake(double time, std::uint32_t port) {
    if (ports_[port].waked) return;
    ports_[port].waked = true;
    events_.push({time, What::kPort, port});
  }

  // The port takes the first ready message; the next one when this one has left.
  void serve(double time, std::uint32_t port_index) {
    Port& port = ports_[port_index];
    port.waked = false;
    if (port.ready.empty()) return;
    double& cpu = cpu_[static_cast<std::size_t>(message(port.ready.top()).from)];
    double begin = std::max(time, cpu);
    for (const LinkShare& one : routes_.hop(static_cast<int>(port_index)).links)
      begin = std::max(begin, free_[static_cast<std::size_t>(one.link)]);
    if (begin > time) return wake(begin, port_index);
    const std::uint32_t index = port.ready.top();
    port.ready.pop();
    cpu = time + topology_.message;
    state_[index].begin = time;
    state_[index].tail = time;
    pass(time + topology_.message, index);
    double freed = cpu;
    for (const LinkShare& one : routes_.hop(static_cast<int>(port_index)).links)
      freed = std::max(freed, free_[static_cast<std::size_t>(one.link)]);
    wake(freed, port_index);
  }

  // The head of a message has reached the links of its next hop.
  void pass(double time, std::uint32_t index) {
    State& state = state_[index];
    const Message& m = message(index);
    const auto hops = routes_.hops(m.from, m.to);
    const Hop& hop = routes_.hop(hops[state.hop++]);
    double begin = time;
    for (const LinkShare& one : hop.links)
      begin = std::max(begin, free_[static_cast<std::size_t>(one.link)]);
    for (const LinkShare& one : hop.links) {
      const double takes =
          bytes_[index] * one.share / topology_.links[static_cast<std::size_t>(one.link)].rate;
      free_[static_cast<std::size_t>(one.link)] = begin + takes;
      busy_[static_cast<std::size_t>(one.link)] += takes;
    }
    state.tail = std::max(state.tail, begin + bytes_[index] * hop.seconds_per_byte) + hop.latency;
    if (state.hop < hops.size())
      events_.push({begin + hop.latency, What::kHead, index});
    else
      events_.push({state.tail, What::kTail, index});
  }

  // The last byte has arrived; the receiver's processor handles the message when it is free.
  void receive(double time, std::uint32_t index) {
    double& cpu = cpu_[static_cast<std::size_t>(message(index).to)];
    cpu = std::max(cpu, time) + topology_.message;
    state_[index].tail = cpu;
    events_.push({cpu, What::kDone, index});
  }

  void finish(double time, std::uint32_t node) {
    result_.seconds = std::max(result_.seconds, time);
    waits_.each_after(node, [&](std::uint32_t after) {
      if (--left_[after] == 0) make_ready(time, after);
    });
  }

  const Topology& topology_;
  const Routes& routes_;
  const Schedule& schedule_;
  Waits waits_;
  std::vector<std::uint32_t> left_;
  std::vector<State> state_;
  std::vector<double> bytes_;
  std::vector<double> free_;  // by link
  std::vector<double> busy_;
  std::vector<double> cpu_;  // by rank: when its processor is free again
  std::vector<Port> ports_;  // by hop
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Simulated result_;
};

}  // namespace

Simulated simulate(const Topology& topology, const Routes& routes, const Schedule& schedule,
                   double bytes, bool keep_timings) {
  if (schedule.messages.empty()) return {};
  return Simulation(topology, routes, schedule, bytes).run(keep_timings);
}

}  // namespace dlcp::synth
