#include "engine/hub/hub_visit.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "datapath/address/ip_address.h"
#include "engine/host/clock.h"
#include "util/system/long_connection.h"
#include "util/system/system_text.h"

namespace dlcp::engine {
namespace {

// The visit to one hub.
class Visit {
 public:
  Visit(const HubPlace& place, const HubJoin& join, const wire::Key& token)
      : place_(place), join_(join), token_(token) {}

  // Calls the first address of the hub's host. Each one but the last has an equal share of
  // `timeout` to answer.
  Status call(Duration timeout);
  // Calls the next address if the current one has had its share of the time for its first message.
  Status check_time(Time now);
  // Makes all progress that is possible now; true once the hub has accepted the rank.
  Result<bool> advance();
  pollfd waits_for() const {
    return {socket_.get(), static_cast<short>(stage_ == Stage::kCalling ? POLLOUT : POLLIN), 0};
  }
  Error named(const std::string& what, const std::string& hint = "") const {
    return {ErrorCode::kRemote, fmt::format("hub {}: {}", to_string(place_), what), hint};
  }
  // For when the time for all hubs is over.
  Error late(Duration timeout) const {
    const auto seconds = std::chrono::duration<double>(timeout).count();
    const char* const what =
        stage_ == Stage::kCalling ? "no answer from" : "no reply on the connection to";
    return named(fmt::format("{} {} within {:g} s", what, address_, seconds),
                 "see its log, or raise DLCP_COLLNET_TIMEOUT, which is twice this time");
  }
  bool is_in() const { return stage_ == Stage::kDone; }
  const HubAnswer& answer() const { return answer_; }
  Fd take() { return std::move(socket_); }

 private:
  enum class Stage : std::uint8_t { kCalling, kChallenged, kAsked, kDone };  // in this order

  Status call_next();
  Status on_frame();
  Error failed(const std::string& what) const {
    return named(fmt::format("{}: {}", what, system_text(errno)),
                 "check that dlcp-hub runs there, and that firewalls open its TCP port");
  }

  const HubPlace place_;
  const HubJoin join_;
  const wire::Key token_;
  std::shared_ptr<const addrinfo> addresses_;
  const addrinfo* next_ = nullptr;  // of the addresses, those not called yet
  Duration patience_{};             // with each address
  Time called_{};
  std::string address_;  // the called one
  Fd socket_;
  Stage stage_ = Stage::kCalling;
  HubChallenge challenge_;
  HubAnswer answer_;
  std::vector<std::byte> read_;
};

Status Visit::call(Duration timeout) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code =
      ::getaddrinfo(place_.host.c_str(), std::to_string(place_.port).c_str(), &hints, &found);
  if (code != 0) return named(::gai_strerror(code), "correct DLCP_COLLNET_HUBS");
  addresses_ = std::shared_ptr<addrinfo>(found, ::freeaddrinfo);
  next_ = found;
  int addresses = 0;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next)
    ++addresses;
  patience_ = timeout / addresses;
  return call_next();
}

// An error counts only if it is that of the last address.
Status Visit::call_next() {
  const addrinfo& to = *std::exchange(next_, next_->ai_next);
  stage_ = Stage::kCalling;
  read_.clear();
  const auto ip = datapath::ip_address_of(*to.ai_addr);
  address_ = ip ? to_string(*ip) : place_.host;
  called_ = steady_now();
  socket_ = Fd(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_.valid()) {
    prepare_long_connection(socket_.get());
    if (::connect(socket_.get(), to.ai_addr, to.ai_addrlen) == 0 || errno == EINPROGRESS)
      return Unit{};
  }
  return next_ != nullptr ? call_next() : failed("cannot connect to " + address_);
}

Status Visit::check_time(Time now) {
  const bool has_asked = stage_ > Stage::kChallenged;
  const bool is_late = !has_asked && next_ != nullptr && now - called_ >= patience_;
  return is_late ? call_next() : Unit{};
}

