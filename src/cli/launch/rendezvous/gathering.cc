#include "cli/launch/rendezvous/gathering.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "cli/launch/bench_error.h"
#include "cli/launch/clock.h"
#include "util/system/long_connection.h"
#include "util/system/system_text.h"
#include "util/text/printable.h"

namespace dlcp::cli {
namespace {

constexpr std::int64_t kRefusingNs = 10'000'000'000;

Fd listen_on(int port) {
  Fd fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int one = 1;
  const int off = 0;
  const bool v6 = fd.valid();
  if (!v6) fd = Fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  prepare_long_connection(fd.get());
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  any6.sin6_port = htons(static_cast<std::uint16_t>(port));
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  any4.sin_port = htons(static_cast<std::uint16_t>(port));
  if (v6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  const auto* address =
      v6 ? reinterpret_cast<const sockaddr*>(&any6) : reinterpret_cast<const sockaddr*>(&any4);
  if (bind(fd.get(), address, v6 ? sizeof any6 : sizeof any4) != 0 || listen(fd.get(), 1024) != 0)
    throw BenchError(ExitCode::kUsage,
                     fmt::format("cannot listen on TCP port {} for the other ranks: {}; give "
                                 "all ranks another port: --rendezvous HOST:PORT",
                                 port, system_text(errno)));
  return fd;
}

// A part of another rank's hello, as it may be printed.
std::string shown(const std::string& theirs) {
  constexpr std::size_t kBytesMax = 200;
  return printable(theirs.substr(0, kBytesMax));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::string hello_of(const World& world, const std::string& options) {
  return fmt::format("{}\nversion {}\nranks {}\n{}", world.rank, DLCP_VERSION, world.size, options);
}

std::string difference(const std::string& theirs, const std::string& ours) {
  const auto a = lines_of(theirs);
  const auto b = lines_of(ours);
  for (std::size_t i = 1; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i])
      return fmt::format("rank {} has '{}', rank 0 has '{}'; start all ranks alike", shown(a[0]),
                         shown(a[i]), b[i]);
  }
  return a.size() == b.size() ? ""
                              : fmt::format("rank {} runs another version of dlcp", shown(a[0]));
}

bool is_hello(const std::string& text) {
  const auto lines = lines_of(text);
  const std::string& rank = lines[0];
  return lines.size() >= 2 && lines[1].starts_with("version ") && !rank.empty() &&
         rank.size() <= 9 && std::ranges::all_of(rank, [](char c) { return c >= '0' && c <= '9'; });
}

std::string rank_ranges(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
      ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[i]);
    if (last > i) text += fmt::format("-{}", ranks[last]);
    i = last + 1;
  }
  return text;
}

Gathering::Gathering(const World& world, const std::string& options)
    : world_(world),
      hello_(hello_of(world, options)),
      listener_(listen_on(world.port)),
      sockets_(static_cast<std::size_t>(world.size)) {}

bool Gathering::admit(Newcomer& newcomer) {
  const auto frame = newcomer.reader.read(0);
  if (!frame) return !newcomer.reader.ended();
  if (frame->type != FrameType::kHello || !is_hello(frame->body)) return false;  // not a rank
  const int rank = std::atoi(frame->body.c_str());
  const std::string differs = difference(frame->body, hello_);
  if (!differs.empty()) {
    fail(differs);
  } else if (rank < 1 || rank >= world_.size) {
    fail(fmt::format("rank {} does not exist among {} ranks", rank, world_.size));
  } else if (sockets_[static_cast<std::size_t>(rank)].valid()) {
    fail(fmt::format("two processes have rank {}; give each process a rank of its own", rank));
  } else {
    sockets_[static_cast<std::size_t>(rank)] = std::move(newcomer.fd);
    return false;
  }
  refused_.push_back(std::move(newcomer.fd));
  return false;
}

void Gathering::serve(int timeout_ms) {
  std::vector<pollfd> waits = {{listener_.get(), POLLIN, 0}};
  for (const Newcomer& newcomer : newcomers_)
    waits.push_back({newcomer.fd.get(), POLLIN, 0});
  if (poll(waits.data(), waits.size(), timeout_ms) <= 0) return;
  std::erase_if(newcomers_, [this](Newcomer& newcomer) { return !admit(newcomer); });
  if (waits[0].revents == 0) return;
  Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  // The connection stays in the queue, so poll() would return at once until the time-out.
  if (!fd.valid() && (errno == EMFILE || errno == ENFILE))
    throw BenchError(ExitCode::kUsage,
                     fmt::format("cannot accept the connections of all ranks: {}; raise the limit "
                                 "of open files of rank 0 (ulimit -n) above the number of ranks",
                                 system_text(errno)));
  if (!fd.valid()) return;
  const int number = fd.get();
  newcomers_.push_back({std::move(fd), FrameReader(number)});
}

std::vector<int> Gathering::missing() const {
  std::vector<int> ranks;
  for (int rank = 1; rank < world_.size; ++rank)
    if (!sockets_[static_cast<std::size_t>(rank)].valid()) ranks.push_back(rank);
  return ranks;
}

void Gathering::fail(const std::string& why) {
  if (failure_.empty()) failure_ = why;
}

std::vector<int> Gathering::let_go() {
  std::vector<int> sockets;
  for (Fd& fd : sockets_) {
    if (fd.valid()) write_frame(fd.get(), FrameType::kWelcome, "");
    sockets.push_back(fd.release());
  }
  return sockets;
}

void Gathering::refuse_all() {
  // Ranks are started together. Wait for the late ones, so that they get the reason instead of a
  // time-out.
  const std::int64_t end = now_ns() + kRefusingNs;
  while (missing().size() > refused_.size() && now_ns() < end)
    serve(100);
  tell();
}

void Gathering::tell() {
  for (std::vector<Fd>* some : {&sockets_, &refused_}) {
    for (const Fd& fd : *some)
      if (fd.valid()) write_frame(fd.get(), FrameType::kStop, failure_);
  }
}

}  // namespace dlcp::cli
