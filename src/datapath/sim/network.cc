#include "datapath/sim/network.h"

#include <algorithm>

namespace dlcp::datapath::sim {

NetworkConfig single_switch(std::size_t hosts, const HostConfig& host) {
  NetworkConfig config;
  config.hosts.assign(hosts, host);
  return config;
}

NetworkConfig leaf_spine(std::size_t leaves, std::size_t spines, std::size_t hosts_per_leaf,
                         const HostConfig& host, const LinkConfig& fabric_link) {
  NetworkConfig config;
  config.hosts.assign(leaves * hosts_per_leaf, host);
  config.leaves = leaves;
  config.spines = spines;
  config.fabric_link = fabric_link;
  return config;
}

Network::Network(const NetworkConfig& config)
    : seed_(config.seed),
      hosts_per_leaf_((config.hosts.size() + config.leaves - 1) / config.leaves),
      spines_(config.spines) {
  build_leaves(config);
  build_spines(config);
}

void Network::build_leaves(const NetworkConfig& config) {
  for (std::size_t i = 0; i < config.leaves; ++i)
    leaves_.push_back(std::make_unique<Switch>(next_seed()));
  for (HostIndex i = 0; i < config.hosts.size(); ++i) {
    const HostConfig& host = config.hosts[i];
    Switch& leaf = *leaves_[leaf_of(i)];
    hosts_.push_back(
        std::make_unique<SimDatapath>(events_, i, host, leaf, next_seed(), delivery_hash_));
    host_ports_.push_back(
        std::make_unique<Port>(events_, *hosts_[i], config.port, host.link, next_seed()));
    leaf.set_route(i, {host_ports_[i].get()});
    links_.push_back(&hosts_[i]->nic().link());
    links_.push_back(&host_ports_[i]->link());
  }
}

void Network::build_spines(const NetworkConfig& config) {
  for (std::size_t i = 0; i < spines_; ++i)
    spine_switches_.push_back(std::make_unique<Switch>(next_seed()));
  for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    std::vector<Port*> uplinks;
    for (std::size_t spine = 0; spine < spines_; ++spine) {
      up_.push_back(std::make_unique<Port>(events_, *spine_switches_[spine], config.port,
                                           config.fabric_link, next_seed()));
      down_.push_back(std::make_unique<Port>(events_, *leaves_[leaf], config.port,
                                             config.fabric_link, next_seed()));
      uplinks.push_back(up_.back().get());
      links_.push_back(&up_.back()->link());
      links_.push_back(&down_.back()->link());
      for (HostIndex host = 0; host < hosts_.size(); ++host)
        if (leaf_of(host) == leaf) spine_switches_[spine]->set_route(host, {down_.back().get()});
    }
    leaves_[leaf]->set_default_route(uplinks);
  }
}

void Network::set_faults(const LinkFaults& faults) {
  for (Link* link : links_)
    link->set_faults(faults);
}

void Network::set_edge_faults(const LinkFaults& faults) {
  for (auto& host : hosts_)
    host->nic().link().set_faults(faults);
}

void Network::add_outage(Time from, Time until) {
  for (Link* link : links_)
    link->add_outage(from, until);
}

void Network::add_spine_outage(std::size_t spine, Time from, Time until) {
  for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf)
    spine_to_leaf(spine, leaf).link().add_outage(from, until);
}

}  // namespace dlcp::datapath::sim
