// The messages between the leader of `dlcp order` and the agents on the hosts, as JSON in the
// frames of launch/rendezvous/frames.h. A message that cannot be parsed gives nullopt and ends the
// connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "order/measure/measurements.h"

namespace dlcp::cli {

// An agent's first message.
struct AgentHello {
  std::string name;
  std::string machine;                 // the same for all processes that share a network
  std::vector<std::string> addresses;  // numeric; the first is probed
  std::vector<std::uint16_t> ports;    // where it answers probes
  int speed_mbps = 0;
};

// The leader's answer: all hosts, the agent's index among them, and the number of this run.
struct PeerList {
  std::uint64_t session = 0;
  int self = 0;
  std::vector<std::string> addresses;             // by host
  std::vector<std::vector<std::uint16_t>> ports;  // by host
};

// One job of an agent: bursts to some hosts, or a load to one.
struct AgentJob {
  std::vector<int> probe;  // hosts to probe
  bool load = false;
  int to = -1;  // host to load; -1: none, only receive
  int ms = 0;
  double gb_per_s = 0;
};

struct AgentAnswer {
  std::vector<order::Measurement> measured;  // by probed host
  double received_gb_per_s = -1;             // -1: not known
  double received_bytes = 0;
  double sent_bytes = 0;
};

std::string encode(const AgentHello& hello);
std::string encode(const PeerList& peers);
std::string encode(const AgentJob& job);
std::string encode(const AgentAnswer& answer);

std::optional<AgentHello> decode_hello(std::string_view text);
std::optional<PeerList> decode_peers(std::string_view text);
std::optional<AgentJob> decode_job(std::string_view text);
std::optional<AgentAnswer> decode_answer(std::string_view text);

}  // namespace dlcp::cli
