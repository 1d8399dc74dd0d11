#include "simulate/network/fabric.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace dlcp::simulate {
namespace {

// A card accepts all packets of its host; the host limits the number that waits.
const ClassPlan& card_plan() {
  static const ClassPlan plan = [] {
    ClassPlan made;
    for (auto& queue : made.queues)
      queue.limit_bytes = std::size_t{1} << 30;
    return made;
  }();
  return plan;
}

}  // namespace

FabricPlan single_switch(std::size_t hosts, const Wire& wire) {
  FabricPlan plan;
  plan.hosts_per_leaf = hosts;
  plan.host = plan.uplink = plan.core = wire;
  return plan;
}

FabricPlan leaf_spine(std::size_t leaves, std::size_t hosts_per_leaf, std::size_t spines,
                      const Wire& host, const Wire& uplink) {
  FabricPlan plan;
  plan.leaves_per_pod = leaves;
  plan.hosts_per_leaf = hosts_per_leaf;
  plan.spines_per_pod = spines;
  plan.host = host;
  plan.uplink = plan.core = uplink;
  return plan;
}

FabricPlan fat_tree(std::size_t radix, const Wire& wire, std::size_t oversubscription) {
  FabricPlan plan;
  plan.pods = radix;
  plan.leaves_per_pod = plan.hosts_per_leaf = radix / 2;
  plan.spines_per_pod = std::max<std::size_t>(radix / 2 / oversubscription, 1);
  plan.cores_per_spine = radix / 2;
  plan.host = plan.uplink = plan.core = wire;
  return plan;
}

Duration base_round_trip(const FabricPlan& plan, std::uint32_t packet_bytes,
                         std::uint32_t answer_bytes) {
  double ns = 0;
  const auto add = [&](const Wire& wire) {
    ns += 2 * static_cast<double>(wire.delay.count()) +
          (packet_bytes + answer_bytes) * 8 / wire.gbit_per_s;
  };
  for (int i = 0; i < 2; ++i) {
    add(plan.host);
    if (plan.spines_per_pod > 0) add(plan.uplink);
    if (plan.cores_per_spine > 0) add(plan.core);
  }
  return Duration(static_cast<std::int64_t>(ns));
}

Fabric::Fabric(Events& events, const FabricPlan& plan)
    : events_(events), plan_(plan), seed_(plan.seed) {
  const std::size_t leaves = plan_.leaves();
  const std::size_t spines = plan_.pods * plan_.spines_per_pod;
  const std::size_t cores = plan_.spines_per_pod * plan_.cores_per_spine;
  for (std::size_t i = 0; i < leaves + spines + cores; ++i) {
    switches_.push_back(std::make_unique<Switch>(leaves, plan_.hosts_per_leaf, next_seed()));
    switches_.back()->buffer().total_bytes = plan_.switch_buffer_bytes;
    if (plan_.adaptive) switches_.back()->route_adaptively();
  }
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    add_hosts(leaf);
    const std::size_t pod = leaf / plan_.leaves_per_pod;
    for (std::size_t i = 0; i < plan_.spines_per_pod; ++i) {
      const std::size_t spine = leaves + pod * plan_.spines_per_pod + i;
      add_cable(Tier::kLeafUp, Tier::kLeafDown, leaf, spine, plan_.uplink);
    }
  }
  for (std::size_t spine = 0; spine < spines; ++spine) {
    const std::size_t plane = spine % plan_.spines_per_pod;
    for (std::size_t i = 0; i < plan_.cores_per_spine; ++i) {
      const std::size_t core = leaves + spines + plane * plan_.cores_per_spine + i;
      add_cable(Tier::kSpineUp, Tier::kSpineDown, leaves + spine, core, plan_.core);
    }
  }
  route();
}

std::uint64_t Fabric::next_seed() {
  return seed_ = datapath::sim::mix(seed_, 0x5eed);
}

std::unique_ptr<Discipline> Fabric::discipline_of(Switch* owner) {
  if (plan_.make_discipline) return plan_.make_discipline();
  SharedBuffer* buffer = plan_.switch_buffer_bytes > 0 ? &owner->buffer() : nullptr;
  return std::make_unique<ClassQueues>(plan_.classes, buffer, next_seed());
}

