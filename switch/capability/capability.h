// The capabilities of each target, by OS, version and ASIC: the one table (capability_table.cc)
// that planning reads. A row states what documentation says; only rows with `seen_working` have
// been observed on a running switch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "switch/model/problem.h"

namespace dlcp::fabric {

// How a target distinguishes drop levels, best first.
enum class Mechanism {
  kColour,  // drop precedence from DSCP, one WRED curve per colour in one queue
  kEct,     // one WRED+ECN curve: ECT is marked, not-ECT is dropped
  kQueues,  // one queue per level
};

// The treatment of DLCP's DSCPs in packets from ports that are not trusted.
enum class Remarking {
  kNone,
  kClassifyOnly,  // served like other packets, and forwarded unchanged
  kBySpareClass,  // rewritten on egress, by a traffic class that carries nothing else
  kRewrite        // rewritten on ingress
};

struct Capabilities {
  std::string os, version, asic;  // as requested
  Mechanism mechanism = Mechanism::kEct;
  int levels_per_queue = 2;             // including the protected one
  bool separate_knee = false;           // ECN knee may differ from the drop depth in one queue
  int queues = 8, traffic_classes = 8;  // that DLCP may use
  int site_classes = 8;                 // numbers of traffic classes that the system accepts
  // Queue of the switch's own BGP, LACP and BFD packets, most of which are not-ECT: it must neither
  // mark nor drop early. -1: no DSCP leads to the queue of these packets, or the documentation does
  // not name it.
  int control_plane_queue = -1;
  // Queues that the system's default configuration makes lossless. DLCP must not use them unless
  // the site's configuration makes them lossy.
  std::vector<int> lossless_queues;
  std::uint64_t cell_bytes = 1;  // thresholds are rounded down to a multiple of it
  std::uint64_t threshold_bytes_max = 0;
  std::uint64_t lossy_pool_bytes = 0;  // conservative default; 0: must be stated or imported
  std::uint64_t buffer_bytes = 0;      // of the whole chip; 0: unknown
  bool pool_per_port = false;          // each port has its own pool; no dynamic threshold
  int alpha_exponent_min = 0, alpha_exponent_max = 0;  // min == max: the queue limit is fixed
  unsigned weight_min = 1, weight_max = 100;
  bool weights_are_percent = false;  // their sum must not exceed 100
  Remarking remarking = Remarking::kNone;
  bool overlay_uniform = false;  // copies DSCP and ECN at tunnel ends
  bool lag_members = true;       // QoS is applied to the members of a LAG
  bool hash_settable = false;    // ECMP hash fields can be configured
  bool level_counters = false;   // drops are counted per level, not per queue
  std::string port_prefix;       // prefix of the names of physical ports
  // Forms of port names: '#' is a number, '*' letters. Empty: any name is valid.
  std::vector<std::string> port_shapes;
  // Used where any port name is valid: forms of names that are certainly not ports.
  std::vector<std::string> no_port_shapes;
  double tolerance = 0.10;              // hardware rounds thresholds by up to this
  bool grammar_checked = false;         // the output is checked against a published model
  bool seen_working = false;            // applied and measured (software switches so far)
  std::vector<std::string> unverified;  // sentences for the report
};

Checked<Capabilities> find_capabilities(std::string_view os, std::string_view version,
                                        std::string_view asic);

// Whether a version of a system is `release` or later. "master" is later than all releases.
bool is_since(std::string_view os, std::string_view version, std::string_view release);

const char* name_of(Mechanism mechanism);  // "colour", "ECT", "queues"
std::vector<std::string> known_systems();  // OS names, for messages
std::vector<std::string> known_asics(std::string_view os);
std::string capability_table_text();  // Markdown, as README shows it

}  // namespace dlcp::fabric
