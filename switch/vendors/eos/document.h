// The QoS part of an EOS running-config: the DSCP map entry by entry, QoS profiles and interfaces
// as blocks of lines. Everything else is skipped. EOS prints blocks in an order of its own, so that
// blocks are compared line by line without their indentation.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switch/vendors/vendor.h"

namespace dlcp::fabric::eos {

inline constexpr std::string_view kPrefix = "DLCP-";
inline constexpr std::string_view kOwnComment = "!! DLCP";  // first line of a queue of DLCP's
inline constexpr const char* kNoProfile = "none";  // DLCP-none: of a port that had no profile

// The lines of a block; those of a sub-block ("tx-queue 5") begin with kNested.
using Lines = std::vector<std::string>;
inline constexpr std::string_view kNested = "   ";

struct DscpEntry {
  int traffic_class = 0;
  std::optional<int> drop_precedence;
  bool operator==(const DscpEntry&) const = default;
};

struct Interface {
  std::uint64_t bits_per_second = 0;  // as configured; 0: not
  std::string lag;                    // "Port-Channel7"; empty: of none
  std::string profile;                // service-profile; empty: none
  Lines lines;                        // QoS lines of the interface itself
};

struct Document final : ImportedDocument {
  std::array<std::optional<DscpEntry>, kDscpCount> dscp;  // explicit lines only
  std::array<std::optional<int>, kQueueCount> queue;      // traffic class -> tx-queue, explicit
  std::map<std::string, Lines> blocks;                    // "qos profile X", "policy-map ..."
  std::map<std::string, Interface> interfaces;
  std::string queue_word;  // "tx-queue" or "uc-tx-queue", as the site writes; empty: neither
  std::string map_word;    // the same in `qos map traffic-class`; empty: no such line
  bool allows_non_ect = false;
  bool rewrites_dscps = false;                                // `qos rewrite dscp`
  std::array<std::optional<int>, kQueueCount> class_to_dscp;  // explicit lines only
};

bool is_own(std::string_view name);
std::string_view site_name(std::string_view name);  // without kPrefix; "" for DLCP-none
std::string text_of(const DscpEntry& entry);        // "traffic-class 5 drop-precedence 1"
// "tx-queue 5", "uc-tx-queue 5" -> 5; nullopt: another line.
std::optional<int> queue_of(std::string_view line);

bool opens_sub_block(std::string_view line);
std::string_view trimmed(std::string_view line);
// "sub-block|line", sorted: equal for blocks that say the same.
std::string canonical(const Lines& lines);

Checked<SiteConfig> import_config(const NamedText& running);
Rendering render_switch(const SwitchPlan& plan);

}  // namespace dlcp::fabric::eos
