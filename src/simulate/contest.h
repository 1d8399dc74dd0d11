// One run: a fabric whose switches are set up for the transport, a workload, faults at given times,
// and the result. It is a deterministic function of the setting.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/load/job.h"
#include "simulate/network/fabric.h"
#include "simulate/opponents/nscc.h"
#include "simulate/protocol/phantom_datapath.h"

namespace dlcp::simulate {

enum class Contender { kDlcp, kNscc, kDctcp, kPfabric, kPias, kNdp, kRoce };
std::string_view name_of(Contender contender);
std::optional<Contender> contender_of(std::string_view name);
std::string contender_names();  // all names, separated by commas

// A fault of a cable between switches, numbered within a tier.
struct CableFault {
  Fabric::Tier tier = Fabric::Tier::kSpineUp;
  std::size_t first = 0;
  std::size_t count = 1;
  Duration after{0};  // after the beginning of the workload
  Duration lasts{0};  // 0: until the end
  Duration every{0};  // with `lasts`: period of repetition, from begin to begin; 0: once
  double rate = 1;    // share of the normal rate; 0: down
  double loss = 0;    // share of packets lost silently
  bool both_ways = false;
  // For a dead cable: time until routing removes it; nullopt: never. It is restored with the cable.
  std::optional<Duration> reconverges;
};

// A host whose network card requests a pause all the time; its switch obeys.
struct PauseStorm {
  HostIndex host = 0;
  Duration after{0};  // after the beginning of the workload
  Duration lasts{0};
};

struct Setting {
  FabricPlan fabric;
  Contender contender = Contender::kDlcp;
  std::size_t paths = 0;  // entropy values; 0: the contender's default
  Spraying spraying = Spraying::kBitmap;
  Duration timeout_min{0};  // retransmission timeout, if any; 0: contender's default
  std::vector<CableFault> faults;
  std::optional<PauseStorm> storm;
  bool dctcp_neighbours = false;  // transfers of neighbours use DCTCP, else the job's transport
  Duration packet_cost{0};   // processor time of DLCP's hosts, for each packet sent or received
  double knee = 1;           // of DLCP's switches: early-drop depth relative to the planned one
  bool blind_marks = false;  // DLCP's marks are unrelated to the magnitudes of packets
  std::size_t switch_buffer_bytes = kCommodityBuffer;  // shared by ports; DLCP's and DCTCP's
  std::size_t queue_bytes = 0;  // of a port of switches without classes; 0: the contender's default
  HostPlan hosts;               // of DLCP; its `paths` are set above
  double loss_to_hosts = 0;     // share of packets lost silently between leaves and hosts
  double loss = 0;              // share of packets lost silently on every link between switches
  Duration limit{60'000'000'000};  // simulated time for the whole workload
  std::uint64_t seed = 1;
};

struct Outcome {
  bool ended = false;             // within the limit
  Duration took{0};               // until the last byte has arrived
  Duration took_acknowledged{0};  // until its sender has the acknowledgement
  std::vector<Finish> finishes;   // of each step of the workload
  TransportCounters transport;
  QueueCounters queues;
  double imbalance = 1;            // of uplinks of a leaf: maximum over mean
  std::uint64_t link_packets = 0;  // over all links
  std::uint64_t pauses = 0;        // of senders, requested by switches
  std::uint64_t events = 0;
  std::uint64_t hash = 0;  // over all arrivals
};

Outcome run(const Setting& setting, const Workload& workload);

}  // namespace dlcp::simulate
