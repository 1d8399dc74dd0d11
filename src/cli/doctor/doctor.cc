// `dlcp doctor`: registers the verb, runs the checks that were asked for, prints.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.h"
#include "cli/doctor/echo_responder.h"
#include "cli/doctor/host_checks.h"
#include "cli/doctor/nccl_checks.h"
#include "cli/doctor/path_probe.h"
#include "cli/doctor/path_report.h"
#include "cli/doctor/peer_name.h"
#include "cli/doctor/socket_checks.h"

namespace dlcp::cli {
namespace {

// As --help says them; 0 and 2 are every verb's.
constexpr ExitCode kExitWarnings{1};  // with --strict
constexpr ExitCode kExitFailures{3};
constexpr std::size_t kRowsShown = 8;

struct DoctorOptions {
  bool json = false;
  bool strict = false;
  bool listen = false;
  std::string peer;
  std::uint16_t port = kEchoPort;
  double seconds = 0;
  PathProbeOptions probe;
};

ExitCode fail(const Error& error, ExitCode code) {
  fmt::print(stderr, "dlcp doctor: {}\n", error.message());
  return code;
}

Findings host_findings() {
  Findings all = {check_kernel(kernel_release()), check_segmentation(), check_merging()};
  for (const auto& part :
       {check_socket_buffers(), check_marks_over_loopback(), check_settings_and_interfaces()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  all.push_back(check_plugin());
  all.push_back(check_nccl());
  all.push_back(check_rdma());
  return all;
}

ExitCode conclude(const DoctorOptions& options, const Findings& findings) {
  const std::size_t failures = count(findings, Level::kFail);
  const std::size_t warnings = count(findings, Level::kWarn);
  if (!options.json) {
    fmt::print("{} checks: {} failed, {} with a warning\n", findings.size(), failures, warnings);
  }
  if (failures > 0) return kExitFailures;
  return warnings > 0 && options.strict ? kExitWarnings : ExitCode::kOk;
}

void print_json(const Findings& findings, nlohmann::json rest) {
  rest["findings"] = to_json(findings);
  rest["failures"] = count(findings, Level::kFail);
  rest["warnings"] = count(findings, Level::kWarn);
  fmt::print("{}\n", rest.dump(2));
}

ExitCode examine_host(const DoctorOptions& options) {
  const Findings findings = host_findings();
  if (options.json) {
    print_json(findings, {});
  } else {
    fmt::print("{}", to_text(findings));
  }
  return conclude(options, findings);
}

ExitCode examine_path(const DoctorOptions& options) {
  const auto peer = resolve_peer(options.peer, options.port);
  if (!peer) return fail(peer.error(), ExitCode::kUsage);
  PathProbeOptions probe_options = options.probe;
  probe_options.peer = peer.value().address;
  probe_options.family = peer.value().family;
  auto probe = PathProbe::open(probe_options);
  if (!probe) return fail(probe.error(), kExitFailures);
  if (!options.json) {
    fmt::print("probing {} on {} paths, {} probes each\n", peer.value().text, probe_options.paths,
               probe_options.probes);
    std::fflush(stdout);
  }
  const auto measurement = probe->measure();
  if (!measurement) {
    const Findings findings = {
        {"path", Level::kFail, measurement.error().what, measurement.error().hint}};
    if (options.json) {
      print_json(findings, {{"peer", peer.value().text}});
    } else {
      fmt::print("{}", to_text(findings));
    }
    return conclude(options, findings);
  }
  const Findings findings = judge(measurement.value());
  if (options.json) {
    print_json(findings, {{"peer", peer.value().text}, {"path", to_json(measurement.value())}});
  } else {
    fmt::print("{}\n{}\n", to_text(findings), lane_table(measurement.value(), kRowsShown));
  }
  return conclude(options, findings);
}

ExitCode listen(const DoctorOptions& options) {
  auto responder = EchoResponder::open(options.port);
  if (!responder) return fail(responder.error(), kExitFailures);
  fmt::print("answering on UDP port {}; on the other host: dlcp doctor --peer HOST{}\n",
             options.port, options.port == kEchoPort ? "" : fmt::format(":{}", options.port));
  std::fflush(stdout);
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::size_t answered = 0;
  std::size_t reported = 0;
  while (options.seconds <= 0 ||
         std::chrono::duration<double>(Clock::now() - begin).count() < options.seconds) {
    const std::size_t now = responder->serve(200ms);
    answered += now;
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
  CLI::App* doctor =
      app.add_subcommand("doctor", "Check this host, or the path to another, and say what to mend");
  doctor->add_flag("--json", options->json, "Print one JSON object instead of text");
  doctor->add_flag("--strict", options->strict, "Exit with 1 when there are warnings");
  auto* listen_flag =
      doctor->add_flag("--listen", options->listen, "Answer the probes of another host's --peer");
  auto* peer =
      doctor->add_option("--peer", options->peer,
                         "HOST[:PORT] where `dlcp doctor --listen` runs: check MTU, marks, "
                         "loss and delay on the way there and back");
  doctor->add_option("--port", options->port, "UDP port of --listen and --peer")
      ->capture_default_str();
  doctor->add_option("--seconds", options->seconds, "With --listen: stop after so long (0: never)")
      ->capture_default_str();
  doctor->add_option("--paths", options->probe.paths, "With --peer: source ports to probe from")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  doctor->add_option("--probes", options->probe.probes, "With --peer: probes per path")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  peer->excludes(listen_flag);
  doctor->footer(
      "Exit codes: 0 fit (warnings allowed), 1 warnings with --strict, 2 usage, 3 at least one "
      "check failed.\n"
      "Examples:\n  dlcp doctor                     this host\n"
      "  dlcp doctor --listen            on host B, then on host A:\n  dlcp doctor --peer B "
      "--json");
  doctor->callback([options, &exit_code] {
    exit_code = options->listen          ? listen(*options)
                : !options->peer.empty() ? examine_path(*options)
                                         : examine_host(*options);
    std::fflush(stdout);
  });
}

}  // namespace dlcp::cli
