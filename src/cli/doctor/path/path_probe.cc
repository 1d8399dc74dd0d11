#include "cli/doctor/path/path_probe.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <span>

#include "datapath/udp/udp_datapath.h"
#include "util/statistics/median.h"

namespace dlcp::cli {
namespace {

constexpr int kAttempts = 6;  // at 20% loss in each direction, one in 500 series of attempts fails
constexpr std::size_t kPortsCalled = 8;
constexpr std::size_t kLargestIpPacket = 65535;
// Common MTUs, tried in ascending order before the exact value is searched between two of them.
// Jobs need the first, with IPv6 the second.
constexpr std::array<std::size_t, 8> kUsualMtus = {576, 596, 1280, 1420, 1500, 4200, 9000, 9216};
constexpr std::size_t kLossPacketBytes = 1200;  // or what the path carries, if that is less
constexpr Duration kPatienceMin = 40ms;

bool is_marked(std::uint8_t tos) {
  return (tos & 3) == static_cast<int>(Ecn::kCe);
}

}  // namespace

Result<PathProbe> PathProbe::open(const PathProbeOptions& options) {
  auto ports = PortCheck::open(options.peer, options.meeting_ports, options.from);
  if (!ports) return ports.error();
  PathProbe probe(options, std::move(ports).value());
  probe.session_ = random_session();
  return probe;
}

Status PathProbe::open_lanes() {
  for (std::size_t i = 0; i < options_.paths; ++i) {
    const std::uint16_t to = ports_.data_port(static_cast<std::uint16_t>(i));
    if (to == 0) {
      return Error{ErrorCode::kRemote, "the listener stopped answering",
                   "run the check again; if it fails repeatedly, the path loses packets or "
                   "`dlcp doctor --listen` there has another version"};
    }
    auto socket = options_.from.open(options_.peer.family);
    if (!socket) return socket.error();
    const auto address = datapath::socket_address(options_.peer, to);
    if (auto connected = socket->connect(address); !connected) return connected.error();
    sockets_.push_back(std::move(socket).value());
    to_ports_.push_back(to);
  }
  return Unit{};
}

// The listener's ports that packets reach, whether or not an answer arrives.
PortsResult PathProbe::knock(bool& answers) {
  PortsResult result;
  answers = false;
  for (std::size_t lane = 0; lane < sockets_.size(); ++lane) {
    bool came = false;
    for (int attempt = 0; attempt < kAttempts && !came; ++attempt)
      came = ask_once(lane, 0, 0, 0).has_value();
    answers = answers || came;
    if (!came) came = ports_.seen(session_, static_cast<std::uint16_t>(lane)) > 0;
    (came ? result.open : result.closed).push_back(to_ports_[lane]);
  }
  return result;
}

Result<PathMeasurement> PathProbe::measure() {
  if (auto met = ports_.meet(); !met) return met.error();
  patience_ = std::max(kPatienceMin, 4 * ports_.round_trip());
  if (auto opened = open_lanes(); !opened) return opened.error();
  PathMeasurement result;
  result.there = knock(result.answers);
  auto called = ports_.calls(std::min<std::size_t>(options_.paths, kPortsCalled));
  if (!called) return called.error();
  result.back = std::move(called).value();
  if (!result.answers) return result;
  result.route_mtu = std::min(sockets_.front().route_mtu(), kLargestIpPacket);
  if (result.route_mtu == 0) result.route_mtu = kUsualMtus.back();
  result.mtu_needed = datapath::udp_mtu_min(options_.peer.family);
  result.mtu_forward = largest(result.route_mtu, false);
  result.mtu_both = largest(result.mtu_forward, true);
  for (const TrafficClassRow& row : options_.classes)
    result.marks.push_back(probe_marks(row));
  // If the network drops the marks of data, loss and delay are those of packets without marks.
  const MarkResult& data = result.marks[static_cast<std::size_t>(TrafficClass::kExact)];
  result.lanes = probe_lanes(std::min(kLossPacketBytes, result.mtu_both),
                             data.back ? data.sent : std::uint8_t{0});
  return result;
}

int PathProbe::send(std::size_t lane, std::size_t packet_bytes, std::size_t reply_packet_bytes,
                    std::uint8_t tos) {
  const auto frame_bytes = [&](std::size_t packet) {
    const std::size_t headers = header_bytes(options_.peer.family);
    return static_cast<std::uint32_t>(std::max(packet, headers + wire::kEchoFrameBytesMin) -
                                      headers);
  };
  wire::EchoRequest request;
  request.session = session_;
  request.sequence = ++sequence_;
  request.frame_bytes = frame_bytes(packet_bytes);
  request.reply_bytes = frame_bytes(reply_packet_bytes);
  request.sent_at_ns = static_cast<std::uint64_t>(local_clock().count());
  request.path = static_cast<std::uint16_t>(lane);
  request.tos = tos;
  wire::encode(request, frame_);
  return last_error_ = sockets_[lane].send(frame_, tos);
}

std::optional<PathProbe::Answer> PathProbe::receive(std::size_t lane, Duration wait) {
  while (const auto received = sockets_[lane].receive(buffer_, wait)) {
    const auto reply = wire::decode_echo_reply(std::span(buffer_).first(received->size));
    if (!reply || reply->session != session_) continue;
    const auto rtt = local_clock() - Duration(static_cast<std::int64_t>(reply->sent_at_ns));
    return Answer{*reply, received->tos, rtt};
  }
  return std::nullopt;
}

std::optional<PathProbe::Answer> PathProbe::ask_once(std::size_t lane, std::size_t packet_bytes,
                                                     std::size_t reply_bytes, std::uint8_t tos) {
  const int error = send(lane, packet_bytes, reply_bytes, tos);
  if (error == EMSGSIZE) return std::nullopt;
  const Duration deadline = local_clock() + patience_;
  for (Duration left = patience_; left.count() > 0; left = deadline - local_clock()) {
    const auto answer = receive(lane, left);
    if (answer && answer->reply.sequence == sequence_) return answer;
    if (!answer && error != 0) break;
  }
  return std::nullopt;
}

std::optional<PathProbe::Answer> PathProbe::ask(std::size_t packet_bytes, std::size_t reply_bytes,
                                                std::uint8_t tos) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // Each attempt uses another path, so that one dead path does not look like a dead peer.
    const std::size_t lane = static_cast<std::size_t>(attempt) % sockets_.size();
    if (const auto answer = ask_once(lane, packet_bytes, reply_bytes, tos)) return answer;
    if (last_error_ == EMSGSIZE) return std::nullopt;
  }
  return std::nullopt;
}

