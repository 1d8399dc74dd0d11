// The table, and the parsing of one value. settings.cc combines file and environment.
#include "engine/settings/knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string>
#include <system_error>

#include "util/text/quantity.h"
#include "util/text/similar.h"

namespace dlcp::engine {
namespace {

constexpr double kNone = 0;
constexpr double kMaxBufferBytes = 1 << 30;
// In the order of the choices of DLCP_COMPRESS.
constexpr compression::Mode kCompressionModes[] = {compression::Mode::kAuto,
                                                   compression::Mode::kOff, compression::Mode::kOn};

constexpr Knob kKnobs[] = {
    {"DLCP_IFNAME", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "network interfaces: a list of prefixes, `^` excludes, `=` matches exactly; unset: "
     "NCCL_SOCKET_IFNAME, else all with a global address; NCCL_SOCKET_FAMILY also applies",
     [](Settings& s, const KnobValue& v) { s.interfaces = v.text; }},
    {"DLCP_DATAPATH", KnobType::kChoice, "", "auto", kNone, kNone, nullptr, "auto|verbs|udp",
     "carrier of packets: `udp` uses the kernel's UDP, `verbs` uses RDMA cards (RoCEv2); "
     "`auto`: verbs if both hosts have a usable RoCEv2 port, else UDP",
     [](Settings& s, const KnobValue& v) { s.datapath = static_cast<DatapathChoice>(v.integer); }},
    {"DLCP_HCA", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "RDMA devices: a list of prefixes, each with `:PORT` if necessary, `^` excludes, `=` "
     "matches exactly; unset: NCCL_IB_HCA, else all with a RoCEv2 address",
     [](Settings& s, const KnobValue& v) { s.hcas = v.text; }},
    {"DLCP_GID_INDEX", KnobType::kInteger, "", "-1", -1, 65535, nullptr, nullptr,
     "index in an RDMA port's GID table; -1: the RoCEv2 entry of the port's IPv4 address, else "
     "of an IPv6 address",
     [](Settings& s, const KnobValue& v) {
       s.gid_index = static_cast<int>(static_cast<std::int64_t>(v.integer));
     }},
    {"DLCP_ROCE_PLACEMENT", KnobType::kChoice, "", "off", kNone, kNone, nullptr, "auto|off|on|rc",
     "over RoCE, the receiver's card writes messages of 16 KiB and more into the posted buffers, "
     "without a copy, if the cards of both hosts have passed a test at start; `auto`: only "
     "hardware; `on`: Soft-RoCE too; `rc`: like `on`, but over reliable queue pairs (RC) also "
     "where "
     "unreliable ones (UC) exist. Over RC messages that may lose data are copied. It has not run "
     "on a hardware card yet, and its packets are not authenticated",
     [](Settings& s, const KnobValue& v) {
       s.placement = static_cast<PlacementChoice>(v.integer);
     }},
    {"DLCP_CONFIG", KnobType::kText, "", kDefaultConfigFile, kNone, kNone, nullptr, nullptr,
     "file with `NAME = value` lines, `#` begins a comment; the environment overrides the file; "
     "empty: none",
     [](Settings&, const KnobValue&) {}},
    {"DLCP_PATHS", KnobType::kInteger, "", "16", 1, 256, nullptr, nullptr,
     "entropy values (UDP source ports) over which packets are sprayed",
     [](Settings& s, const KnobValue& v) { s.paths = v.integer; }},
    {"DLCP_LANES", KnobType::kInteger, "", "0", 1, 16, "auto", nullptr,
     "engines of a device, each with its own sockets or queue pairs, lock and thread; "
     "connections are assigned in turn. auto: one for each 25 Gbit/s over UDP or 190 Gbit/s "
     "over RoCE, at most one for each 16 processors that the process may use. Further lanes are "
     "not opened once half of the limit on open files is in use",
     [](Settings& s, const KnobValue& v) { s.lanes = v.integer; }},
    {"DLCP_BUNDLE", KnobType::kFlag, "", "0", 0, 1, nullptr, nullptr,
     "send the messages of each connection over all lanes that both ends have, in turn: for few "
     "connections with messages of 1 MiB and more; slower for shorter messages",
     [](Settings& s, const KnobValue& v) { s.bundle = v.integer != 0; }},
    {"DLCP_BURST", KnobType::kInteger, "packets", "0", 1, 64, "auto", nullptr,
     "largest number of packets sent together on one path; 1 sprays packet by packet",
     [](Settings& s, const KnobValue& v) { s.burst_packets_max = v.integer; }},
    {"DLCP_MTU", KnobType::kInteger, "bytes", "0", 576, 65535, "the interface's", nullptr,
     "largest IP packet to send, with IPv6 at least 596, over RoCE 24 more; both ends use the "
     "smaller value",
     [](Settings& s, const KnobValue& v) { s.mtu = v.integer; }},
    {"DLCP_PEER_TIMEOUT", KnobType::kDuration, "s", "30", 0.1, 3600, nullptr, nullptr,
     "a peer that does not answer for this time counts as failed (ncclRemoteError)",
     [](Settings& s, const KnobValue& v) { s.peer_timeout = v.duration; }},
    {"DLCP_CHECKSUM", KnobType::kChoice, "", "header", kNone, kNone, nullptr, "header|full",
     "what the tag of each packet protects: the header, or also the payload; a connection uses "
     "`full` if either end asks for it",
     [](Settings& s, const KnobValue& v) {
       s.protection = v.integer == 0 ? wire::Protection::kHeader : wire::Protection::kFull;
     }},
    {"DLCP_ENCRYPT", KnobType::kChoice, "", "off", kNone, kNone, nullptr, "off|aes-gcm",
     "encrypt and authenticate payloads (AES-128-GCM, with the system's libcrypto); must be the "
     "same on all ranks",
     [](Settings& s, const KnobValue& v) {
       if (v.integer == 1) s.protection = wire::Protection::kEncrypted;
     }},
    {"DLCP_SECRET_FILE", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "file with 32 hexadecimal digits (`openssl rand -hex 16`), the same on all ranks; keys are "
     "derived from it too, so that reading the handles in NCCL's bootstrap traffic is not "
     "enough to forge packets",
     [](Settings& s, const KnobValue& v) { s.secret_file = v.text; }},
    {"DLCP_RCVBUF", KnobType::kBytes, "bytes", "0", 4096, kMaxBufferBytes, "auto", nullptr,
     "receive buffer of each socket; the kernel caps it at net.core.rmem_max",
     [](Settings& s, const KnobValue& v) { s.receive_buffer_bytes = v.integer; }},
    {"DLCP_SNDBUF", KnobType::kBytes, "bytes", "0", 4096, kMaxBufferBytes, "auto", nullptr,
     "send buffer of each socket; the kernel caps it at net.core.wmem_max",
     [](Settings& s, const KnobValue& v) { s.send_buffer_bytes = v.integer; }},
    {"DLCP_COMPRESS", KnobType::kChoice, "", "auto", kNone, kNone, nullptr, "auto|off|on",
     "lossless compression of floating-point messages (docs/compression.md); "
     "`auto`: if it shortens the transfer",
     [](Settings& s, const KnobValue& v) { s.compression = kCompressionModes[v.integer]; }},
    {"DLCP_TARGET_DELAY", KnobType::kDuration, "us", "0", 1, 1000000, "auto", nullptr,
     "target queueing delay of congestion control, which uses a share of the base delay if "
     "that is more, and adds some for jitter; auto: 30, over Soft-RoCE 10000",
     [](Settings& s, const KnobValue& v) { s.target_delay = v.duration; }},
    {"DLCP_EAGER", KnobType::kBytes, "bytes", "64K", 1, 1 << 24, "none", nullptr,
     "data that a connection may send before the receive is known to be posted; 16 times as much "
     "in "
     "messages of at most 8 KiB",
     [](Settings& s, const KnobValue& v) { s.eager_bytes = v.integer; }},
    {"DLCP_COPY", KnobType::kBytes, "bytes", "4K", 1, 1 << 16, "none", nullptr,
     "longest message that is copied when it is sent, so that the send is done at once; not with "
     "DLCP_ENCRYPT",
     [](Settings& s, const KnobValue& v) { s.copied_bytes_max = v.integer; }},
    {"DLCP_GSO", KnobType::kFlag, "", "1", 0, 1, nullptr, nullptr,
     "send bursts with one system call (UDP_SEGMENT) if the kernel supports it",
     [](Settings& s, const KnobValue& v) { s.gso = v.integer != 0; }},
    {"DLCP_GRO", KnobType::kFlag, "", "1", 0, 1, nullptr, nullptr,
     "receive bursts as one datagram (UDP_GRO) if the kernel supports it",
     [](Settings& s, const KnobValue& v) { s.gro = v.integer != 0; }},
    {"DLCP_LOSS_BUDGET", KnobType::kShare, "", "0", 1e-6, 0.25, "exact", nullptr,
     "share of each gradient sum that may be lost, end to end; needs DLCP_LOSS_SCOPE; the "
     "same on all ranks",
     [](Settings& s, const KnobValue& v) {
       s.loss_budget_ppm = static_cast<std::uint32_t>(std::llround(v.share * 1e6));
     }},
    {"DLCP_LOSS_SCOPE", KnobType::kChoice, "", "none", kNone, kNone, nullptr, "none|data-parallel",
     "`data-parallel` states that every AllReduce and ReduceScatter of the job sums or averages "
     "gradients; DLCP_LOSS_BUDGET requires it",
     [](Settings& s, const KnobValue& v) { s.loss_data_parallel = v.integer == 1; }},
    {"DLCP_LOSS_MIN_BYTES", KnobType::kBytes, "bytes", "64K", 1, 1 << 30, nullptr, nullptr,
     "shorter messages are exact, regardless of the budget; the same on all ranks",
     [](Settings& s, const KnobValue& v) { s.loss_bytes_min = v.integer; }},
    {"DLCP_LOSS_FILL", KnobType::kChoice, "", "rescale", kNone, kNone, nullptr, "zero|rescale",
     "replacement for contributions that were lost in direct exchange: `zero`, or `rescale`, "
     "which scales the sum of the received contributions as if the lost ones were their mean; "
     "must be the same on all ranks",
     [](Settings& s, const KnobValue& v) {
       s.loss_fill = static_cast<collective::LossFill>(v.integer);
     }},
    {"DLCP_TUNER_MARGIN", KnobType::kShare, "", "0.1", 0, 1, nullptr, nullptr,
     "reductions that may lose use Ring and Simple if NCCL expects them to take at most this "
     "share longer than its best choice; the same on all ranks",
     [](Settings& s, const KnobValue& v) { s.tuner_margin = v.share; }},
    {"DLCP_COLLNET", KnobType::kChoice, "", "auto", kNone, kNone, nullptr, "auto|on|off",
     "direct exchange for all-reduces, if NCCL_COLLNET_ENABLE=1: `auto` uses it if it is "
     "expected to be faster, `on` whenever possible, `off` never",
     [](Settings& s, const KnobValue& v) { s.collnet = static_cast<CollnetChoice>(v.integer); }},
    {"DLCP_COLLNET_TIMEOUT", KnobType::kDuration, "s", "30", 1, 3600, nullptr, nullptr,
     "time limit for the ranks of a communicator to set up direct exchange together; after it "
     "all ranks continue without direct exchange",
     [](Settings& s, const KnobValue& v) { s.collnet_timeout = v.duration; }},
    {"DLCP_COLLNET_MEMORY", KnobType::kBytes, "bytes", "64M", 1 << 20, 0x1p36, nullptr, nullptr,
     "memory of each communicator for data that other ranks send in direct exchange; pages are "
     "allocated when they are used; must be the same on all ranks",
     [](Settings& s, const KnobValue& v) { s.collnet_memory = v.integer; }},
    {"DLCP_COLLNET_RAILS", KnobType::kInteger, "devices", "1", 1, 4, nullptr, nullptr,
     "devices that each rank uses together in direct exchange: the one that NCCL has chosen, "
     "and those after it in the list; all ranks use as many as the rank with the fewest",
     [](Settings& s, const KnobValue& v) {
       s.collnet_rails = static_cast<std::uint32_t>(v.integer);
     }},
    {"DLCP_COLLNET_SWITCH", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "HOST[:PORT][/SLOTS] of a SwitchML switch or of `dlcp-aggregator`, which sums float32 data "
     "in 32-bit integers and therefore rounds; the same on all ranks; one communicator of a "
     "process can use it",
     [](Settings& s, const KnobValue& v) { s.collnet_switch = v.text; }},
    {"DLCP_COLLNET_HUBS", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "hosts that run dlcp-hub (`a,b:48890`), which add instead of the ranks if "
     "NCCL_COLLNET_ENABLE=1; the same on all ranks",
     [](Settings& s, const KnobValue& v) { s.collnet_hubs = v.text; }},
    {"DLCP_HUB_TOKEN_FILE", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "file with the token for these hubs (32 hexadecimal digits)",
     [](Settings& s, const KnobValue& v) { s.hub_token_file = v.text; }},
    {"DLCP_PLAN", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "plan for AllReduce, a file of `dlcp synth -o`, which every all-reduce follows if "
     "NCCL_COLLNET_ENABLE=1; the same on all ranks",
     [](Settings& s, const KnobValue& v) { s.plan_file = v.text; }},
    {"DLCP_CLASSES", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "file with changes to the DSCP and ECN marks of traffic classes, in the format of "
     "dlcp-switch (`exact.dscp = 26`)",
     [](Settings& s, const KnobValue& v) { s.classes_file = v.text; }},
    {"DLCP_ORDER", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "file of `dlcp order -o`: report its measured latency and rates to NCCL, instead of no "
     "latency and the interface's rate; the same on all ranks",
     [](Settings& s, const KnobValue& v) { s.order_file = v.text; }},
    {"DLCP_FAULT", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "faults to inject into the network, for tests only",
     [](Settings& s, const KnobValue& v) { s.fault = v.text; }},
    {"DLCP_LIVE_STATS", KnobType::kFlag, "", "1", 0, 1, nullptr, nullptr,
     "make counters available to `dlcp stats` while the job runs, and let `dlcp exact` reach it",
     [](Settings& s, const KnobValue& v) { s.live_stats = v.integer != 0; }},
    {"DLCP_STATS_FILE", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "file to which the counters are written as one JSON object when the last communicator "
     "ends; `%h` becomes the host, `%p` the process id",
     [](Settings& s, const KnobValue& v) { s.stats_file = v.text; }},
    {"DLCP_PROFILE_FILE", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "file for when each collective began and ended, for `dlcp whatif`; `%r` becomes the rank, "
     "`%h` "
     "the host, `%p` the process id; works beside any network of NCCL",
     [](Settings& s, const KnobValue& v) { s.profile_file = v.text; }},
    {"DLCP_TRACE", KnobType::kText, "", "", kNone, kNone, nullptr, nullptr,
     "file to which the headers of the last packets of a lane, and the decisions between them, "
     "are written when a connection fails; Wireshark reads it with scripts/wireshark; `%h` "
     "becomes the host, `%p` the process id and the lane's number",
     [](Settings& s, const KnobValue& v) { s.trace_file = v.text; }},
    {"DLCP_LINGER", KnobType::kDuration, "ms", "200", 1, 10000, "no linger", nullptr,
     "longest wait at the end of a job until peers confirm that they have received everything; "
     "messages that were copied (DLCP_COPY) are waited for up to DLCP_PEER_TIMEOUT if the job "
     "destroys its communicators; a process that exits without this waits only for copied "
     "messages, at most this long",
     [](Settings& s, const KnobValue& v) { s.linger = v.duration; }},
};

bool parse_signed(std::string_view text, std::uint64_t& out) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  out = static_cast<std::uint64_t>(value);
  return code == std::errc() && end == text.data() + text.size();
}

bool parse_choice(std::string_view text, std::string_view choices, std::uint64_t& out) {
  for (out = 0;; ++out) {
    const std::size_t bar = choices.find('|');
    if (text == choices.substr(0, bar)) return true;
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
}

bool in_range(const Knob& knob, double value) {
  return (knob.zero != nullptr && value == 0) || (value >= knob.min && value <= knob.max);
}

Duration unit_of(const Knob& knob) {
  const std::string_view unit = knob.unit;
  return unit == "us" ? Duration(1us) : unit == "ms" ? Duration(1ms) : Duration(1s);
}

bool parse_value(const Knob& knob, std::string_view text, KnobValue& out) {
  out.text = text;
  if (knob.min < 0) {
    return parse_signed(text, out.integer) &&
           in_range(knob, static_cast<double>(static_cast<std::int64_t>(out.integer)));
  }
  const auto take = [](auto parsed, auto& into) {
    into = parsed.value_or(into);
    return parsed.has_value();
  };
  switch (knob.type) {
    case KnobType::kText:
      return text.find('\0') == std::string_view::npos;
    case KnobType::kInteger:
    case KnobType::kFlag:
      return take(parse_count(text), out.integer) &&
             in_range(knob, static_cast<double>(out.integer));
    case KnobType::kBytes:
      return take(parse_bytes(text), out.integer) &&
             in_range(knob, static_cast<double>(out.integer));
    case KnobType::kShare:
      return take(parse_share(text), out.share) && in_range(knob, out.share);
    case KnobType::kDuration:
      return take(parse_duration(text, unit_of(knob)), out.duration) &&
             in_range(knob, static_cast<double>(out.duration.count()) /
                                static_cast<double>(unit_of(knob).count()));
    case KnobType::kChoice:
      return parse_choice(text, knob.choices, out.integer);
  }
  return false;
}

// Describes the accepted values, with unit and alternative forms.
std::string accepted(const Knob& knob) {
  switch (knob.type) {
    case KnobType::kText:
      return "text";
    case KnobType::kBytes:
      return fmt::format("{} bytes, or {}", range_of(knob), kBytesExample);
    case KnobType::kShare:
      return fmt::format("{}, as {}", range_of(knob), kShareExample);
    case KnobType::kDuration:
      return fmt::format("{} {}, or {}", range_of(knob), knob.unit, kDurationExample);
    case KnobType::kInteger:
    case KnobType::kFlag:
    case KnobType::kChoice:
      return range_of(knob);
  }
  return "";
}

}  // namespace

const char* type_name(KnobType type) {
  switch (type) {
    case KnobType::kText:
      return "text";
    case KnobType::kInteger:
      return "integer";
    case KnobType::kBytes:
      return "size";
    case KnobType::kShare:
      return "share";
    case KnobType::kDuration:
      return "time";
    case KnobType::kFlag:
      return "0 or 1";
    case KnobType::kChoice:
      return "choice";
  }
  return "";
}

std::span<const Knob> knobs() {
  return kKnobs;
}

const Knob* find_knob(std::string_view name) {
  const auto* found = std::ranges::find(kKnobs, name, &Knob::name);
  return found == std::end(kKnobs) ? nullptr : found;
}

const Knob* closest_knob(std::string_view name) {
  // The prefix is not compared: as part of the name, it would make all short names similar.
  const auto without_prefix = [](std::string_view one) {
    return one.starts_with(kKnobPrefix) ? one.substr(kKnobPrefix.size()) : one;
  };
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::array<std::string_view, std::size(kKnobs)> names;
  std::ranges::transform(kKnobs, names.begin(),
                         [&](const Knob& knob) { return without_prefix(knob.name); });
  const std::string_view similar = most_similar(without_prefix(upper), names);
  const auto found = std::ranges::find(names, similar);
  return found == names.end() ? nullptr : &kKnobs[found - names.begin()];
}

Status set_knob(Settings& settings, const Knob& knob, std::string_view text,
                std::string_view origin) {
  KnobValue value;
  if (!parse_value(knob, text, value)) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("{} = '{}' ({}) is not valid", knob.name, text.substr(0, 80), origin),
                 fmt::format("give {}", accepted(knob))};
  }
  knob.store(settings, value);
  return Unit{};
}

std::string range_of(const Knob& knob) {
  switch (knob.type) {
    case KnobType::kText:
      return "";
    case KnobType::kFlag:
      return "0 or 1";
    case KnobType::kChoice:
      return knob.choices;
    default:
      break;
  }
  const std::string range = fmt::format("{:.12g}..{:.12g}", knob.min, knob.max);
  return knob.zero != nullptr ? fmt::format("0 ({}) or {}", knob.zero, range) : range;
}

}  // namespace dlcp::engine