Result<bool> Visit::advance() {
  if (stage_ == Stage::kCalling) {
    int error = 0;
    socklen_t size = sizeof error;
    (void)::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0 && next_ != nullptr) {
      if (auto called = call_next(); !called) return called.error();
      return false;
    }
    if (error != 0) {
      errno = error;
      return failed("cannot connect to " + address_);
    }
    stage_ = Stage::kChallenged;
  }
  std::byte buffer[kHubFrameBytesMax];
  const auto got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
  if (got < 0) {
    if (errno == EAGAIN || errno == EINTR) return false;
    return failed("the connection was lost");
  }
  if (got == 0)
    return named("it closed the connection without an answer", "see its log for the reason");
  read_.insert(read_.end(), buffer, buffer + got);
  while (stage_ != Stage::kDone) {
    const auto bytes = hub_frame_bytes(read_);
    if (bytes && *bytes == 0)
      return named("the program at this address is not a dlcp-hub", "check host and port");
    if (!bytes || read_.size() < *bytes) return false;
    if (auto understood = on_frame(); !understood) return understood.error();
    read_.erase(read_.begin(), read_.begin() + static_cast<std::ptrdiff_t>(*bytes));
  }
  return true;
}

Status Visit::on_frame() {
  const auto frame = std::span<const std::byte>(read_).first(*hub_frame_bytes(read_));
  if (stage_ == Stage::kChallenged) {
    const auto challenge = decode_hub_challenge(frame);
    if (!challenge) return named(challenge.error().what, challenge.error().hint);
    challenge_ = challenge.value();
    const HubFrame join = encode(join_, challenge_, token_);
    // Smaller than any socket's send buffer.
    if (::send(socket_.get(), join.data(), join.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(join.size()))
      return failed("the connection was lost");
    stage_ = Stage::kAsked;
    return Unit{};
  }
  auto answer = decode_hub_answer(frame, challenge_, token_);
  if (!answer) return named(answer.error().what, answer.error().hint);
  answer_ = std::move(answer).value();
  if (!answer_.refusal.empty()) return named("it refused this rank: " + answer_.refusal);
  stage_ = Stage::kDone;
  return Unit{};
}

// Drives the visits until all hubs have accepted the rank, or one fails.
Status visit_all(std::span<const HubPlace> places, const HubJoin& join, const wire::Key& token,
                 Duration timeout, std::vector<std::unique_ptr<Visit>>& visits) {
  const Time end = steady_now() + timeout;
  for (const HubPlace& place : places) {
    HubJoin asked = join;
    asked.hub = static_cast<std::uint16_t>(visits.size());
    visits.push_back(std::make_unique<Visit>(place, asked, token));
    if (auto called = visits.back()->call(timeout); !called) return called.error();
  }
  std::vector<Visit*> open;
  open.reserve(visits.size());
  for (const auto& visit : visits)
    open.push_back(visit.get());
  while (!open.empty()) {
    if (steady_now() >= end) return open.front()->late(timeout);
    std::vector<pollfd> waits;
    waits.reserve(open.size());
    for (const Visit* visit : open)
      waits.push_back(visit->waits_for());
    (void)::poll(waits.data(), waits.size(), 50);
    std::vector<Visit*> left;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (waits[i].revents == 0) {
        if (auto called = open[i]->check_time(steady_now()); !called) return called.error();
        left.push_back(open[i]);
        continue;
      }
      const auto done = open[i]->advance();
      if (!done) return done.error();
      if (!done.value()) left.push_back(open[i]);
    }
    open = std::move(left);
  }
  return Unit{};
}

}  // namespace

void HubLeases::leave() {
  for (const Fd& socket : sockets_)
    (void)::send(socket.get(), &kHubLeave, 1, MSG_NOSIGNAL);
  sockets_.clear();
}

Result<VisitedHubs> visit_hubs(std::span<const HubPlace> places, const HubJoin& join,
                               const wire::Key& token, Duration timeout) {
  std::vector<std::unique_ptr<Visit>> visits;
  const Status all = visit_all(places, join, token, timeout, visits);
  VisitedHubs visited;
  std::vector<Fd> sockets;
  for (const auto& visit : visits) {
    if (visit->is_in()) {
      visited.peers.push_back(visit->answer().peer);
      sockets.push_back(visit->take());
    }
  }
  visited.leases = HubLeases(std::move(sockets));
  if (!all) {
    visited.leases.leave();
    return all.error();
  }
  return visited;
}

}  // namespace dlcp::engine
