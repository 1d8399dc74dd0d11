// `dlcp doctor`: registers the verb, runs the requested checks, prints their findings.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command_line/options/options.h"
#include "cli/command_line/output/json_text.h"
#include "cli/command_line/terminal.h"
#include "cli/commands.h"
#include "cli/doctor/host/host_checks.h"
#include "cli/doctor/host/placement_check.h"
#include "cli/doctor/host/socket_checks.h"
#include "cli/doctor/nccl/nccl_checks.h"
#include "cli/doctor/nccl/nccl_settings.h"
#include "cli/doctor/nccl/plan_check.h"
#include "cli/doctor/path/echo_responder.h"
#include "cli/doctor/path/path_probe.h"
#include "cli/doctor/path/path_report.h"
#include "cli/doctor/peer/pair_check.h"
#include "cli/doctor/peer/peer_name.h"
#include "engine/settings/environment.h"
#include "engine/settings/settings.h"

namespace dlcp::cli {
namespace {

// As in --help; 0 and 2 have the same meaning for every verb.
constexpr ExitCode kExitWarnings{1};  // with --strict
constexpr ExitCode kExitFailures{3};
constexpr std::size_t kRowsShown = 8;

struct DoctorOptions {
  bool json = false;
  bool strict = false;
  bool listen = false;
  std::string peer;
  std::uint16_t port = 0;  // 0: the default meeting ports
  double seconds = 0;
  PathProbeOptions probe;
};

ExitCode fail(const Error& error, ExitCode code) {
  fmt::print(stderr, "dlcp doctor: {}\n", error.message());
  return code;
}

// Those of a job with this environment, to which NCCL's files have been applied. If its settings
// are invalid, other checks report that.
TrafficClassTable classes_of_jobs() {
  const auto settings = engine::process_settings();
  return settings ? settings.value().classes : kTrafficClasses;
}

Findings host_findings() {
  const NcclSettings nccl = read_nccl_settings();
  nccl.apply();  // as NCCL does before it loads a plugin
  Findings all = {check_kernel(kernel_release())};
  Findings sockets = check_sockets();
  if (sockets.empty()) {
    sockets = {check_segmentation(), check_merging()};
    for (const auto& part : {check_socket_buffers(), check_marks_over_loopback(classes_of_jobs())})
      sockets.insert(sockets.end(), part.begin(), part.end());
  }
  for (const auto& part : {sockets, check_settings_and_interfaces()})
    all.insert(all.end(), part.begin(), part.end());
  for (Finding& finding : check_plugin())
    all.push_back(std::move(finding));
  for (Finding& finding : judge_choice_of_network(nccl))
    all.push_back(std::move(finding));
  for (Finding& finding : check_nccl())
    all.push_back(std::move(finding));
  all.push_back(check_rdma());
  for (Finding& finding : check_placement())
    all.push_back(std::move(finding));
  for (Finding& finding : check_plan())
    all.push_back(std::move(finding));
  return all;
}

ExitCode conclude(const DoctorOptions& options, const Findings& findings) {
  const std::size_t failures = count(findings, Level::kFail);
  const std::size_t warnings = count(findings, Level::kWarn);
  if (!options.json) {
    fmt::print("{} check{}: {} failed, {} with a warning\n", findings.size(),
               findings.size() == 1 ? "" : "s", failures, warnings);
  }
  if (failures > 0) return kExitFailures;
  return warnings > 0 && options.strict ? kExitWarnings : ExitCode::kOk;
}

void print_json(const Findings& findings, nlohmann::json rest) {
  rest["findings"] = to_json(findings);
  rest["failures"] = count(findings, Level::kFail);
  rest["warnings"] = count(findings, Level::kWarn);
  fmt::print("{}\n", json_text(rest, 2));
}

ExitCode examine_host(const DoctorOptions& options) {
  const Findings findings = host_findings();
  if (options.json)
    print_json(findings, {});
  else
    fmt::print("{}", to_text(findings, output_width()));
  return conclude(options, findings);
}

std::vector<std::uint16_t> meeting_ports(std::uint16_t port) {
  if (port != 0) return {port};
  return {kMeetingPorts.begin(), kMeetingPorts.end()};
}

// Whether NCCL on this host would use the plugin at all.
Findings failures_before_the_path(const NcclSettings& nccl) {
  Findings failures = judge_choice_of_network(nccl);
  std::erase_if(failures, [](const Finding& finding) { return finding.level != Level::kFail; });
  return failures;
}

// The checks after the path that the kernel chooses: each pair of devices, and the verdict.
Findings pair_findings(const NcclSettings& nccl, const PathProbeOptions& options,
                       const Findings& path, const std::string& peer) {
  Findings findings = failures_before_the_path(nccl);
  std::vector<PairResult> pairs;
  const auto here = devices_of_this_host();
  const auto there = ask_devices(options.peer, options.meeting_ports);
  if (!here)
    findings.push_back({"pair", Level::kFail, here.error().what, here.error().hint});
  else if (!there)
    findings.push_back({"pair", Level::kWarn, there.error().what, there.error().hint});
  else
    pairs = check_pairs(here.value(), there.value(), options);
  for (Finding& finding : judge(pairs))
    findings.push_back(std::move(finding));
  Findings all = findings;
  // The probed address may belong to no device. Its path does not matter if some pair works.
  if (std::ranges::none_of(pairs, &PairResult::works))
    all.insert(all.begin(), path.begin(), path.end());
  findings.push_back(verdict(pairs, all, peer));
  return findings;
}

ExitCode examine_path(const DoctorOptions& options) {
  const auto peer = resolve_peer(options.peer);
  if (!peer) {
    Error error = peer.error();
    error.what = "--peer: " + error.what;
    return fail(error, ExitCode::kUsage);
  }
  const NcclSettings nccl = read_nccl_settings();
  nccl.apply();
  const std::string name = datapath::to_string(peer.value().address);
  PathProbeOptions probe_options = options.probe;
  probe_options.peer = peer.value().address;
  probe_options.classes = classes_of_jobs();
  probe_options.meeting_ports = meeting_ports(peer.value().port.value_or(options.port));
  auto probe = PathProbe::open(probe_options);
  if (!probe) return fail(probe.error(), kExitFailures);
  if (!options.json) {
    fmt::print("probing {} on {} paths, {} probes each\n", name, probe_options.paths,
               probe_options.probes);
    std::fflush(stdout);
  }
  const auto measurement = probe->measure();
  if (!measurement) {
    Findings findings = {
        {"path", Level::kFail, measurement.error().what, measurement.error().hint}};
    findings.push_back(verdict({}, findings, name));
    if (options.json)
      print_json(findings, {{"peer", name}});
    else
      fmt::print("{}", to_text(findings, output_width()));
    return conclude(options, findings);
  }
  Findings findings = judge(measurement.value());
  if (!options.json) {
    fmt::print("{}\n{}\n", to_text(findings, output_width()),
               lane_table(measurement.value(), kRowsShown));
    std::fflush(stdout);
  }
  const Findings rest = pair_findings(nccl, probe_options, findings, name);
  if (!options.json) fmt::print("{}", to_text(rest, output_width()));
  findings.insert(findings.end(), rest.begin(), rest.end());
  if (options.json) print_json(findings, {{"peer", name}, {"path", to_json(measurement.value())}});
  return conclude(options, findings);
}

ExitCode listen(const DoctorOptions& options) {
  const auto ports = meeting_ports(options.port);
  auto responder = EchoResponder::open(ports);
  if (!responder) return fail(responder.error(), kExitFailures);
  fmt::print(
      "answering probes at UDP port {} and at random ports of 49152-65535; now run on the other "
      "host: dlcp doctor --peer HOST{}\n",
      fmt::join(ports, " and "), options.port == 0 ? "" : fmt::format(":{}", options.port));
  std::fflush(stdout);
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::size_t answered = 0;
  std::size_t reported = 0;
  while (options.seconds <= 0 ||
         std::chrono::duration<double>(Clock::now() - begin).count() < options.seconds) {
    const std::size_t now = responder->serve(200ms);
    answered += now;
    for (const std::string& prober : responder->take_newcomers()) {
      fmt::print("{} probes this host\n", prober);
      std::fflush(stdout);
    }
    if (now == 0 && answered > reported) {
      reported = answered;
      fmt::print("answered {} probes so far\n", answered);
      std::fflush(stdout);
    }
  }
  return ExitCode::kOk;
}

}  // namespace

void add_doctor(CLI::App& app, ExitCode& exit_code) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App& doctor =
      add_verb(app, "doctor", "Check this host, or the path to another host, and suggest fixes");
  auto* json = add_flag(doctor, "--json", options->json, "Print one JSON object instead of text");
  add_flag(doctor, "--strict", options->strict, "Exit with 1 when there are warnings");
  auto* listen_flag = add_flag(doctor, "--listen", options->listen,
                               "Answer the probes of `dlcp doctor --peer` on another host");
  auto* peer = add_text(doctor, "--peer", options->peer,
                        "HOST[:PORT] where `dlcp doctor --listen` runs: check, in both "
                        "directions, the UDP ports for data, MTU, DSCP and ECN marks, loss and "
                        "delay");
  add_count(doctor, "--port", options->port, {1, 65535},
            "UDP port of the first contact between --listen and --peer, the same on both hosts "
            "(default: 48555 and 61555 are tried)");
  need(add_time(doctor, "--seconds", options->seconds, {0, 1e9},
                "With --listen: stop after this time (default 0: never)"),
       listen_flag);
  need(add_count(doctor, "--paths", options->probe.paths, {1, 256},
                 "With --peer: source ports to probe from (default 16)"),
       peer);
  need(add_count(doctor, "--probes", options->probe.probes, {1, 100000},
                 "With --peer: probes per path (default 100)"),
       peer);
  exclude_each_other(peer, listen_flag);
  exclude_each_other(json, listen_flag);
  const char* const footer =
      "Exit codes: 0 no check failed (warnings allowed), 1 warnings with --strict, 2 usage "
      "error, 3 at least one check failed.\nExamples:\n  "
      "dlcp doctor                     this host\n  "
      "dlcp doctor --listen            on host B, then on host A:\n  "
      "dlcp doctor --peer B --json";
  complete(doctor, footer, [options, peer, &exit_code] {
    exit_code = options->listen ? listen(*options)
                : given(peer)   ? examine_path(*options)
                                : examine_host(*options);
    std::fflush(stdout);
  });
}

}  // namespace dlcp::cli
