#include "cli/bench/own_switch.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "cli/aggregator/server.h"
#include "cli/bench/net_namespace.h"
#include "util/host_port.h"
#include "util/system_text.h"

namespace dlcp::cli {

struct OwnSwitch::Shared {
  std::atomic<bool> ready{false};
  std::atomic<std::uint64_t> sums{0};
  std::array<char, 128> name{};
  std::array<char, 256> error{};
};

namespace {

template <std::size_t kSize>
void put(std::array<char, kSize>& to, const std::string& text) {
  std::memcpy(to.data(), text.data(), std::min(text.size(), kSize - 1));
}

// Of this network namespace, for others: the first that is not loopback's, IPv4 if there is one.
std::string address_here() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return "";
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
      const bool fits = each->ifa_addr != nullptr && each->ifa_addr->sa_family == family &&
                        (each->ifa_flags & IFF_LOOPBACK) == 0 && (each->ifa_flags & IFF_UP) != 0;
      if (!fits) continue;
      const void* address = &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
      if (family == AF_INET6) {
        const auto& wide = reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr;
        if (IN6_IS_ADDR_LINKLOCAL(&wide)) continue;
        address = &wide;
      }
      char text[INET6_ADDRSTRLEN];
      if (::inet_ntop(family, address, text, sizeof text) != nullptr) return text;
    }
  }
  return "";
}

// On ports that are free: where they begin hangs on the process, so that several find some at once.
Result<AggregatorServer> open_server(const BenchCase& c, ServerOptions& options) {
  constexpr int kTries = 100;
  options.terms.workers = static_cast<unsigned>(c.ranks);
  options.drop = c.netns.empty() ? c.loss : 0;
  for (int i = 0;; ++i) {
    options.port = static_cast<std::uint16_t>(16384 + (getpid() * 37 + i * 40) % 16000);
    auto server = AggregatorServer::open(options, c.netns.empty());
    if (server.ok() || i == kTries) return server;
  }
}

}  // namespace

bool sums_by_switch(const BenchCase& c) {
  return c.algorithm == Algorithm::kSwitch && c.reduction.op == collective::ReduceOp::kSum &&
         c.reduction.type == collective::DataType::kFloat32;
}

OwnSwitch::OwnSwitch(const BenchCase& c) {
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw BenchError(ExitCode::kTransport, fmt::format("mmap: {}", system_text(errno)));
  shared_ = new (memory) Shared;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      if (!c.namespaces.empty()) enter_namespace(c.namespaces.front());
      ServerOptions options;
      auto server = open_server(c, options);
      if (!server) throw BenchError(ExitCode::kTransport, server.error().message());
      put(shared_->name,
          join_host_port(c.netns.empty() ? "127.0.0.1" : address_here(), options.port));
      shared_->ready = true;
      for (;;) {
        server->serve(50ms);
        shared_->sums = server->aggregator().counts().sums;
      }
    } catch (const BenchError& e) {
      put(shared_->error, e.what());
      shared_->ready = true;
    }
    ::_exit(0);
  }
  while (pid_ > 0 && !shared_->ready)
    ::usleep(1000);
  if (pid_ < 0 || shared_->error[0] != '\0')
    throw BenchError(ExitCode::kTransport,
                     fmt::format("no stand-in for a switch: {}",
                                 pid_ < 0 ? system_text(errno) : shared_->error.data()));
}

OwnSwitch::~OwnSwitch() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::munmap(shared_, sizeof(Shared));
}

std::string OwnSwitch::name() const {
  return shared_->name.data();
}

std::uint64_t OwnSwitch::sums() const {
  return shared_->sums;
}

}  // namespace dlcp::cli
