// The part of `dlcp order` that runs on every host: answers probes and performs the leader's jobs,
// one after the other, until the leader ends it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/launch/rendezvous/frames.h"
#include "cli/order/agent/agent_words.h"
#include "cli/order/agent/load_meter.h"
#include "cli/order/agent/probe_socket.h"
#include "wire/frames/echo_frame.h"

namespace dlcp::cli {

class Agent {
 public:
  // `line` is the connection to the leader. `interfaces`: a selection as in NCCL_SOCKET_IFNAME.
  // `name`: of the host; empty: its host name. Throws BenchError if no interface can be used for
  // measuring.
  Agent(int line, const std::string& interfaces, const std::string& name);

  // Throws BenchError(kTransport) if the connection to the leader is lost.
  void run();

 private:
  // A burst to one host.
  struct Burst {
    int host = 0;
    order::Measurement best;
    int answers = 0;
  };

  void take_words();
  void take_word(const std::string& word);
  void meet(PeerList peers);
  void serve(int timeout_ms);
  void take(const ProbeSocket& socket, const ProbeSocket::Arrival& arrival);
  void answer(const ProbeSocket& socket, const ProbeSocket::Arrival& arrival,
              const wire::EchoRequest& request);
  void note(const ProbeSocket::Arrival& arrival, const wire::EchoReply& reply);
  void probe(const std::vector<int>& hosts);
  void load(const AgentJob& job);
  void send_probe(std::size_t burst, int number);
  void finish(AgentAnswer answer);
  const datapath::SocketAddress& address_of(int host, std::size_t port) const;

  FrameReader line_;
  AgentHello self_;
  std::vector<ProbeSocket> sockets_;
  PeerList peers_;
  std::vector<std::vector<datapath::SocketAddress>> to_;  // by host and port
  std::vector<Burst> bursts_;
  bool ended_ = false;
  LoadMeter meter_;
  wire::Buffer frame_;
};

}  // namespace dlcp::cli
