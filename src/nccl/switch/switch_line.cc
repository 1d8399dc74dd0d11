#include "nccl/switch/switch_line.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "util/system/system_text.h"
#include "util/text/host_port.h"

namespace dlcp::nccl {
namespace {

constexpr int kBufferBytes = 8 << 20;
constexpr int kPacketCost = 2304;  // counted by the kernel for one packet
constexpr Duration kHelloPause = 1ms;
constexpr Duration kAskPause = 250ms;
constexpr Duration kAddressPatience = 1s;  // for an answer, if the host's name has other addresses
// A port that stays closed for longer is not expected to open in time.
constexpr Duration kRefusedMax = 1s;
constexpr Duration kStoppedFor = 1s;  // a pause of this process, not a silence of the switch

Error no_way(const std::string& text, const std::string& why) {
  return {ErrorCode::kSystem, fmt::format("the switch {}: {}", text, why),
          "correct DLCP_COLLNET_SWITCH"};
}

}  // namespace

SwitchLine::Batch::Batch() {
  for (std::size_t i = 0; i < kBatch; ++i) {
    vectors[i] = {bytes[i].data(), bytes[i].size()};
    headers[i] = {};
    headers[i].msg_hdr.msg_iov = &vectors[i];
    headers[i].msg_hdr.msg_iovlen = 1;
  }
}

Result<std::unique_ptr<SwitchLine>> SwitchLine::open(const collective::SwitchName& name,
                                                     unsigned rank) {
  const std::string text = join_host_port(name.host, name.port);
  if (name.port + rank > 65535)
    return no_way(text, fmt::format("the port of rank {} would be {}, which is not a port", rank,
                                    name.port + rank));
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(name.port + rank);
  const int status = ::getaddrinfo(name.host.c_str(), port.c_str(), &hints, &found);
  const std::shared_ptr<const addrinfo> list(found, [](addrinfo* a) {
    if (a != nullptr) ::freeaddrinfo(a);
  });
  if (status != 0 || found == nullptr) {
    return no_way(text,
                  fmt::format("cannot find host '{}': {}", name.host, ::gai_strerror(status)));
  }
  std::unique_ptr<SwitchLine> line(new SwitchLine(text));
  int error = 0;
  for (const addrinfo* to = found; to != nullptr; to = to->ai_next) {
    Fd socket(::socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.valid() || ::connect(socket.get(), to->ai_addr, to->ai_addrlen) != 0) {
      error = errno;
      continue;
    }
    // SO_RCVBUFFORCE exceeds net.core.rmem_max and needs root.
    for (const int buffer : {SO_RCVBUF, SO_SNDBUF, SO_RCVBUFFORCE})
      (void)::setsockopt(socket.get(), SOL_SOCKET, buffer, &kBufferBytes, sizeof kBufferBytes);
    line->sockets_.push_back(std::move(socket));
  }
  if (line->sockets_.empty()) return no_way(text, system_text(error));
  return line;
}

unsigned SwitchLine::packets_held() const {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  if (::getsockopt(sockets_[address_].get(), SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0) bytes = 0;
  return static_cast<unsigned>(std::max(bytes / kPacketCost, 1));
}

void SwitchLine::join(const collective::SwitchHello::Terms& terms, Duration timeout) {
  hello_ = std::make_unique<collective::SwitchHello>(terms);
  collective::SwitchTerms sums;
  sums.workers = terms.workers;
  sums.slots = terms.slot;
  sums.values = terms.values;
  sums.job = terms.job;
  sums.serial = terms.serial;
  worker_ = std::make_unique<collective::SwitchWorker>(sums);
  timeout_ = timeout;
}

Result<bool> SwitchLine::greet(Time now) {
  receive(now);
  if (!greeted_ && !hello_->fault().empty()) {
    return Error{ErrorCode::kInvalidUsage, fmt::format("the switch {}: {}", text_, hello_->fault()),
                 "start it for as many workers as the group has ranks (--workers), and for one "
                 "job only"};
  }
  taken_at_ = std::min(taken_at_, now);
  if (!greeted_ && now - taken_at_ >= kAddressPatience) use_next_address(now);
  if (!greeted_ && now - asked_ >= kHelloPause) say_hello(now);
  return greeted_;
}

std::string SwitchLine::silence() const {
  return fmt::format(
      "{}: {}", text_,
      refused_ != kNever ? "its host reports that this rank's port is closed" : "no answer");
}

bool SwitchLine::start(std::span<const float> input, std::span<float> result, Time now) {
  taken_ = counts().taken;
  progress_ = kNever;
  looked_ = now;
  return worker_->start(input, result);
}

Status SwitchLine::drive(Time now) {
  if (now - looked_ >= kStoppedFor) {
    unanswered_ = refused_ = kNever;
    heard_ = now;
    progress_ = progress_ == kNever ? kNever : now;
  }
  looked_ = now;
  receive(now);
  transmit(now);
  return check(now);
}

void SwitchLine::receive(Time now) {
  for (std::size_t i = 0; i < sockets_.size(); ++i) {
    receive_from(i, now);
    if (greeted_ && sockets_.size() > 1) {
      Fd right = std::move(sockets_[i]);
      sockets_.clear();
      sockets_.push_back(std::move(right));
      address_ = 0;
    }
  }
  if (worker_ != nullptr && counts().taken > taken_) {
    taken_ = counts().taken;
    progress_ = now;
  }
}

void SwitchLine::receive_from(std::size_t address, Time now) {
  const int socket = sockets_[address].get();
  for (bool more = true; more;) {
    const int count = ::recvmmsg(socket, received_.headers.data(), kBatch, 0, nullptr);
    if (count < 0) {
      more = errno == ECONNREFUSED || errno == EINTR;
      on_error(address, errno, now);
      continue;
    }
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto datagram =
          std::span<const std::byte>(received_.bytes[at]).first(received_.headers[at].msg_len);
      if (hello_->read(datagram) == collective::SwitchHello::Answer::kRight)
        greeted_ = true;
      else if (greeted_)
        worker_->on_datagram(datagram, now);
      on_heard(now);
    }
    more = count == static_cast<int>(kBatch);
  }
}

void SwitchLine::transmit(Time now) {
  for (std::size_t count = kBatch; count == kBatch;) {
    count = 0;
    while (count < kBatch) {
      const auto packet = worker_->poll_transmit(now);
      if (packet.empty()) break;
      std::ranges::copy(packet, sent_.bytes[count].begin());
      sent_.vectors[count].iov_len = packet.size();
      ++count;
    }
    // Packets that the kernel does not accept are lost and sent again.
    if (count > 0 && ::sendmmsg(sockets_[address_].get(), sent_.headers.data(),
                                static_cast<unsigned>(count), 0) < 0)
      on_error(address_, errno, now);
  }
}

void SwitchLine::say_hello(Time now) {
  asked_ = now;
  unanswered_ = std::min(unanswered_, now);
  const auto packet = hello_->packet();
  if (::send(sockets_[address_].get(), packet.data(), packet.size(), 0) < 0)
    on_error(address_, errno, now);
}

// Handles an error that the kernel reports about an earlier packet.
void SwitchLine::on_error(std::size_t address, int error, Time now) {
  if (error == ECONNREFUSED) refused_ = std::min(refused_, now);
  const bool is_lost = error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH;
  if (is_lost && !greeted_ && address == address_) use_next_address(now);
}

// The switch may listen on another address of its host, or begin to listen on this one later.
void SwitchLine::use_next_address(Time now) {
  taken_at_ = now;
  address_ = (address_ + 1) % sockets_.size();
}

void SwitchLine::on_heard(Time now) {
  heard_ = now;
  unanswered_ = refused_ = kNever;
}

Status SwitchLine::check(Time now) {
  if (call() != collective::SwitchWorker::Call::kRunning) return Unit{};
  if (now - std::max(heard_, asked_) >= kAskPause) say_hello(now);
  const auto seconds = [](Duration d) { return std::chrono::duration<double>(d).count(); };
  const char* const hint = "its host, or the path to it, has failed; its unfinished sums are lost";
  if (refused_ != kNever && now - refused_ >= kRefusedMax) {
    return Error{ErrorCode::kRemote,
                 fmt::format("the switch {} is not reachable: its host reports that the port is "
                             "closed",
                             text_),
                 hint};
  }
  if (unanswered_ != kNever && now - unanswered_ >= timeout_) {
    return Error{ErrorCode::kRemote,
                 fmt::format("the switch {} has not answered for {:.1f} s", text_,
                             seconds(now - unanswered_)),
                 hint};
  }
  // Longer than the time after which the group's own connections report a silent rank.
  if (progress_ != kNever && now - progress_ >= timeout_ + timeout_ / 4) {
    return Error{ErrorCode::kRemote,
                 fmt::format("the switch {} answers, but one of its sums has made no progress "
                             "for {:.1f} s",
                             text_, seconds(now - progress_)),
                 "either it was restarted, or a rank stopped during an all-reduce"};
  }
  return Unit{};
}

}  // namespace dlcp::nccl
