#include "cli/order/agent/agent.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "cli/launch/bench_error.h"
#include "cli/launch/clock.h"
#include "cli/order/agent/burst.h"
#include "cli/order/this_host.h"
#include "datapath/udp/interfaces/interfaces.h"
#include "wire/frames/echo_frame.h"

namespace dlcp::cli {
namespace {

constexpr std::size_t kSockets = 4;  // source ports, so that ECMP uses more than one path
constexpr std::int64_t kPatienceNs = 150'000'000;  // for answers, after the last probe
constexpr std::int64_t kQuietNs = 40'000'000;      // a load is over after this time without packets
constexpr std::int64_t kDrainNs = 1'000'000'000;   // longest wait for the end of a load
constexpr std::size_t kLoadBytes = 1408;           // of a datagram; fits any path that data uses
constexpr std::size_t kLoadSegments = 16;          // per system call
constexpr std::int64_t kAhead = 1'000'000;         // ns; how far a load may be ahead of its rate

// An id for this host: processes of one kernel and network namespace count as one host.
std::string machine_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  struct stat net {};
  if (stat("/proc/self/ns/net", &net) != 0) net.st_ino = 0;
  return fmt::format("{} {}", boot, net.st_ino);
}

// From the TTL on arrival, as systems start at 64, 128 or 255.
int hops_of(int ttl) {
  if (ttl <= 0) return -1;
  return (ttl <= 64 ? 64 : ttl <= 128 ? 128 : 255) - ttl;
}

// A datagram of a load begins with the run's number; probes begin with a frame's magic.
bool is_load(std::span<const std::byte> bytes, std::uint64_t session) {
  return bytes.size() >= kLoadBytes && std::memcmp(bytes.data(), &session, sizeof session) == 0;
}

}  // namespace

Agent::Agent(int line, const std::string& interfaces, const std::string& name) : line_(line) {
  const auto existing = datapath::list_interfaces();
  if (!existing) throw BenchError(ExitCode::kUsage, existing.error().message());
  const auto chosen = datapath::choose_interfaces(interfaces, existing.value());
  if (!chosen) throw BenchError(ExitCode::kUsage, chosen.error().message());
  const datapath::Interface& first = chosen.value().front();
  self_.name = name.empty() ? names_of_this_host().front() : name;
  self_.machine = machine_id();
  for (const auto& interface : chosen.value())
    self_.addresses.push_back(datapath::to_string(interface.ip));
  self_.speed_mbps = first.properties.speed_mbps;
  for (std::size_t i = 0; i < kSockets; ++i) {
    auto socket = ProbeSocket::open(first.ip);
    if (!socket) throw BenchError(ExitCode::kUsage, socket.error().message());
    self_.ports.push_back(socket->port());
    sockets_.push_back(std::move(socket).value());
  }
}

void Agent::run() {
  write_frame(line_.fd(), FrameType::kHello, encode(self_));
  while (!ended_)
    serve(-1);
}

// Waits for the first of: a message of the leader, datagrams, the timeout.
void Agent::serve(int timeout_ms) {
  std::array<pollfd, kSockets + 1> waits{};
  waits[0] = {line_.fd(), POLLIN, 0};
  for (std::size_t i = 0; i < kSockets; ++i)
    waits[i + 1] = {sockets_[i].descriptor(), POLLIN, 0};
  if (::poll(waits.data(), waits.size(), timeout_ms) <= 0) return;
  for (std::size_t i = 0; i < kSockets; ++i)
    if (waits[i + 1].revents != 0)
      sockets_[i].receive([&](const ProbeSocket::Arrival& arrival) { take(sockets_[i], arrival); });
  if (waits[0].revents != 0) take_words();
}

// Takes all complete messages: poll() does not report those that have been read already.
void Agent::take_words() {
  while (!ended_) {
    const auto frame = line_.read(0);
    if (!frame && !line_.ended()) return;
    if (!frame)
      throw BenchError(ExitCode::kTransport, "lost the connection to the leader (rank 0)");
    ended_ = frame->type == FrameType::kStop;
    if (!ended_) take_word(frame->body);
  }
}

void Agent::take_word(const std::string& word) {
  if (auto peers = decode_peers(word)) {
    meet(std::move(*peers));
    return;
  }
  const auto job = decode_job(word);
  const auto exists = [&](int host) { return host < static_cast<int>(to_.size()); };
  if (!job || !exists(job->to) || !std::ranges::all_of(job->probe, exists))
    throw BenchError(ExitCode::kTransport,
                     "the leader (rank 0) runs another version of dlcp; install the same on all "
                     "hosts");
  if (job->load)
    load(*job);
  else
    probe(job->probe);
}

void Agent::meet(PeerList peers) {
  peers_ = std::move(peers);
  to_.assign(peers_.addresses.size(), {});
  for (std::size_t host = 0; host < to_.size(); ++host) {
    const auto ip = datapath::parse_ip_address(peers_.addresses[host]);
    for (const std::uint16_t port : peers_.ports[host])
      to_[host].push_back(ip ? datapath::socket_address(ip.value(), port)
                             : datapath::SocketAddress());
  }
}

