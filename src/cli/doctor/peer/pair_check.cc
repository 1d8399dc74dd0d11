#include "cli/doctor/peer/pair_check.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "cli/doctor/path/path_report.h"
#include "cli/doctor/peer/port_check.h"
#include "datapath/udp/send/egress.h"

namespace dlcp::cli {
namespace {

constexpr std::size_t kPairPaths = 4;
constexpr std::size_t kPairProbes = 10;
// Lengths of the questions in turn. Only a path with a small MTU needs the short ones, whose
// answers have room for fewer devices.
constexpr std::array kQuestions = {kDeviceFrameBytes, kDeviceFrameBytes, kDeviceFrameBytesMin,
                                   kDeviceFrameBytesMin};
constexpr Duration kAnswerWait = 300ms;

struct Asked {
  DeviceAnswer answer;
  std::uint16_t from = 0;
};

std::optional<Asked> ask(const datapath::IpAddress& peer, const std::vector<std::uint16_t>& ports,
                         const ProbeSource& from) {
  const std::uint64_t session = random_session();
  std::vector<std::byte> buffer(2 * kDeviceFrameBytes);
  for (const std::size_t bytes : kQuestions) {
    const auto question = encode_device_question(session, bytes);
    for (const std::uint16_t port : ports) {
      auto socket = from.open(peer.family);
      if (!socket || !socket->connect(datapath::socket_address(peer, port))) continue;
      if (socket->send(question, 0) != 0) continue;
      const auto received = socket->receive(buffer, kAnswerWait);
      if (!received) continue;
      const auto answer = decode_device_answer(session, std::span(buffer).first(received->size));
      if (answer) return Asked{*answer, socket->port()};
    }
  }
  return std::nullopt;
}

// The source address and link of the plugin's packets.
ProbeSource source_of(const NamedDevice& device, const datapath::IpAddress& peer) {
  datapath::Egress egress(device.ip, device.name);
  return {device.ip, egress.link_for(peer, Time{})};
}

void check_pair(PairResult& pair, const PathProbeOptions& main) {
  PathProbeOptions options = main;
  options.peer = pair.there.ip;
  options.from = source_of(pair.here, pair.there.ip);
  options.paths = std::min(options.paths, kPairPaths);
  options.probes = std::min(options.probes, kPairProbes);
  if (auto asked = ask(options.peer, options.meeting_ports, options.from)) {
    pair.seen = std::move(asked->answer);
    pair.sent_from = asked->from;
  }
  auto probe = PathProbe::open(options);
  if (!probe) {
    pair.trouble = probe.error().what;
    return;
  }
  auto measured = probe->measure();
  if (measured)
    pair.measurement = std::move(measured).value();
  else
    pair.trouble = measured.error().what;
}

std::string name_of(const PairResult& pair) {
  return fmt::format("{} ({}) to {} ({})", pair.here.name, datapath::to_string(pair.here.ip),
                     pair.there.name, datapath::to_string(pair.there.ip));
}

// The first reason why data cannot pass over a measured pair; an empty finding if there is none.
// Only the main probe judges loss, as a pair has too few packets for that.
Finding first_failure(const PairResult& pair) {
  if (pair.measurement) {
    for (Finding& finding : judge(*pair.measurement))
      if (finding.level == Level::kFail && finding.check != "path_loss") return std::move(finding);
  }
  return {};
}

std::string translation_of(const PairResult& pair) {
  if (pair.measurement && pair.measurement->back.other_sender)
    return fmt::format("packets that the peer initiates arrive from {}",
                       datapath::to_string(*pair.measurement->back.other_sender));
  return fmt::format("{}:{} of this host appears as {}:{} at the peer",
                     datapath::to_string(pair.here.ip), pair.sent_from,
                     datapath::to_string(pair.seen->seen_from), pair.seen->seen_port);
}

Finding judge(const PairResult& pair) {
  Finding finding{"pair", Level::kOk, name_of(pair), ""};
  if (pair.is_translated()) {
    finding.level = Level::kFail;
    finding.value += ": NAT: " + translation_of(pair);
    finding.fix =
        "DLCP does not support NAT: use addresses that reach each other without translation "
        "(NCCL_SOCKET_IFNAME; containers: --network host, or a routed network)";
  } else if (!pair.measurement) {
    finding.level = Level::kFail;
    finding.value += ": " + pair.trouble;
    finding.fix =
        "if these two addresses should reach each other: check cables and switch ports, open "
        "UDP 49152-65535 in both directions, and compare `ip route get PEER from ADDRESS` on "
        "both hosts; strict rp_filter drops packets that arrive on another interface";
  } else if (Finding failed = first_failure(pair); failed.level == Level::kFail) {
    finding.level = Level::kFail;
    finding.value += ": " + failed.value;
    finding.fix = std::move(failed.fix);
  } else {
    finding.value +=
        fmt::format(": works in both directions, path MTU {}", pair.measurement->mtu_both);
    for (const Finding& mark : judge(*pair.measurement))
      if (mark.check == "path_marks" && mark.level == Level::kWarn)
        finding.value += "; " + mark.value;
  }
  return finding;
}

bool is_assumed(const PairResult& pair, std::size_t devices_there) {
  return pair.there_number == pair.here_number % devices_there;
}

std::size_t devices_there(const std::vector<PairResult>& pairs) {
  std::size_t most = 0;
  for (const PairResult& pair : pairs)
    most = std::max(most, pair.there_number + 1);
  return most;
}

// The pair that connections of this device use: the one that NCCL assumes, else another that works.
const PairResult* pair_of(const std::vector<PairResult>& pairs, std::size_t here_number) {
  const PairResult* found = nullptr;
  for (const PairResult& pair : pairs) {
    if (pair.here_number != here_number || !pair.works()) continue;
    if (is_assumed(pair, devices_there(pairs))) return &pair;
    if (found == nullptr) found = &pair;
  }
  return found;
}

}  // namespace

bool PairResult::is_translated() const {
  auto own = here.ip;
  own.scope = 0;
  auto there_seen = seen ? seen->seen_from : own;
  there_seen.scope = 0;
  const bool here_is = seen && (!(there_seen == own) || seen->seen_port != sent_from);
  return here_is || (measurement && measurement->back.other_sender);
}

bool PairResult::works() const {
  return measurement && !is_translated() && first_failure(*this).level != Level::kFail;
}

Result<std::vector<NamedDevice>> ask_devices(const datapath::IpAddress& peer,
                                             const std::vector<std::uint16_t>& meeting_ports) {
  const auto asked = ask(peer, meeting_ports, {});
  if (!asked)
    return Error{ErrorCode::kRemote, "the listener does not report its devices",
                 "run the same version of dlcp on both hosts"};
  return asked->answer.devices;
}

std::vector<PairResult> check_pairs(const std::vector<NamedDevice>& here,
                                    const std::vector<NamedDevice>& there,
                                    const PathProbeOptions& options) {
  std::vector<PairResult> pairs;
  for (std::size_t i = 0; i < here.size(); ++i) {
    for (std::size_t j = 0; j < there.size(); ++j) {
      if (here[i].ip.family != there[j].ip.family) continue;
      PairResult pair{here[i], there[j], i, j, {}, {}, {}, 0};
      if (pair.there.ip.is_link_local())
        pair.there.ip.scope = ::if_nametoindex(pair.here.name.c_str());
      check_pair(pair, options);
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

Findings judge(const std::vector<PairResult>& pairs) {
  Findings findings;
  for (const PairResult& pair : pairs) {
    Finding finding = judge(pair);
    if (finding.level == Level::kFail && std::ranges::any_of(pairs, &PairResult::works)) {
      const bool assumed = is_assumed(pair, devices_there(pairs));
      finding.level = assumed ? Level::kWarn : Level::kOk;
      if (!assumed) finding.fix.clear();
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

Finding verdict(const std::vector<PairResult>& pairs, const Findings& findings,
                const std::string& peer) {
  const auto failed = std::ranges::find(findings, Level::kFail, &Finding::level);
  if (failed != findings.end()) {
    return {"verdict", Level::kFail,
            fmt::format("NCCL cannot use DLCP between these hosts; first problem: {}: {}",
                        failed->check, failed->value),
            failed->fix};
  }
  std::string over;
  std::string others;  // devices without a working pair: the plugin uses another pair
  std::size_t last = ~std::size_t{0};
  for (const PairResult& pair : pairs) {
    if (std::exchange(last, pair.here_number) == pair.here_number) continue;
    const PairResult* const used = pair_of(pairs, pair.here_number);
    if (used == nullptr)
      others += (others.empty() ? "" : ", ") + pair.here.name;
    else
      over += (over.empty() ? "" : ", ") + name_of(*used);
  }
  if (!others.empty()) over += fmt::format("; connections of {} use these addresses, too", others);
  return {"verdict", Level::kOk,
          fmt::format("NCCL will use DLCP between these hosts over {}",
                      over.empty() ? "the path to " + peer : over),
          ""};
}

}  // namespace dlcp::cli
