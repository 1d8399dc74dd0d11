// `dlcp-aggregator serve`: runs until SIGINT or SIGTERM, or until no packet has arrived for a given
// time.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/aggregator/verbs.h"
#include "cli/command_line/end_signals.h"
#include "cli/command_line/options/options.h"
#include "cli/command_line/output/json_text.h"

namespace dlcp::cli {
namespace {

void print_counts(const AggregatorServer& server, bool json) {
  const auto& wire = server.counts();
  const auto& sums = server.aggregator().counts();
  nlohmann::ordered_json counts = {{"packets_received", wire.received},
                                   {"packets_sent", wire.sent},
                                   {"packets_dropped", wire.dropped},
                                   {"strangers", wire.strangers},
                                   {"added", sums.added},
                                   {"sums", sums.sums},
                                   {"repeated", sums.repeated},
                                   {"stale", sums.stale},
                                   {"unsound", sums.unsound},
                                   {"restarts", sums.restarts}};
  if (json) {
    std::printf("%s\n", json_text(counts).c_str());
    return;
  }
  for (const auto& [name, value] : counts.items())
    std::printf("%-18s %llu\n", name.c_str(), value.get<unsigned long long>());
}

struct ServeOptions {
  ServerOptions server;
  double idle_s = 0;
  bool json = false;
};

ExitCode serve(const ServeOptions& options) {
  auto server = AggregatorServer::open(options.server, false);
  if (!server) {
    std::fprintf(stderr, "dlcp-aggregator: %s\n", server.error().message().c_str());
    return exit_code_of(server.error());
  }
  count_end_signals();
  const unsigned last = options.server.port + options.server.terms.workers - 1;
  std::fprintf(stderr, "dlcp-aggregator: ready; workers 0 to %u send to UDP ports %u to %u\n",
               options.server.terms.workers - 1, unsigned{options.server.port}, last);
  constexpr Duration kTurn = 100ms;
  // Counts turns. One without a packet may be shorter than kTurn: a signal or a port of a worker
  // that has exited ends it.
  Duration idle{0};
  bool timed_out = false;
  while (end_signals == 0 && !timed_out) {
    idle = server->serve(kTurn) > 0 ? Duration{0} : idle + kTurn;
    if (const std::string news = server->take_news(); !news.empty())
      std::fprintf(stderr, "dlcp-aggregator: %s", news.c_str());
    timed_out = options.idle_s > 0 && std::chrono::duration<double>(idle).count() >= options.idle_s;
  }
  print_counts(server.value(), options.json);
  return timed_out ? ExitCode::kTimeout : ExitCode::kOk;
}

}  // namespace

void add_server_options(CLI::App& verb, ServerOptions& options) {
  add_count(verb, "--workers", options.terms.workers, {1, collective::kSwitchWorkersMax},
            "Number of workers, each of which contributes to every sum; default 2");
  add_count(verb, "--port", options.port, {1, 65535},
            "UDP port of worker 0; the other workers use the next ports; default 48864, as in "
            "SwitchML");
  add_count(verb, "--slots", options.terms.slots, {1, collective::kSwitchSlotsMax},
            fmt::format("Number of concurrent sums; default {}", options.terms.slots));
  add_choice(
      verb, "--values", {"64", "256"},
      [&options](const std::string& values) { options.terms.values = values == "64" ? 64 : 256; },
      "Numbers per packet; default 256");
  add_share(verb, "--drop", options.drop, {0, 0.9},
            "Share of packets to drop on purpose, in each direction; default 0");
}

void add_serve(CLI::App& app, ExitCode& exit_code) {
  auto& verb =
      add_verb(app, "serve", "Adds the numbers that workers send, until SIGINT or SIGTERM");
  auto options = std::make_shared<ServeOptions>();
  add_server_options(verb, options->server);
  add_time(verb, "--idle", options->idle_s, {0, 1e6},
           "Exit if no packet arrives for about this time; default: never");
  add_time(verb, "--keep-for", options->server.keep_for_s, {0, 1e6},
           "Ignore packets from another address until a worker has been silent for this time; "
           "default 120");
  add_flag(verb, "--json", options->json, "Print the counters as one JSON object");
  complete(verb,
           "Serves one job. SwitchML has no authentication: only the job's hosts may be able to "
           "send to these ports.\nExit: 0 SIGINT or SIGTERM, 2 usage error, 3 a port is not "
           "available, 4 idle.",
           [options, &exit_code] { exit_code = serve(*options); });
}

}  // namespace dlcp::cli
