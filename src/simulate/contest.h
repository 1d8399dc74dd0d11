// One run: a fabric, its switches set up as the transport wants them, a workload, faults at a time,
// and what came of it. Everything follows from the setting; the same one gives the same numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/fabric.h"
#include "simulate/job.h"
#include "simulate/opponents/nscc.h"
#include "simulate/phantom_datapath.h"

namespace dlcp::simulate {

enum class Contender { kDlcp, kDlcpNscc, kNscc, kDctcp, kPfabric, kPias, kNdp, kRoce };
std::string_view name_of(Contender contender);
std::optional<Contender> contender_of(std::string_view name);
std::string contender_names();  // all of them, with commas between

// What befalls cables between switches, numbered within a tier.
struct CableFault {
  Fabric::Tier tier = Fabric::Tier::kSpineUp;
  std::size_t first = 0;
  std::size_t count = 1;
  Duration after{0};  // the beginning of the workload
  Duration lasts{0};  // 0: for ever
  Duration every{0};  // with `lasts`: it comes again so long after it came; 0: once
  double rate = 1;    // of what it was; 0: down
  double loss = 0;    // of packets, silently
  bool both_ways = false;
  // Of a dead cable: until routing takes it out; none: never. It is back in with the cable.
  std::optional<Duration> reconverges;
};

// A host whose card asks to be paused all the time; its switch obeys.
struct PauseStorm {
  HostIndex host = 0;
  Duration after{0};  // the beginning of the workload
  Duration lasts{0};
};

struct Setting {
  FabricPlan fabric;
  Contender contender = Contender::kDlcp;
  std::size_t paths = 0;  // entropy values; 0: what suits the contender
  Spraying spraying = Spraying::kBitmap;
  Duration timeout_min{0};  // of those that have one; 0: what suits the contender
  std::vector<CableFault> faults;
  std::optional<PauseStorm> storm;
  bool dctcp_neighbours = false;  // what is not the job's is moved by DCTCP, else as the job is
  Duration packet_cost{0};        // of DLCP's hosts' processors, for each packet in or out
  double knee = 1;                // of DLCP's switches: early drops, by what is planned
  bool blind_marks = false;       // DLCP's marks say nothing of what packets are worth
  std::size_t switch_buffer_bytes = kCommodityBuffer;  // shared by ports, of DLCP's and DCTCP's
  std::size_t queue_bytes = 0;  // of a port of switches that know no classes; 0: as contender asks
  HostPlan hosts;               // of DLCP; paths: see above
  double loss_to_hosts = 0;     // of packets, from leaves to hosts, silently
  double loss = 0;              // of packets, on every link between switches, silently
  Duration limit{60'000'000'000};  // simulated, for the whole workload
  std::uint64_t seed = 1;
};

struct Outcome {
  bool ended = false;             // within the limit
  Duration took{0};               // until the last byte has arrived,
  Duration took_acknowledged{0};  // and until its sender knows
  std::vector<Finish> finishes;   // of each step of the workload
  TransportCounters transport;
  QueueCounters queues;
  double imbalance = 1;            // of links from a leaf up: the busiest over the mean
  std::uint64_t link_packets = 0;  // over all links
  std::uint64_t pauses = 0;        // of senders, by switches
  std::uint64_t events = 0;
  std::uint64_t hash = 0;  // of all arrivals
};

Outcome run(const Setting& setting, const Workload& workload);

}  // namespace dlcp::simulate