// Gets the peer's count of received probes of the lane, without this question. Without the count,
// lost answers would look like lost probes.
void PathProbe::conclude(std::size_t lane, LaneResult& result) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto answer = ask_once(lane, 0, 0, 0);
    if (!answer) continue;
    result.seen = std::min<std::size_t>(result.sent, answer->reply.requests_seen - 1);
    return;
  }
}

bool PathProbe::passes(std::size_t packet_bytes, bool both_ways) {
  return ask(packet_bytes, both_ways ? packet_bytes : 0, 0).has_value();
}

std::size_t PathProbe::largest(std::size_t limit, bool both_ways) {
  if (passes(limit, both_ways)) return limit;
  std::size_t good = header_bytes(options_.peer.family) + wire::kEchoFrameBytesMin;  // knock()'s
  std::size_t bad = limit;
  for (const std::size_t mtu : kUsualMtus) {
    if (mtu >= limit) break;
    if (!passes(mtu, both_ways)) {
      bad = mtu;
      break;
    }
    good = mtu;
  }
  while (bad > good + 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (passes(middle, both_ways) ? good : bad) = middle;
  }
  return good;
}

MarkResult PathProbe::probe_marks(const TrafficClassRow& row) {
  MarkResult result;
  result.traffic_class = row.traffic_class;
  result.sent = tos_of(row);
  if (const auto answer = ask(0, 0, result.sent)) {
    result.forward = answer->reply.tos_seen;
    result.back = answer->tos;
  }
  return result;
}

std::vector<LaneResult> PathProbe::probe_lanes(std::size_t packet_bytes, std::uint8_t tos) {
  const std::size_t total = options_.probes * sockets_.size();
  std::vector<LaneResult> lanes(sockets_.size());
  std::vector<std::vector<Duration>> rtts(sockets_.size());
  std::vector<pollfd> ready;
  for (std::size_t i = 0; i < sockets_.size(); ++i) {
    lanes[i].port = sockets_[i].port();
    lanes[i].to_port = to_ports_[i];
    ready.push_back({sockets_[i].descriptor(), POLLIN, 0});
  }
  session_ = random_session();  // the peer counts from zero, and late answers of an earlier session
                                // are ignored
  const auto collect = [&](Duration wait) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
    if (::poll(ready.data(), ready.size(), static_cast<int>(ms)) <= 0) return;
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      while (const auto answer = receive(i, Duration{0})) {
        ++lanes[i].replies;
        lanes[i].seen = std::max<std::size_t>(lanes[i].seen, answer->reply.requests_seen);
        lanes[i].marked_there += is_marked(answer->reply.tos_seen);
        lanes[i].marked_back += is_marked(answer->tos);
        rtts[i].push_back(answer->rtt);
      }
    }
  };
  const Duration begin = local_clock();
  for (std::size_t n = 0; n < total; ++n) {
    const std::size_t lane = n % sockets_.size();
    (void)send(lane, packet_bytes, 0, tos);
    ++lanes[lane].sent;
    const Duration due = begin + static_cast<std::int64_t>(n + 1) * options_.interval;
    do {
      collect(std::max(due - local_clock(), Duration{0}));
    } while (local_clock() < due);
  }
  for (const Duration end = local_clock() + patience_; local_clock() < end;)
    collect(10ms);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    conclude(i, lanes[i]);
    lanes[i].rtt_median = median(rtts[i]);
    lanes[i].rtt_max = rtts[i].empty() ? Duration{0} : *std::ranges::max_element(rtts[i]);
  }
  std::ranges::sort(lanes, [](const LaneResult& a, const LaneResult& b) {
    return std::pair(b.sent - b.replies, b.rtt_median) <
           std::pair(a.sent - a.replies, a.rtt_median);
  });
  return lanes;
}

}  // namespace dlcp::cli