void Fabric::add_hosts(std::size_t leaf) {
  const auto first = static_cast<HostIndex>(ends_.size());
  std::vector<Port*> ports;
  Wire card = plan_.host;
  if (plan_.card_gbit_per_s > 0) card.gbit_per_s = plan_.card_gbit_per_s;
  for (std::size_t i = 0; i < plan_.hosts_per_leaf; ++i) {
    ends_.push_back(std::make_unique<HostEnd>());
    to_host_.push_back(std::make_unique<Port>(
        events_, *ends_.back(), discipline_of(switches_[leaf].get()), plan_.host, next_seed()));
    cards_.push_back(std::make_unique<Port>(
        events_, *switches_[leaf], std::make_unique<ClassQueues>(card_plan(), nullptr, next_seed()),
        card, next_seed()));
    if (plan_.flow_control) cards_.back()->use_flow_control(*plan_.flow_control);
    ports.push_back(to_host_.back().get());
  }
  switches_[leaf]->set_hosts(first, std::move(ports));
}

void Fabric::add_cable(Tier up, Tier down, std::size_t lower, std::size_t upper, const Wire& wire) {
  const auto add = [&](Tier tier, std::size_t from, std::size_t to) {
    links_.push_back(
        {tier, from, to,
         std::make_unique<Port>(events_, *switches_[to], discipline_of(switches_[from].get()), wire,
                                next_seed())});
    if (plan_.flow_control) links_.back().port->use_flow_control(*plan_.flow_control);
  };
  add(up, lower, upper);
  add(down, upper, lower);
}

std::size_t Fabric::find(Tier tier, std::size_t which) const {
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (links_[i].tier == tier && which-- == 0) return i;
  return links_.size();
}

void Fabric::set_withdrawn(std::size_t link, bool withdrawn) {
  if (links_[link].withdrawn == withdrawn) return;
  links_[link].withdrawn = withdrawn;
  links_[link ^ 1].withdrawn = withdrawn;  // the two directions of a cable have adjacent indices
  route();
}

// For each leaf, computes the distances from all switches to it and the links that lead nearer.
void Fabric::route() {
  std::vector<std::vector<std::size_t>> into(switches_.size());
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (!links_[i].withdrawn) into[links_[i].to].push_back(i);
  for (std::size_t leaf = 0; leaf < plan_.leaves(); ++leaf) {
    constexpr std::size_t kFar = ~std::size_t{0};
    std::vector<std::size_t> distance(switches_.size(), kFar);
    std::vector<std::vector<Port*>> ports(switches_.size());
    std::deque<std::size_t> open{leaf};
    distance[leaf] = 0;
    while (!open.empty()) {
      const std::size_t near = open.front();
      open.pop_front();
      for (const std::size_t i : into[near]) {
        const std::size_t from = links_[i].from;
        if (distance[from] == kFar) {
          distance[from] = distance[near] + 1;
          open.push_back(from);
        }
        if (distance[from] == distance[near] + 1) ports[from].push_back(links_[i].port.get());
      }
    }
    for (std::size_t i = 0; i < switches_.size(); ++i)
      switches_[i]->set_route(leaf, std::move(ports[i]));
  }
}

double Fabric::imbalance(Tier tier) const {
  struct Load {
    double most = 0;
    double sum = 0;
    double links = 0;
  };
  std::map<std::size_t, Load> loads;
  for (const Link& link : links_) {
    if (link.tier != tier) continue;
    Load& load = loads[link.from];
    const auto bytes = static_cast<double>(link.port->counters().bytes);
    load.most = std::max(load.most, bytes);
    load.sum += bytes;
    load.links += 1;
  }
  double worst = 1;
  for (const auto& [from, load] : loads)
    if (load.sum > 0) worst = std::max(worst, load.most * load.links / load.sum);
  return worst;
}

QueueCounters Fabric::sum() const {
  QueueCounters total;
  const auto add = [&](const Port& port) {
    const QueueCounters& one = port.discipline().counters();
    total.dropped += one.dropped;
    total.early_dropped += one.early_dropped;
    total.trimmed += one.trimmed;
    total.marked += one.marked;
    total.deepest_bytes = std::max(total.deepest_bytes, one.deepest_bytes);
  };
  for (const auto& port : to_host_)
    add(*port);
  for (const Link& link : links_)
    add(*link.port);
  return total;
}

PortCounters Fabric::sum_wires() const {
  PortCounters total;
  const auto add = [&](const Port& port) {
    total.packets += port.counters().packets;
    total.bytes += port.counters().bytes;
    total.lost += port.counters().lost;
    total.while_down += port.counters().while_down;
    total.pauses += port.counters().pauses;
  };
  for (const auto& port : cards_)
    add(*port);
  for (const auto& port : to_host_)
    add(*port);
  for (const Link& link : links_)
    add(*link.port);
  return total;
}

}  // namespace dlcp::simulate
