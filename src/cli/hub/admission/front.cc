#include "cli/hub/admission/front.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "datapath/address/ip_address.h"
#include "engine/host/clock.h"
#include "util/system/system_text.h"

namespace dlcp::cli {
namespace {

using engine::steady_now;

constexpr std::size_t kStrangersMax = 4096;  // at a time, so that they take little memory
constexpr Duration kSpeaksWithin = 5s;
// If there is no room for another stranger. Ranks answer a challenge at once; idle connections must
// not keep them out for long.
constexpr Duration kSpeaksWithinIfFull = 500ms;
constexpr Duration kDoorPause = 500ms;
constexpr std::uint32_t kRefusalsLogged = 20;  // a minute
constexpr std::uint32_t kRanksMax = 256;
constexpr std::uint16_t kHubsMax = 256;
constexpr std::uint32_t kTimeoutMax = 3600;

// Half of the open files are left to ranks that belong to jobs.
std::size_t strangers_max() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return kStrangersMax;
  return std::clamp(static_cast<std::size_t>(files.rlim_cur / 2), std::size_t{1}, kStrangersMax);
}

}  // namespace

Front::Front(Door door, const FrontOptions& options, Tenants tenants, Drivers& drivers,
             HubJob::Say say)
    : door_(std::move(door)),
      options_(options),
      tenants_(std::move(tenants)),
      drivers_(drivers),
      say_(std::move(say)),
      strangers_max_(strangers_max()),
      door_log_(say_, 1),
      strangers_log_(say_, kRefusalsLogged),
      ranks_log_(say_, kRefusalsLogged) {}

void Front::serve(Duration wait) {
  // A caller that is silent after poll() was silent until this time at least, however long this
  // thread was away before.
  const Time asked_at = steady_now();
  const bool is_shut = asked_at < door_shut_until_ || strangers() >= strangers_max_;
  std::vector<pollfd> ready{{is_shut ? -1 : door_.socket.get(), POLLIN, 0}};
  std::vector<Seat*> seats;
  for (Seat& seat : seats_) {
    ready.push_back({seat.socket.get(), POLLIN, 0});
    seats.push_back(&seat);
  }
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  if (::poll(ready.data(), ready.size(), static_cast<int>(ms)) > 0) {
    for (std::size_t i = 0; i < seats.size(); ++i)
      if (ready[i + 1].revents != 0) hear(*seats[i]);
    if (ready[0].revents != 0) accept();
  }
  sweep(asked_at);
}

std::size_t Front::strangers() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      seats_, [](const Seat& seat) { return seat.job == nullptr && seat.socket.valid(); }));
}

// Callers beyond the limit stay in the backlog of the socket.
void Front::accept() {
  for (std::size_t waiting = strangers(); waiting < strangers_max_; ++waiting) {
    datapath::SocketAddress peer;
    peer.size = sizeof peer.v6;
    Fd socket(::accept4(door_.socket.get(), &peer.any, &peer.size, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) return pause_door(errno);
    const auto ip = datapath::ip_address_of(peer.any);
    const std::uint64_t count = challenges_++;
    const engine::HubChallenge challenge{wire::draw(door_.random, 2 * count),
                                         wire::draw(door_.random, 2 * count + 1)};
    seats_.push_back({std::move(socket), ip ? to_string(*ip) : "an unknown address",
                      Caller(challenge), steady_now(), nullptr});
    send(seats_.back(), seats_.back().caller.challenge());
  }
}

// Without resources for another connection, accept() fails and the door stays readable, so poll()
// would return at once.
void Front::pause_door(int error) {
  if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM) return;
  const Time now = steady_now();
  door_shut_until_ = now + kDoorPause;
  door_log_.say(now,
                fmt::format("cannot accept connections of ranks now: {}; raise the limit on open "
                            "files (ulimit -n, LimitNOFILE= of a unit)",
                            system_text(error)));
}

