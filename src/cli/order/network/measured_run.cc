#include "cli/order/network/measured_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "cli/launch/bench_error.h"
#include "cli/launch/clock.h"
#include "cli/launch/processes/net_namespace.h"
#include "cli/launch/rendezvous/rendezvous.h"
#include "cli/order/agent/agent.h"
#include "cli/order/agent/burst.h"

namespace dlcp::cli {
namespace {

constexpr std::int64_t kAnswerNs = 20'000'000'000;  // longest wait for an agent
constexpr double kBytesEnough = 300'000;            // of a transfer, for a reliable rate
constexpr int kLoadMsMax = 600;
constexpr double kHeadroom = 3;  // over the best measured rate, so that the link remains the limit

double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.empty()) return std::nan("");
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

std::unique_ptr<MeasuredRun> MeasuredRun::start(const OrderOptions& options) {
  std::unique_ptr<MeasuredRun> run(new MeasuredRun(options));
  if (!options.netns.empty())
    run->start_namespaces();
  else
    run->start_ranks();
  if (run->lead_) run->take_hellos();
  return run;
}

MeasuredRun::~MeasuredRun() {
  for (const Line& line : lines_) {
    write_frame(line.reader.fd(), FrameType::kStop, "");
    close(line.reader.fd());
  }
  agents_.wait_all();
}

void MeasuredRun::start_namespaces() {
  const int count = count_namespaces(options_.netns);
  if (count == 0)
    throw BenchError(ExitCode::kUsage,
                     fmt::format("--netns: there is no namespace {}0; create some with "
                                 "scripts/netns up {} 16 topo=spine leaves=4",
                                 options_.netns, options_.netns));
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("{}{}", options_.netns, i);
    lines_.push_back({FrameReader(start_agent(name, name)), {}, false});
  }
}

void MeasuredRun::start_ranks() {
  const auto world =
      discover_world(options_.world, [](const char* name) { return std::getenv(name); });
  if (!world)
    throw BenchError(ExitCode::kUsage,
                     "no launcher started this process; use srun -N 8 --ntasks-per-node=1 dlcp "
                     "order, or mpirun, or torchrun --no-python. --netns and --simulate work "
                     "without a launcher");
  lead_ = world->rank == 0;
  if (!lead_) {
    own_line_ = join_ranks(*world, options_.summary(), options_.timeout);
    return;
  }
  const auto remote = gather_ranks(*world, options_.summary(), options_.timeout);
  for (const int fd : remote)
    lines_.push_back({FrameReader(fd >= 0 ? fd : start_agent("", "")), {}, false});
}

// Starts an agent in a separate process; returns this process's end of the connection.
int MeasuredRun::start_agent(const std::string& net_namespace, const std::string& name) {
  auto ends = socket_pair();  // this process's, the agent's
  agents_.start([&] {
    for (const Line& line : lines_)
      close(line.reader.fd());
    ends.first.reset();
    try {
      if (!net_namespace.empty()) enter_namespace(net_namespace);
      Agent(ends.second.get(), options_.interface, name).run();
    } catch (const BenchError& e) {
      write_frame(ends.second.get(), FrameType::kStop, e.what());
      return static_cast<int>(e.exit_code());
    }
    return 0;
  });
  return ends.first.release();
}

void MeasuredRun::serve() {
  try {
    Agent(own_line_, options_.interface, "").run();
  } catch (const BenchError& e) {
    write_frame(own_line_, FrameType::kStop, e.what());
    throw;
  }
}

void MeasuredRun::take_hellos() {
  const std::int64_t deadline = now_ns() + kAnswerNs;
  for (std::size_t rank = 0; rank < lines_.size(); ++rank) {
    Line& line = lines_[rank];
    std::optional<Frame> frame;
    while (!frame && !line.reader.ended() && now_ns() < deadline)
      frame = line.reader.read(100);
    const auto hello = frame ? decode_hello(frame->body) : std::nullopt;
    if (!hello)
      throw BenchError(
          ExitCode::kUsage,
          fmt::format("rank {}: {}", rank,
                      frame && frame->type == FrameType::kStop ? frame->body : "no agent answers"));
    line.hello = *hello;
  }
  choose_names();
  PeerList peers;
  std::random_device random;
  peers.session = std::uint64_t{random()} << 32 | random();
  for (const Line& line : lines_) {
    peers.addresses.push_back(line.hello.addresses.front());
    peers.ports.push_back(line.hello.ports);
  }
  for (std::size_t host = 0; host < lines_.size(); ++host) {
    peers.self = static_cast<int>(host);
    write_frame(lines_[host].reader.fd(), FrameType::kWelcome, encode(peers));
  }
}

// Turns ranks into hosts: several ranks on one machine are one host, and machines with equal names
// are named by their addresses.
void MeasuredRun::choose_names() {
  std::vector<Line> hosts;
  for (Line& line : lines_) {
    const auto same = std::ranges::find(hosts, line.hello.machine,
                                        [](const Line& other) { return other.hello.machine; });
    if (same != hosts.end()) {
      ++hosts_[static_cast<std::size_t>(same - hosts.begin())].slots;
      write_frame(line.reader.fd(), FrameType::kStop, "");
      close(line.reader.fd());
      continue;
    }
    hosts_.push_back({line.hello.name, line.hello.addresses, 0, 1, false, false});
    hosts.push_back(std::move(line));
  }
  lines_ = std::move(hosts);
  std::vector<bool> twice(hosts_.size());
  for (std::size_t i = 0; i < hosts_.size(); ++i)
    twice[i] = std::ranges::count(hosts_, hosts_[i].name, &fabric::Host::name) > 1;
  for (std::size_t i = 0; i < hosts_.size(); ++i)
    if (twice[i]) hosts_[i].name = hosts_[i].addresses.front();
  const fabric::Fabric fabric = fabric::Fabric::flat(hosts_);
  if (const Status sound = fabric::check(fabric); !sound)
    throw BenchError(ExitCode::kUsage, sound.error().message());
}

