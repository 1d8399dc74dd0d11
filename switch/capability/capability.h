// What a target can express, per OS, version and ASIC: the one table (capability_table.cc) that
// planning lowers to. A row says what is known from documentation; nothing here has been seen on
// hardware unless `seen_working` says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "switch/model/problem.h"

namespace dlcp::fabric {

// How drop levels are told apart, best first.
enum class Mechanism {
  kColour,  // drop precedence from DSCP, one WRED curve per colour in one queue
  kEct,     // one WRED+ECN curve: ECT is marked, not-ECT is dropped
  kQueues,  // one queue per level
};

// What becomes of DLCP's DSCPs from ports that are not trusted.
enum class Remarking {
  kNone,
  kClassifyOnly,  // served as others are, and sent on as they came
  kBySpareClass,  // rewritten as they leave, by a class that carries nothing else
  kRewrite        // rewritten as they come in
};

struct Capabilities {
  std::string os, version, asic;  // as asked for
  Mechanism mechanism = Mechanism::kEct;
  int levels_per_queue = 2;    // protected one included
  bool separate_knee = false;  // ECN knee may differ from the drop depth in one queue
  int queues = 8, traffic_classes = 8;
  // Where the switch's own BGP, LACP and BFD leave, mostly not-ECT: nothing that marks or drops
  // early may be there. -1: packets of its own have no queue that DSCPs lead to, or nobody says.
  int control_plane_queue = -1;
  std::uint64_t cell_bytes = 1;  // thresholds are rounded down to it
  std::uint64_t threshold_bytes_max = 0;
  std::uint64_t lossy_pool_bytes = 0;  // conservative default; 0: must be stated or imported
  std::uint64_t buffer_bytes = 0;      // the whole chip's; 0: unknown
  bool pool_per_port = false;          // each port has its own; no dynamic threshold
  int alpha_exponent_min = 0, alpha_exponent_max = 0;  // min == max: the queue limit is fixed
  unsigned weight_min = 1, weight_max = 100;
  bool weights_are_percent = false;  // and must not exceed 100 in sum
  bool strict_can_be_shaped = true;
  Remarking remarking = Remarking::kNone;
  bool overlay_uniform = false;  // copies DSCP and ECN at tunnel ends
  bool lag_members = true;       // QoS is applied to the members of a LAG
  bool hash_settable = false;    // ECMP hash fields can be configured
  bool level_counters = false;   // drops are counted per level, not per queue
  std::string port_prefix;       // names of physical ports begin so
  // What physical ports are called: '#' is a number, '*' letters; none: as may be.
  std::vector<std::string> port_shapes;
  // Where they may be called anything: what is surely something else.
  std::vector<std::string> no_port_shapes;
  double tolerance = 0.10;              // hardware rounds thresholds by up to this
  bool grammar_checked = false;         // the output is checked against a published model
  bool seen_working = false;            // applied and measured (software switches so far)
  std::vector<std::string> unverified;  // sentences for the report
};

Checked<Capabilities> find_capabilities(std::string_view os, std::string_view version,
                                        std::string_view asic);

// Whether a version of a system is that release or a later one. "master" is
// later than all.
bool is_since(std::string_view os, std::string_view version, std::string_view release);

const char* name_of(Mechanism mechanism);  // "colour", "ECT", "queues"
std::vector<std::string> known_systems();  // OS names, for messages
std::vector<std::string> known_asics(std::string_view os);
std::string capability_table_text();  // Markdown, as README shows it

}  // namespace dlcp::fabric