void Agent::take(const ProbeSocket& socket, const ProbeSocket::Arrival& arrival) {
  if (is_load(arrival.bytes, peers_.session)) {
    meter_.add(arrival.at_ns, arrival.bytes.size());
    return;
  }
  // The kernel merges consecutive datagrams of equal length.
  const std::size_t step = arrival.segment_bytes > 0 ? arrival.segment_bytes : arrival.bytes.size();
  for (std::size_t at = 0; at + step <= arrival.bytes.size() && step > 0; at += step) {
    const auto bytes = arrival.bytes.subspan(at, step);
    if (const auto request = wire::decode_echo_request(bytes))
      answer(socket, arrival, *request);
    else if (const auto reply = wire::decode_echo_reply(bytes))
      note(arrival, *reply);
  }
}

// The time for which the request waited here is added to its send time, which the answer returns:
// delays in a busy host must not count as distance.
void Agent::answer(const ProbeSocket& socket, const ProbeSocket::Arrival& arrival,
                   const wire::EchoRequest& request) {
  if (request.session != peers_.session) return;
  wire::EchoReply reply;
  reply.session = request.session;
  reply.sequence = request.sequence;
  reply.path = request.path;
  reply.sent_at_ns = request.sent_at_ns + static_cast<std::uint64_t>(
                                              std::max<std::int64_t>(wall_ns() - arrival.at_ns, 0));
  wire::encode(reply, frame_);
  socket.send(frame_, arrival.from);
}

void Agent::note(const ProbeSocket::Arrival& arrival, const wire::EchoReply& reply) {
  if (reply.session != peers_.session || reply.sequence >= bursts_.size()) return;
  Burst& burst = bursts_[reply.sequence];
  const double us =
      static_cast<double>(arrival.at_ns - static_cast<std::int64_t>(reply.sent_at_ns)) * 1e-3;
  ++burst.answers;
  if (burst.best.answered && us >= burst.best.round_trip_us) return;
  burst.best = {true, std::max(us, 0.0), hops_of(arrival.ttl)};
}

const datapath::SocketAddress& Agent::address_of(int host, std::size_t port) const {
  const auto& ports = to_[static_cast<std::size_t>(host)];
  return ports[port % ports.size()];
}

void Agent::send_probe(std::size_t burst, int number) {
  const auto port = static_cast<std::size_t>(number) % kSockets;
  wire::EchoRequest request;
  request.session = peers_.session;
  request.sequence = static_cast<std::uint32_t>(burst);
  request.path = static_cast<std::uint16_t>(port);
  request.sent_at_ns = static_cast<std::uint64_t>(wall_ns());
  wire::encode(request, frame_);
  sockets_[port].send(frame_, address_of(bursts_[burst].host, port));
}

void Agent::probe(const std::vector<int>& hosts) {
  bursts_.clear();
  for (const int host : hosts)
    bursts_.push_back({host, {}, 0});
  // Hosts begin at different times, so that a pivot does not receive all probes at once.
  const std::int64_t step = kBurstTime.count() / kBurstProbes;
  const std::int64_t begin = now_ns() + step * (peers_.self % 8) / 8;
  for (int number = 0; number < kBurstProbes && !ended_; ++number) {
    for (std::size_t burst = 0; burst < bursts_.size(); ++burst)
      send_probe(burst, number);
    const std::int64_t next = begin + step * (number + 1);
    do {
      serve(static_cast<int>(std::clamp<std::int64_t>((next - now_ns()) / 1'000'000, 0, 50)));
    } while (now_ns() < next && !ended_);
  }
  const std::int64_t end = now_ns() + kPatienceNs;
  const auto heard = [](const Burst& burst) { return burst.answers > kBurstProbes / 2; };
  while (now_ns() < end && !ended_ && !std::ranges::all_of(bursts_, heard))
    serve(5);
  AgentAnswer answer;
  for (const Burst& burst : bursts_)
    answer.measured.push_back(burst.best);
  bursts_.clear();
  finish(std::move(answer));
}

void Agent::load(const AgentJob& job) {
  meter_.clear();
  std::vector<std::byte> bytes(kLoadBytes * kLoadSegments);
  for (std::size_t i = 0; i < kLoadSegments; ++i)
    std::memcpy(bytes.data() + i * kLoadBytes, &peers_.session, sizeof peers_.session);
  AgentAnswer answer;
  const std::int64_t begin = now_ns();
  const std::int64_t end = begin + std::int64_t{job.ms} * 1'000'000;
  std::size_t port = 0;
  std::uint16_t segment = kLoadBytes;  // 0 after the kernel has refused segmentation
  while (now_ns() < end && !ended_) {
    const double due = job.gb_per_s / 8 * static_cast<double>(now_ns() - begin + kAhead);
    if (job.to < 0 || answer.sent_bytes >= due) {
      serve(1);
      continue;
    }
    const std::size_t size = segment != 0 ? bytes.size() : kLoadBytes;
    port = (port + 1) % kSockets;
    if (sockets_[port].send({bytes.data(), size}, address_of(job.to, port), segment))
      answer.sent_bytes += static_cast<double>(size);
    else if (errno == EIO || errno == EINVAL)
      segment = 0;
    else
      serve(1);  // the queue is full
    serve(0);
  }
  const std::int64_t latest = now_ns() + kDrainNs;
  while (now_ns() < latest && !ended_ && wall_ns() - meter_.last_ns() < kQuietNs)
    serve(5);
  answer.received_gb_per_s = meter_.gb_per_s().value_or(-1);
  answer.received_bytes = meter_.bytes();
  finish(std::move(answer));
}

void Agent::finish(AgentAnswer answer) {
  if (!ended_) write_frame(line_.fd(), FrameType::kResult, encode(answer));
}

}  // namespace dlcp::cli