void Front::hear(Seat& seat) {
  std::byte buffer[engine::kHubFrameBytesMax];
  const auto got = ::recv(seat.socket.get(), buffer, sizeof buffer, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return gone(seat);
  const auto bytes = std::span<const std::byte>(buffer).first(static_cast<std::size_t>(got));
  switch (seat.caller.on_bytes(bytes, tenants_)) {
    case Caller::State::kAsks:
      return let_in(seat);
    case Caller::State::kRefused:
      ++refused_[seat.job != nullptr || seat.caller.tenant() != nullptr ? "wrong" : "stranger"];
      strangers_log_.say(steady_now(), fmt::format("refused a connection from {}: {}", seat.from,
                                                   seat.caller.why()));
      send(seat, seat.caller.refusal());
      return gone(seat);
    case Caller::State::kLeft:
      return gone(seat);
    case Caller::State::kStranger:
    case Caller::State::kSeated:
      return;
  }
}

void Front::let_in(Seat& seat) {
  const engine::HubJoin& join = seat.caller.join();
  auto found = jobs_.find(join.job);
  std::string why = found == jobs_.end() ? why_not(seat.caller) : "";
  if (why.empty() && found == jobs_.end()) {
    try {
      found = begin(join, *seat.caller.tenant());
    } catch (const std::bad_alloc&) {
      why = "the hub has no memory for the job; check --memory, --lock-memory and ulimit -l";
    }
  }
  if (why.empty()) {
    why = &found->second->tenant() == seat.caller.tenant() ? found->second->seat(join)
                                                           : "the group belongs to another tenant";
  }
  if (!why.empty()) {
    ++refused_["full"];
    ranks_log_.say(steady_now(), fmt::format("rank {} of group {:016x} refused, at {}: {}",
                                             join.us.rank, join.us.group, seat.from, why));
    send(seat, seat.caller.answer({why, {}}));
    return gone(seat);
  }
  seat.job = found->second;
  send(seat, seat.caller.answer({"", found->second->peer()}));
}

Front::Jobs::iterator Front::begin(const engine::HubJoin& join, Tenant& tenant) {
  const auto job =
      std::make_shared<HubJob>(*door_.registry, door_.port, door_.speed_mbps, join, tenant, say_);
  drivers_.give(job);
  const auto place = jobs_.emplace(join.job, job).first;
  memory_ += join.us.staging;
  tenant.memory += join.us.staging;
  ++tenant.jobs;
  ++tenant.jobs_served;
  return place;
}

// Why the first rank of a job is refused; empty: it is accepted.
std::string Front::why_not(const Caller& caller) const {
  const engine::HubJoin& join = caller.join();
  const Tenant& tenant = *caller.tenant();
  if (drains_) return "the hub is shutting down and accepts no new jobs";
  if (join.us.ranks > kRanksMax || join.us.hubs > kHubsMax || join.timeout_s == 0 ||
      join.timeout_s > kTimeoutMax)
    return fmt::format(
        "the group asks for {} ranks, {} hubs and a set-up time of {} s; the limits are {}, {} "
        "and {} s",
        join.us.ranks, join.us.hubs, join.timeout_s, kRanksMax, kHubsMax, kTimeoutMax);
  if (join.secret_fingerprint != door_.secret_fingerprint)
    return "DLCP_SECRET_FILE differs between the ranks and the hub";
  if (join.encrypts != door_.encrypts) return "DLCP_ENCRYPT differs between the ranks and the hub";
  if (jobs_.size() >= options_.jobs_max)
    return fmt::format("full: the hub has {} jobs, the limit of --jobs", jobs_.size());
  if (tenant.jobs >= tenant.jobs_max)
    return fmt::format("full: tenant {} has {} jobs, its limit", tenant.name, tenant.jobs);
  if (join.us.staging > options_.memory_max - memory_)
    return fmt::format(
        "full: the job asks for {} bytes (DLCP_COLLNET_MEMORY), but {} of --memory {} are left",
        join.us.staging, options_.memory_max - memory_, options_.memory_max);
  if (join.us.staging > tenant.memory_max - tenant.memory)
    return fmt::format(
        "full: the job asks for {} bytes (DLCP_COLLNET_MEMORY), but {} of the {} bytes of "
        "tenant {} are left",
        join.us.staging, tenant.memory_max - tenant.memory, tenant.memory_max, tenant.name);
  return "";
}

// A frame is smaller than any socket buffer; if the buffer is full, the frame is dropped.
void Front::send(Seat& seat, const engine::HubFrame& frame) {
  (void)::send(seat.socket.get(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Front::gone(Seat& seat) {
  if (seat.job != nullptr)
    seat.job->leave(seat.caller.join().us.rank, seat.caller.state() == Caller::State::kLeft);
  seat.job.reset();
  seat.socket.reset();
}

void Front::sweep(Time asked_at) {
  const bool is_full = strangers() >= strangers_max_;
  const Duration patience = is_full ? kSpeaksWithinIfFull : kSpeaksWithin;
  std::size_t silent = 0;
  for (Seat& seat : seats_) {
    if (seat.job == nullptr && seat.socket.valid() && asked_at - seat.since > patience) {
      ++silent;
      gone(seat);
    }
    if (seat.job != nullptr && seat.job->over()) gone(seat);
  }
  const Time now = steady_now();
  if (silent > 0) {
    refused_["stranger"] += silent;
    strangers_log_.say(
        now, fmt::format("closed {} connection{} without a request for {}", silent,
                         silent == 1 ? "" : "s", is_full ? "0.5 s, as too many wait" : "5 s"));
  }
  strangers_log_.tick(now);
  ranks_log_.tick(now);
  std::erase_if(seats_, [](const Seat& seat) { return !seat.socket.valid(); });
  std::erase_if(jobs_, [this](const Jobs::value_type& each) {
    HubJob& job = *each.second;
    if (!job.over()) return false;
    Tenant& tenant = job.tenant();
    memory_ -= job.terms().us.staging;
    tenant.memory -= job.terms().us.staging;
    --tenant.jobs;
    tenant.jobs_failed += job.failed();
    tenant.calls += job.counts().calls;
    tenant.bytes += job.counts().bytes;
    return true;
  });
}

void Front::end_all(const std::string& why) {
  for (const auto& [id, job] : jobs_)
    job->end(why);
}

std::string Front::metrics() {
  struct Sums {
    std::uint64_t calls, bytes;
  };
  std::map<const Tenant*, Sums> sums;
  for (const auto& tenant : tenants_)
    sums[tenant.get()] = {tenant->calls, tenant->bytes};
  for (const auto& [id, job] : jobs_) {
    const HubJob::Counts counts = job->counts();
    sums[&job->tenant()].calls += counts.calls;
    sums[&job->tenant()].bytes += counts.bytes;
  }
  std::string out;
  const auto metric = [&](const char* name, const char* type, const char* help, auto value) {
    out += fmt::format("# HELP dlcp_hub_{} {}\n# TYPE dlcp_hub_{} {}\n", name, help, name, type);
    for (const auto& tenant : tenants_)
      out += fmt::format("dlcp_hub_{}{{tenant=\"{}\"}} {}\n", name, tenant->name, value(*tenant));
  };
  metric(
      "jobs", "gauge", "Jobs that the hub serves now.", [](const Tenant& t) { return t.jobs; });
  metric(
      "memory_bytes", "gauge", "Memory reserved for jobs.",
      [](const Tenant& t) { return t.memory; });
  metric(
      "jobs_total", "counter", "Jobs that have started.",
      [](const Tenant& t) { return t.jobs_served; });
  metric(
      "jobs_failed_total", "counter", "Jobs that ended with an error.",
      [](const Tenant& t) { return t.jobs_failed; });
  metric(
      "calls_total", "counter", "All-reduces in which this hub added blocks.",
      [&](const Tenant& t) { return sums[&t].calls; });
  metric("contributed_bytes_total", "counter", "Bytes of contributions received.",
         [&](const Tenant& t) { return sums[&t].bytes; });
  out +=
      "# HELP dlcp_hub_refused_total Refused connections of ranks.\n# TYPE "
      "dlcp_hub_refused_total counter\n";
  for (const auto& [reason, count] : refused_)
    out += fmt::format("dlcp_hub_refused_total{{reason=\"{}\"}} {}\n", reason, count);
  out += fmt::format(
      "# HELP dlcp_hub_draining 1 while the hub shuts down and refuses new jobs.\n# TYPE "
      "dlcp_hub_draining gauge\ndlcp_hub_draining {}\n",
      drains_ ? 1 : 0);
  return out;
}

}  // namespace dlcp::cli
