// The hosts of a real network behind the interface order::Network: an agent on each host, started
// here (network namespaces) or by a launcher, and connections to all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/launch/processes/children.h"
#include "cli/launch/rendezvous/frames.h"
#include "cli/order/agent/agent_words.h"
#include "cli/order/order_options.h"
#include "order/discover/discovery.h"

namespace dlcp::cli {

class MeasuredRun : public order::Network {
 public:
  // Connects to the other ranks, or starts an agent in each namespace. Throws BenchError.
  static std::unique_ptr<MeasuredRun> start(const OrderOptions& options);
  ~MeasuredRun() override;
  MeasuredRun(const MeasuredRun&) = delete;
  MeasuredRun& operator=(const MeasuredRun&) = delete;

  // False: this process is only an agent and must call serve().
  bool leads() const { return lead_; }
  void serve();

  // In the order of their ranks. Several ranks on one host are one host with that many slots.
  std::vector<fabric::Host> hosts() const { return hosts_; }
  std::vector<order::Measurement> probe(const std::vector<order::Pair>& pairs) override;
  std::vector<double> load(const order::LoadPhase& phase) override;
  double load_gb() const { return load_gb_; }

 private:
  struct Line {
    FrameReader reader;
    AgentHello hello;
    bool gone = false;
  };
  struct LoadRound {
    std::vector<double> gb_per_s;  // by transfer; NaN: not known
    double median_bytes = 0;       // received by one transfer
  };

  explicit MeasuredRun(const OrderOptions& options) : options_(options) {}

  void start_namespaces();
  void start_ranks();
  int start_agent(const std::string& net_namespace, const std::string& name);
  void take_hellos();
  void choose_names();
  void send(std::size_t host, const AgentJob& job);
  AgentAnswer await(std::size_t host, std::int64_t deadline);
  LoadRound load_once(const order::LoadPhase& phase, int ms, double gb_per_s);

  const OrderOptions& options_;
  bool lead_ = true;
  int own_line_ = -1;        // of an agent that is not the leader
  std::vector<Line> lines_;  // by rank, then by host
  std::vector<fabric::Host> hosts_;
  Children agents_;
  double load_gb_ = 0;
};

}  // namespace dlcp::cli