void MeasuredRun::send(std::size_t host, const AgentJob& job) {
  Line& line = lines_[host];
  line.gone = line.gone || !write_frame(line.reader.fd(), FrameType::kExchange, encode(job));
}

// The agent's answer; an empty one if the agent is gone.
AgentAnswer MeasuredRun::await(std::size_t host, std::int64_t deadline) {
  Line& line = lines_[host];
  // Read at least once: after the deadline, another host's silence has used up the time.
  for (bool in_time = true; !line.gone && in_time;) {
    in_time = now_ns() < deadline;
    const auto frame = line.reader.read(in_time ? 100 : 0);
    if (frame && frame->type == FrameType::kResult) {
      if (auto answer = decode_answer(frame->body)) return std::move(*answer);
    }
    if (!frame && !line.reader.ended()) continue;
    line.gone = true;
    fmt::print(stderr, "dlcp order: lost the connection to {}{}\n", hosts_[host].name,
               frame && frame->type == FrameType::kStop ? ": " + frame->body : "");
  }
  if (!line.gone)
    fmt::print(stderr, "dlcp order: {} has not answered for {} s\n", hosts_[host].name,
               kAnswerNs / 1'000'000'000);
  line.gone = true;
  return {};
}

std::vector<order::Measurement> MeasuredRun::probe(const std::vector<order::Pair>& pairs) {
  std::vector<AgentJob> jobs(lines_.size());
  std::vector<std::vector<std::size_t>> index(lines_.size());  // of the pairs of each host
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto from = static_cast<std::size_t>(pairs[i].from);
    jobs[from].probe.push_back(pairs[i].to);
    index[from].push_back(i);
  }
  for (std::size_t host = 0; host < jobs.size(); ++host)
    if (!jobs[host].probe.empty()) send(host, jobs[host]);
  const std::int64_t deadline = now_ns() + kAnswerNs;
  std::vector<order::Measurement> measured(pairs.size());
  for (std::size_t host = 0; host < jobs.size(); ++host) {
    if (jobs[host].probe.empty()) continue;
    const AgentAnswer answer = await(host, deadline);
    for (std::size_t i = 0; i < std::min(answer.measured.size(), index[host].size()); ++i)
      measured[index[host][i]] = answer.measured[i];
  }
  return measured;
}

MeasuredRun::LoadRound MeasuredRun::load_once(const order::LoadPhase& phase, int ms,
                                              double gb_per_s) {
  std::vector<AgentJob> jobs(lines_.size());
  for (const order::Transfer& transfer : phase.transfers) {
    AgentJob& job = jobs[static_cast<std::size_t>(transfer.from)];
    job.to = transfer.to;
    const double speed = lines_[static_cast<std::size_t>(transfer.from)].hello.speed_mbps * 1e-3;
    job.gb_per_s = std::min(gb_per_s, speed * options_.share);
  }
  for (std::size_t host = 0; host < jobs.size(); ++host) {
    jobs[host].load = true;
    jobs[host].ms = ms;
    send(host, jobs[host]);
  }
  const std::int64_t deadline = now_ns() + kAnswerNs;
  std::vector<AgentAnswer> answers;
  for (std::size_t host = 0; host < jobs.size(); ++host) {
    answers.push_back(await(host, deadline));
    load_gb_ += answers.back().sent_bytes * 8e-9;
  }
  LoadRound round;
  std::vector<double> bytes;
  for (const order::Transfer& transfer : phase.transfers) {
    const AgentAnswer& answer = answers[static_cast<std::size_t>(transfer.to)];
    round.gb_per_s.push_back(answer.received_gb_per_s >= 0 ? answer.received_gb_per_s
                                                           : std::nan(""));
    bytes.push_back(answer.received_bytes);
  }
  round.median_bytes = median(bytes);
  return round;
}

// A first round determines the length of the others, so that slow links carry enough to be
// measured, and the bytes to send, so that fast links are not flooded.
std::vector<double> MeasuredRun::load(const order::LoadPhase& phase) {
  constexpr double kUnlimited = 1e6;
  int ms =
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(kLoadTime).count());
  LoadRound first = load_once(phase, ms, kUnlimited);
  std::vector<LoadRound> rounds;
  double most = 0;
  for (const double rate : first.gb_per_s)
    most = std::isnan(rate) ? most : std::max(most, rate);
  if (first.median_bytes < kBytesEnough) {
    const double factor = kBytesEnough / std::max(first.median_bytes, 1e3);
    ms = static_cast<int>(std::min<double>(ms * std::max(factor, 2.0), kLoadMsMax));
  } else {
    rounds.push_back(std::move(first));
  }
  while (rounds.size() < kLoadRounds)
    rounds.push_back(load_once(phase, ms, most > 0 ? kHeadroom * most : kUnlimited));
  std::vector<double> rates;
  for (std::size_t i = 0; i < phase.transfers.size(); ++i) {
    std::vector<double> values;
    for (const LoadRound& round : rounds)
      values.push_back(round.gb_per_s[i]);
    rates.push_back(median(std::move(values)));
  }
  return rates;
}

}  // namespace dlcp::cli
