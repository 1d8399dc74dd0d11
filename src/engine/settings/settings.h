// The user's settings, typed and checked: the result of the knob table, the config file and the
// environment. Plain data that is passed to constructors; nothing reads it globally.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collective/exchange/layout.h"
#include "compression/gate.h"
#include "datapath/address/ip_address.h"
#include "dlcp/class_overrides.h"
#include "util/result.h"
#include "util/time.h"
#include "wire/frames/control_frame.h"

namespace dlcp::engine {

enum class DatapathChoice : std::uint8_t { kAuto, kVerbs, kUdp };
enum class PlacementChoice : std::uint8_t { kAuto, kOff, kOn, kRc };
enum class CollnetChoice : std::uint8_t { kAuto, kOn, kOff };

struct Settings {
  // The defaults are only in the knob table: load_settings() writes every field.
  DatapathChoice datapath{};
  std::string hcas;   // syntax of NCCL_IB_HCA; empty: every usable RDMA port
  int gid_index = 0;  // -1: chosen automatically
  PlacementChoice placement{};
  std::string interfaces;  // syntax of NCCL_SOCKET_IFNAME; empty: every physical interface
  std::optional<datapath::IpFamily> family;  // NCCL_SOCKET_FAMILY
  std::size_t paths = 0;
  std::size_t lanes = 0;              // per device and carrier; 0: by speed and processors
  bool bundle = false;                // a connection uses all lanes
  std::size_t burst_packets_max = 0;  // 0: determined by the pace
  std::size_t mtu = 0;                // 0: the interface's MTU
  Duration peer_timeout{0};
  wire::Protection protection{};
  std::string secret_file;               // empty: none
  wire::Key site_secret;                 // content of secret_file; zero: none
  std::size_t receive_buffer_bytes = 0;  // 0: the largest that is permitted
  std::size_t send_buffer_bytes = 0;
  compression::Mode compression{};
  Duration target_delay{0};  // 0: depends on the datapath
  std::size_t eager_bytes = 0, copied_bytes_max = 0;
  bool gso = false;
  bool gro = false;
  std::string fault;         // faults to inject, for tests
  std::string stats_file;    // empty: none
  std::string profile_file;  // empty: none
  std::string trace_file;    // empty: none
  bool live_stats = false;
  Duration linger{0};
  std::uint32_t loss_budget_ppm = 0;  // millionths; 0: everything is exact
  bool loss_data_parallel = false;    // the user vouches for all reductions of the job
  std::size_t loss_bytes_min = 0;
  collective::LossFill loss_fill{};
  double tuner_margin = 0;
  CollnetChoice collnet{};
  Duration collnet_timeout{0};
  std::size_t collnet_memory = 0;
  std::uint32_t collnet_rails = 0;
  std::string collnet_switch;  // HOST[:PORT][/SLOTS]; empty: none
  std::string collnet_hubs;    // parsed by hub_places.h; empty: none
  std::string hub_token_file;  // empty: none
  wire::Key hub_token;         // content of hub_token_file; zero: none
  std::string classes_file;    // empty: none
  std::string plan_file;       // of `dlcp synth`; empty: none
  std::string order_file;      // of `dlcp order`; empty: none
  TrafficClassTable classes = kTrafficClasses;
  LevelShares level_shares = kTwoLevelShares;

  // Environment variables that begin with DLCP_ but resemble no knob. A site's scripts may export
  // such names, so they are ignored; the reader of the settings logs a warning.
  std::vector<std::string> unknown;

  // Every knob with its value and origin, in the order of the table.
  struct Effective {
    const char* name;
    std::string value;
    std::string origin;  // "default", "environment", "FILE:LINE", or the variable used instead
  };
  std::vector<Effective> effective;
};

// The relevant environment variables: all that begin with DLCP_, and NCCL's equivalents for its own
// networks (NCCL_SOCKET_IFNAME, NCCL_SOCKET_FAMILY, NCCL_IB_HCA).
using Variables = std::vector<std::pair<std::string, std::string>>;
// Returns the text of a file; nullopt if there is no such file. The `what` of an error contains
// only the reason; the caller adds the file, the setting that names it, and a hint if it has none.
using FileReader = std::function<Result<std::optional<std::string>>(const std::string& path)>;
// The text of the file that a setting names, which must exist. `hint` states what to do if it does
// not.
Result<std::string> read_named(const char* knob, const std::string& path,
                               const FileReader& read_file, const char* hint);

// Parses 32 hexadecimal digits, not all zero, with optional surrounding white space.
std::optional<wire::Key> parse_secret(std::string_view text);

inline constexpr const char* kDefaultConfigFile = "/etc/dlcp.conf";

// The settings of a job without any variables on a machine without a config file.
Settings default_settings();
// The environment overrides the file. Errors name the variable, value, range and origin. An unknown
// name is an error in the file; in the environment it is an error only if it resembles a knob.
Result<Settings> load_settings(const Variables& environment, const FileReader& read_file);

// True if the user set this knob itself, not NCCL's variable, which concerns NCCL's own networks.
bool is_asked_for(const Settings& settings, std::string_view knob);
// A log line about settings.unknown, or "" if there are none.
std::string unknown_line(const Settings& settings);

// The values in force as a few log lines; those that were set explicitly come first.
std::vector<std::string> effective_lines(const Settings& settings);

}  // namespace dlcp::engine
