// What the user has set, typed and checked: the result of the knob table, the config file and the
// environment. Plain data; whoever needs a value is handed it, nobody looks it up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collective/layout.h"
#include "core/coding/gate.h"
#include "core/congestion/congestion.h"
#include "datapath/ip_address.h"
#include "dlcp/class_overrides.h"
#include "util/result.h"
#include "util/time.h"
#include "wire/control_frame.h"

namespace dlcp::engine {

enum class DatapathChoice : std::uint8_t { kAuto, kVerbs, kUdp };
enum class CollnetChoice : std::uint8_t { kAuto, kOn, kOff };

struct Settings {
  // The defaults stand in the knob table alone: load_settings() writes every field.
  DatapathChoice datapath{};
  std::string hcas;        // NCCL_IB_HCA's grammar; empty: every usable RDMA port
  int gid_index = 0;       // -1: the best
  std::string interfaces;  // NCCL_SOCKET_IFNAME's grammar; empty: every real interface
  std::optional<datapath::IpFamily> family;  // NCCL_SOCKET_FAMILY
  std::size_t paths = 0;
  std::size_t lanes = 0;              // of a device and carrier; 0: by its speed and our processors
  bool bundle = false;                // a connection goes over all of them
  std::size_t burst_packets_max = 0;  // 0: the pace decides
  std::size_t mtu = 0;                // 0: the interface's
  Duration peer_timeout{0};
  wire::Protection protection{};
  std::string secret_file;               // empty: none
  wire::Key site_secret;                 // what is in it; zero: none
  std::size_t receive_buffer_bytes = 0;  // 0: as large as permitted
  std::size_t send_buffer_bytes = 0;
  core::CompressionMode compression{};
  core::CongestionKind congestion{};
  Duration target_delay{0};  // 0: what suits algorithm and datapath
  std::size_t eager_bytes = 0;
  bool gso = false;
  bool gro = false;
  std::string fault;       // faults to inject, for tests
  std::string stats_file;  // empty: none
  std::string trace_file;  // likewise
  bool live_stats = false;
  Duration linger{0};
  std::uint32_t loss_budget_ppm = 0;  // millionths; 0: everything is exact
  bool loss_data_parallel = false;    // the user vouches for every reduction of the job
  std::size_t loss_bytes_min = 0;
  collective::LossFill loss_fill{};
  double tuner_margin = 0;
  CollnetChoice collnet{};
  Duration collnet_timeout{0};
  std::size_t collnet_memory = 0;
  std::uint32_t collnet_rails = 0;
  std::string collnet_switch;  // HOST[:PORT][/SLOTS]; empty: none
  std::string collnet_hubs;    // hub_word.h reads them; empty: none
  std::string hub_token_file;  // empty: none
  wire::Key hub_token;         // what is in it; zero: none
  std::string classes_file;    // empty: none
  std::string plan_file;       // of `dlcp synth`; empty: none
  std::string order_file;      // of `dlcp order`; empty: none
  TrafficClassTable classes = kTrafficClasses;
  LevelShares level_shares = kTwoLevelShares;

  // Variables of the environment that begin with DLCP_ and resemble no knob. A site's own scripts
  // may export such names, so they are ignored; whoever reads the settings warns about them.
  std::vector<std::string> unknown;

  // Every knob with the value in force and where it comes from, in the table's order.
  struct Effective {
    const char* name;
    std::string value;
    std::string origin;  // "default", "environment", "FILE:LINE", or the variable that stands in
  };
  std::vector<Effective> effective;
};

// The variables of an environment that matter here: all that begin with DLCP_, and NCCL's that say
// the same for its own networks (NCCL_SOCKET_IFNAME, NCCL_SOCKET_FAMILY, NCCL_IB_HCA).
using Variables = std::vector<std::pair<std::string, std::string>>;
// A file's text; nullopt if there is no such file. An error's `what` is the reason alone: whoever
// asks for the file says which it is, and which setting names it.
using FileReader = std::function<Result<std::optional<std::string>>(const std::string& path)>;
// The text of the file that a setting names; one that is named must be there. `hint`: what to do if
// it is not.
Result<std::string> read_named(const char* knob, const std::string& path,
                               const FileReader& read_file, const char* hint);

// 32 hexadecimal digits, with white space around them if need be, that are not all zero.
std::optional<wire::Key> parse_secret(std::string_view text);

inline constexpr const char* kDefaultConfigFile = "/etc/dlcp.conf";

// What a job has that sets nothing, on a machine without a config file.
Settings default_settings();
// The environment wins over the file. Errors name the variable, the value, the range and the
// origin. An unknown name is an error in the file; in the environment only if it resembles a knob.
Result<Settings> load_settings(const Variables& environment, const FileReader& read_file);

// One line about settings.unknown, or "" if there is none.
std::string unknown_line(const Settings& settings);

// The values in force as a few lines for the log, those that were set first.
std::vector<std::string> effective_lines(const Settings& settings);

}  // namespace dlcp::engine
