// `dlcp-aggregator check`: a sum of known numbers over loopback, through the ports that `serve`
// would use.
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/aggregator/verbs.h"
#include "cli/command_line/options/options.h"
#include "cli/command_line/output/json_text.h"
#include "collective/switchml/worker/switch_worker.h"
#include "util/system/system_text.h"

namespace dlcp::cli {
namespace {

using collective::SwitchWorker;

Time now() {
  return Time(std::chrono::steady_clock::now().time_since_epoch());
}

double in_ms(Duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

struct Rank {
  Fd socket;
  SwitchWorker worker;
  std::vector<float> input, result;
  Time heard{};
  Duration longest_stall{0};  // between two answers
};

struct CheckOptions {
  ServerOptions server;
  std::int64_t elements = 1 << 18;
  double timeout_s = 30;
  bool json = false;
};

Result<Rank> open_rank(const CheckOptions& options, unsigned index) {
  auto socket = open_udp_socket(0, true);
  if (!socket) return socket.error();
  sockaddr_in6 server{};
  socklen_t length = sizeof server;
  (void)::getsockname(socket.value().get(), reinterpret_cast<sockaddr*>(&server), &length);
  server.sin6_port = htons(static_cast<std::uint16_t>(options.server.port + index));
  if (::connect(socket.value().get(), reinterpret_cast<const sockaddr*>(&server), length) != 0)
    return Error{ErrorCode::kSystem, std::string("loopback does not work: ") + system_text(errno),
                 ""};
  collective::SwitchTerms terms;
  terms.workers = options.server.terms.workers;
  terms.slots = options.server.terms.slots;
  terms.values = options.server.terms.values;
  const auto elements = static_cast<std::size_t>(options.elements);
  Rank rank{std::move(socket).value(), SwitchWorker(terms), std::vector<float>(elements),
            std::vector<float>(elements)};
  for (std::size_t i = 0; i < elements; ++i)
    rank.input[i] = static_cast<float>((i * 7 + std::size_t{index} * 13) % 1001) / 1000.0f - 0.5f;
  return rank;
}

// Receives before it sends: a message that is already answered needs no repetition.
void turn(Rank& rank, std::span<std::byte> buffer) {
  const auto taken = rank.worker.counts().taken;
  for (auto size = ::recv(rank.socket.get(), buffer.data(), buffer.size(), 0); size >= 0;
       size = ::recv(rank.socket.get(), buffer.data(), buffer.size(), 0))
    rank.worker.on_datagram(buffer.first(static_cast<std::size_t>(size)), now());
  if (rank.worker.counts().taken > taken) {
    const Time heard = now();
    rank.longest_stall = std::max(rank.longest_stall, heard - rank.heard);
    rank.heard = heard;
  }
  for (auto packet = rank.worker.poll_transmit(now()); !packet.empty();
       packet = rank.worker.poll_transmit(now()))
    (void)::send(rank.socket.get(), packet.data(), packet.size(), 0);
}

// Magnitudes are below 1, so that exponents are 0 at most.
std::size_t count_wrong(const std::deque<Rank>& ranks) {
  const double workers = static_cast<double>(ranks.size());
  const double bound =
      workers * workers / 2 / std::numeric_limits<std::int32_t>::max() + workers * 0x1p-24;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < ranks.front().input.size(); ++i) {
    double sum = 0;
    for (const Rank& rank : ranks)
      sum += rank.input[i];
    for (const Rank& rank : ranks) {
      const bool same = rank.result[i] == ranks.front().result[i];
      if (!same || std::abs(rank.result[i] - sum) > bound) ++wrong;
    }
  }
  return wrong;
}

void print(const CheckOptions& options, const std::deque<Rank>& ranks, std::size_t wrong,
           double ms) {
  std::uint64_t sent = 0, repeated = 0;
  double stall_ms = 0;
  for (const Rank& rank : ranks) {
    sent += rank.worker.counts().sent;
    repeated += rank.worker.counts().repeated;
    stall_ms = std::max(stall_ms, in_ms(rank.longest_stall));
  }
  if (options.json) {
    const nlohmann::ordered_json said = {
        {"workers", ranks.size()},     {"elements", options.elements},
        {"elements_wrong", wrong},     {"packets", sent},
        {"repeated", repeated},        {"ms", ms},
        {"longest_stall_ms", stall_ms}};
    std::printf("%s\n", json_text(said).c_str());
    return;
  }
  std::printf("%s: %zu workers summed %lld elements in %.1f ms; %zu wrong\n",
              wrong == 0 ? "ok" : "wrong", ranks.size(), static_cast<long long>(options.elements),
              ms, wrong);
  std::printf("%llu packets, %llu of them repeated; no worker waited longer than %.1f ms\n",
              static_cast<unsigned long long>(sent), static_cast<unsigned long long>(repeated),
              stall_ms);
  if (repeated > sent / 20 && options.server.drop == 0)
    std::printf(
        "many retransmissions: the socket buffers may be too small (see nstat UdpRcvbufErrors); "
        "try fewer --slots\n");
}

ExitCode fail(const std::string& what, ExitCode code) {
  std::fprintf(stderr, "dlcp-aggregator: %s\n", what.c_str());
  return code;
}

ExitCode check(const CheckOptions& options) {
  auto server = AggregatorServer::open(options.server, true);
  if (!server) return fail(server.error().message(), exit_code_of(server.error()));
  std::deque<Rank> ranks;
  for (unsigned i = 0; i < options.server.terms.workers; ++i) {
    auto rank = open_rank(options, i);
    if (!rank) return fail(rank.error().message(), ExitCode::kTransport);
    ranks.push_back(std::move(rank).value());
    (void)ranks.back().worker.start(ranks.back().input, ranks.back().result);
  }
  const Time begin = now();
  for (Rank& rank : ranks)
    rank.heard = begin;
  const Duration limit(static_cast<std::int64_t>(options.timeout_s * 1e9));
  std::vector<std::byte> buffer(2048);
  for (bool running = true; running;) {
    running = false;
    for (Rank& rank : ranks) {
      turn(rank, buffer);
      running |= rank.worker.call() == SwitchWorker::Call::kRunning;
    }
    while (server->serve(Duration{0}) > 0) {
    }
    if (now() - begin > limit)
      return fail(
          "the sum was not complete in time; possible causes: a firewall that rejects UDP over "
          "loopback, or an overloaded host. Raise --timeout, or lower --slots",
          ExitCode::kTimeout);
  }
  const double ms = in_ms(now() - begin);
  const std::size_t wrong = count_wrong(ranks);
  print(options, ranks, wrong, ms);
  return wrong == 0 ? ExitCode::kOk : ExitCode::kWrongData;
}

}  // namespace

void add_check(CLI::App& app, ExitCode& exit_code) {
  auto& verb = add_verb(app, "check",
                        "Sums known numbers over loopback, through the ports that `serve` "
                        "would use");
  auto options = std::make_shared<CheckOptions>();
  options->server.terms.slots = collective::kSwitchSlotsUsual;
  add_server_options(verb, options->server);
  add_count(verb, "--elements", options->elements, {1, 1 << 26},
            "Number of float32 values of each worker; default 262144");
  add_time(verb, "--timeout", options->timeout_s, {0.1, 3600},
           "Time limit for the check; default 30");
  add_flag(verb, "--json", options->json, "Print one JSON object instead of text");
  complete(
      verb,
      "Exit: 0 all sums correct, 1 a sum is wrong, 2 usage error, 3 a port is not available, 4 "
      "time-out.",
      [options, &exit_code] { exit_code = check(*options); });
}

}  // namespace dlcp::cli
