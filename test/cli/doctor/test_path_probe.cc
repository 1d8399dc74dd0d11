// Prober and responder over loopback.
#include <atomic>
#include <thread>
#include <vector>

#include "catch.h"
#include "cli/doctor/host/socket_checks.h"
#include "cli/doctor/path/echo_responder.h"
#include "cli/doctor/path/path_probe.h"
#include "cli/doctor/path/path_report.h"
#include "cli/doctor/peer/peer_name.h"
#include "no_open_files.h"

using namespace dlcp;
using namespace dlcp::cli;

namespace {

// A responder in a thread of its own, on a free port.
class Listener {
 public:
  Listener() : thread_([this] { run(); }) {
    while (port_ == 0)
      std::this_thread::yield();
  }
  ~Listener() {
    stop_ = true;
    thread_.join();
  }

  std::uint16_t port() const { return port_; }

 private:
  void run() {
    for (std::uint16_t port = 46001; port < 48000; port += 7) {
      auto responder = EchoResponder::open({&port, 1});
      if (!responder) continue;
      port_ = port;
      while (!stop_)
        (void)responder->serve(10ms);
      return;
    }
  }

  std::atomic<bool> stop_ = false;
  std::atomic<std::uint16_t> port_ = 0;
  std::thread thread_;
};

PathProbeOptions options_for(const char* host, std::uint16_t port) {
  PathProbeOptions options;
  options.peer = resolve_peer(host).value().address;
  options.meeting_ports = {port};
  options.paths = 4;
  options.probes = 20;
  return options;
}

bool has_ipv6() {
  datapath::IpAddress ip;
  ip.family = datapath::IpFamily::kV6;
  ip.bytes[15] = 1;
  return MarkSocket::open(ip, 0).ok();
}

}  // namespace

TEST_CASE("over loopback every size, mark and probe is answered, over IPv4 and IPv6") {
  const Listener listener;
  for (const char* host : {"127.0.0.1", "::1"}) {
    if (std::string(host) == "::1" && !has_ipv6()) continue;
    CAPTURE(host);
    auto probe = PathProbe::open(options_for(host, listener.port()));
    REQUIRE(probe);
    const auto measured = probe->measure();
    REQUIRE(measured);
    const PathMeasurement& m = measured.value();
    CHECK(m.answers);
    CHECK(m.there.closed.empty());
    CHECK(m.back.closed.empty());
    CHECK(m.there.open.size() == 4);
    CHECK(m.back.open.size() == 4);
    for (const std::uint16_t port : m.there.open)
      CHECK(port >= 49152);
    CHECK(m.route_mtu > 1500);
    CHECK(m.mtu_forward == m.route_mtu);
    CHECK(m.mtu_both == m.route_mtu);
    REQUIRE(m.marks.size() == kTrafficClassCount);
    for (const MarkResult& mark : m.marks) {
      CHECK(mark.forward == mark.sent);
      CHECK(mark.back == mark.sent);
    }
    REQUIRE(m.lanes.size() == 4);
    for (const LaneResult& lane : m.lanes) {
      CHECK(lane.port >= 49152);
      CHECK(lane.to_port >= 49152);
      CHECK(lane.sent == 20);
      CHECK(lane.seen == 20);
      CHECK(lane.replies == 20);
      CHECK(lane.rtt_median > Duration{0});
      CHECK(lane.rtt_median <= lane.rtt_max);
    }
    CHECK(count(judge(m), Level::kFail) == 0);
  }
}

TEST_CASE("a missing responder is one clear error") {
  auto probe = PathProbe::open(options_for("127.0.0.1", 9));
  REQUIRE(probe);
  const auto measured = probe->measure();
  REQUIRE_FALSE(measured);
  CHECK(measured.error().code == ErrorCode::kRemote);
  CHECK_THAT(measured.error().hint, Contains("--listen"));
}

TEST_CASE("a responder forgets old probers, and answers only valid requests") {
  const std::uint16_t port = 46999;
  auto opened = EchoResponder::open({&port, 1});
  REQUIRE(opened);
  EchoResponder& responder = opened.value();
  const auto ip = resolve_peer("127.0.0.1").value().address;
  auto socket = MarkSocket::open({}, 0);
  REQUIRE(socket);
  REQUIRE(socket->connect(datapath::socket_address(ip, port)));

  wire::Buffer frame;
  wire::EchoRequest request;
  for (std::uint64_t session = 1; session <= 200; ++session) {
    request.session = session;
    wire::encode(request, frame);
    REQUIRE(socket->send(frame, 0) == 0);
    (void)responder.serve(100ms);
  }
  CHECK(responder.sessions() == 64);
  CHECK(responder.take_newcomers().front() == "127.0.0.1");

  std::vector<std::byte> buffer(2000);
  while (socket->receive(buffer, Duration{0})) {
  }
  frame[20] ^= std::byte{1};
  REQUIRE(socket->send(frame, 0) == 0);
  (void)responder.serve(100ms);
  CHECK(responder.invalid_requests() == 1);
  CHECK_FALSE(socket->receive(buffer, 20ms).has_value());
}

TEST_CASE("a host on which no UDP socket can be opened is a failure with the reason") {
  CHECK(check_sockets().empty());
  const Findings findings = [] {
    const dlcp::test::NoOpenFiles limit;
    return check_sockets();
  }();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].level == Level::kFail);
  CHECK(findings[0].value == "cannot open a UDP socket: Too many open files");
  CHECK_THAT(findings[0].fix, Contains("ulimit -n"));
}

TEST_CASE("the capabilities of this kernel's sockets are detected by use") {
  CHECK(check_segmentation().level == Level::kOk);  // every kernel that the suite supports has it
  CHECK(check_merging().level == Level::kOk);
  for (const Finding& finding : check_marks_over_loopback(kTrafficClasses))
    CHECK(finding.level != Level::kFail);
  for (const Finding& finding : check_socket_buffers())
    CHECK(finding.fix.empty() == (finding.level == Level::kOk));
}

TEST_CASE(
    "a list of devices survives encoding and decoding, and other frames do not decode as one") {
  const DeviceAnswer answer{datapath::parse_ip_address("10.0.0.9").value(),
                            50'123,
                            {{"eth0", datapath::parse_ip_address("10.0.0.1").value()},
                             {"eth1", datapath::parse_ip_address("fd00::1").value()}}};
  const auto question = encode_device_question(7);
  CHECK(decode_device_question(question) == 7);
  const auto frame = encode_device_answer(7, answer);
  CHECK(frame.size() <= question.size());
  const auto decoded = decode_device_answer(7, frame);
  REQUIRE(decoded);
  CHECK(decoded->seen_from == answer.seen_from);
  CHECK(decoded->seen_port == answer.seen_port);
  CHECK(decoded->devices == answer.devices);
  CHECK_FALSE(decode_device_answer(8, frame));
  CHECK_FALSE(decode_device_question(frame));
  CHECK_FALSE(decode_device_answer(7, std::span(frame).first(100)));

  // A short answer has the devices for which there is room.
  DeviceAnswer many = answer;
  many.devices.resize(40, many.devices[1]);
  const auto brief = encode_device_question(7, kDeviceFrameBytesMin);
  CHECK(decode_device_question(brief) == 7);
  const auto part = decode_device_answer(7, encode_device_answer(7, many, brief.size()));
  REQUIRE(part);
  CHECK(part->devices.size() > 30);
  CHECK(part->devices.size() < 40);
}
