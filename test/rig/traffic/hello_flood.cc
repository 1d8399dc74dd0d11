// Sends forged HELLOs to a listening engine over real sockets and measures the memory that it
// keeps. A third have unknown tokens, a third the listener's token with a wrong tag, and a third
// are valid but never followed by START, as an attacker with the invitation could send them.
//
//   hello_flood [SECONDS] [PER_SECOND]      default 1 and 100000
// Prints one JSON object; exits with 1 if memory grew by more than 1 MB.
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "datapath/address/device_address.h"
#include "engine/devices/carrier.h"
#include "engine/host/clock.h"
#include "engine/lane/engine.h"
#include "engine/settings/environment.h"
#include "secrets.h"
#include "util/system/fd.h"
#include "wire/codec.h"

namespace {

using namespace dlcp;

constexpr std::size_t kBatch = 32;
constexpr std::uint32_t kHelloBytes = 548;
constexpr long kGrowthMaxBytes = 1'000'000;

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "hello_flood: {}\n", what);
  std::exit(1);
}

template <class T>
T need(Result<T> result) {
  if (!result) fail(result.error().message());
  return std::move(result).value();
}

long resident_bytes() {
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

wire::Buffer forge(const wire::Invitation& invitation, const wire::EndpointAddress& from,
                   std::uint64_t number) {
  wire::Hello hello;
  hello.destination =
      number % 3 == 0 ? number * 0x9e3779b97f4a7c15u : wire::listener_token(invitation);
  hello.listener_number = invitation.number;
  hello.sender_token = number + 1;
  hello.association = number + 1;
  hello.stream = 1;
  hello.sender_address = from;
  hello.hello_bytes = kHelloBytes;
  wire::Buffer frame;
  wire::encode(hello, frame);
  wire::Key key = wire::listener_key(invitation, {});
  key.low += number % 3 == 1 ? 1 : 0;
  wire::seal(frame, key, 0, 0);
  return frame;
}

class Flood {
 public:
  Flood(const wire::EndpointAddress& to, const wire::Invitation& invitation)
      : to_(to), invitation_(invitation) {
    const auto address = datapath::decode_device_address(to);
    const auto ports = address ? address->of(datapath::LocatorKind::kUdpPort)
                               : std::span<const datapath::Locator>();
    if (ports.empty()) fail("the engine has no UDP address");
    const auto peer =
        datapath::socket_address(address->ip, static_cast<std::uint16_t>(ports.front().value));
    socket_ = Fd(::socket(peer.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const auto own = datapath::socket_address(address->ip, 0);
    if (::bind(socket_.get(), &own.any, own.size) != 0 ||
        ::connect(socket_.get(), &peer.any, peer.size) != 0)
      fail("cannot send to the engine");
  }

  std::uint64_t run(double seconds, double per_second) {
    const Time begin = engine::steady_now();
    std::uint64_t sent = 0;
    for (;;) {
      const double passed = std::chrono::duration<double>(engine::steady_now() - begin).count();
      if (passed >= seconds) return sent;
      if (static_cast<double>(sent) > passed * per_second) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        continue;
      }
      send_batch(sent);
      sent += kBatch;
    }
  }

 private:
  void send_batch(std::uint64_t first) {
    std::array<wire::Buffer, kBatch> frames;
    std::array<iovec, kBatch> pieces;
    std::array<mmsghdr, kBatch> messages{};
    for (std::size_t i = 0; i < kBatch; ++i) {
      frames[i] = forge(invitation_, to_, first + i);
      pieces[i] = {frames[i].data(), frames[i].size()};
      messages[i].msg_hdr.msg_iov = &pieces[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    ::sendmmsg(socket_.get(), messages.data(), kBatch, 0);
  }

  wire::EndpointAddress to_;
  wire::Invitation invitation_;
  Fd socket_;
};

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 1;
  const double per_second = argc > 2 ? std::strtod(argv[2], nullptr) : 100'000;
  auto environment = engine::process_environment();
  std::erase_if(environment, [](const auto& variable) { return variable.first == "DLCP_IFNAME"; });
  environment.push_back({"DLCP_IFNAME", "lo"});
  const auto settings = need(engine::load_settings(environment, engine::read_text_file));
  const auto devices = need(engine::choose_devices(settings));
  auto opened = need(engine::open_device(*devices.front().over(engine::kUdp), settings));
  engine::Engine engine(
      std::move(opened.datapath), opened.config, test::secrets_of(1), [](const engine::LogLine&) {},
      [](core::ContextId, const Error&) {});
  if (!engine.start_helper()) fail("no thread");
  const auto listening = engine.listen(1, 1);
  Flood flood(engine.address(), listening.invitation);
  flood.run(0.3, per_second);  // memory for the first packets of any kind does not count
  const long before = resident_bytes();
  const std::uint64_t sent = flood.run(seconds, per_second);
  const long grown = resident_bytes() - before;
  const core::Counters counters = engine.counters();
  fmt::print(
      "{{\"seconds\": {}, \"sent\": {}, \"unknown\": {}, \"forged\": {}, \"grown_bytes\": {}}}\n",
      seconds, sent, counters[core::Counter::kDroppedUnknownToken],
      counters[core::Counter::kDroppedUnauthentic], grown);
  if (counters[core::Counter::kDroppedUnauthentic] == 0) fail("nothing arrived");
  return grown <= kGrowthMaxBytes ? 0 : 1;
}
