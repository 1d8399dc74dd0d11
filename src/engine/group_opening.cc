#include "engine/group_opening.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/clock.h"
#include "engine/route.h"

namespace dlcp::engine {
namespace {

// At once, by each rank: beginning behind itself, each listener meets about as many callers.
constexpr std::size_t kCallsMax = 16;
// A peer's word why it has failed comes within this, or not at all.
constexpr Duration kWordTime = std::chrono::milliseconds(500);

}  // namespace

GroupOpening::GroupOpening(const Port& port, const Port& listening, Plan plan)
    : port_(port),
      listening_(listening),
      plan_(std::move(plan)),
      began_(steady_now()),
      links_(plan_.us.ranks),
      missing_links_(GroupLinks::kPerPeer * (plan_.us.ranks - 1)),
      slowest_mbps_(plan_.us.speed_mbps),
      ready_(plan_.us.ranks) {
  ready_[rank()] = true;
  ready_count_ = 1;
}

GroupOpening::~GroupOpening() {
  close_all();
}

GroupOpening::State GroupOpening::poll() {
  if (error_) return State::kFailed;
  if (stage_ == Stage::kMeeting) {
    begin_calls();
    poll_calls();
  }
  if (stage_ == Stage::kMeeting || lost_) accept();
  poll_said();
  poll_heard();
  advance();
  check_time();
  if (error_) return State::kFailed;
  return stage_ == Stage::kDone ? State::kReady : State::kPending;
}

GroupLinks GroupOpening::take() {
  return std::exchange(links_, GroupLinks(0));
}

// The n-th call goes to the rank n/2 places behind us.
void GroupOpening::begin_calls() {
  while (!error_ && next_call_ < 2 * (ranks() - 1) && calls_.size() < kCallsMax) {
    const std::uint32_t peer = (rank() + 1 + next_call_ / 2) % ranks();
    const Lane lane = next_call_ % 2 == 0 ? Lane::kContributions : Lane::kResults;
    const Port lanes = port_.for_connection();
    auto route = choose_route(lanes, plan_.peers[peer].address);
    if (!route) {
      Error error = route.error();
      error.what = fmt::format("rank {}: {}", peer, error.what);
      return fail(error);
    }
    calls_.push_back(
        {peer, lane,
         Opening(lanes, plan_.context, plan_.peers[peer], route.value(), plan_.carrier_patience)});
    ++next_call_;
  }
}

void GroupOpening::poll_calls() {
  for (auto call = calls_.begin(); !error_ && call != calls_.end();) {
    const core::ConnectionState state = call->opening.poll();
    Connection* const connection = call->opening.connection();
    if (state == core::ConnectionState::kClosed) {
      on_lost({connection->failed.load() ? connection->error.code : ErrorCode::kRemote,
               fmt::format("rank {} cannot be reached: {}", call->peer,
                           connection->failed.load() ? connection->error.what : "it is gone"),
               "its log says why"});
      if (error_) return;
    }
    if (state != core::ConnectionState::kOpen) {
      ++call;
      continue;
    }
    GroupLink& link = links_.at(call->peer, call->lane, true);
    link = {port_.holder_of(connection->engine), connection};
    --missing_links_;
    say(link, Word::kIntroduction, call->lane);
    call = calls_.erase(call);
  }
}

void GroupOpening::accept() {
  const auto& lanes = listening_.lanes();
  for (std::size_t i = 0; !error_ && i < lanes.size(); ++i) {
    for (;;) {
      auto accepted = lanes[i].engine->accept(plan_.listeners[i], plan_.context);
      if (!accepted) {
        on_lost(accepted.error());
        break;
      }
      if (accepted.value() == nullptr) break;
      listen_to({lanes[i].engine, accepted.value()});
    }
  }
}

void GroupOpening::say(const GroupLink& link, Word word, Lane lane) {
  GroupWord spoken = plan_.us;
  spoken.word = word;
  spoken.lane = lane;
  said_.push_back({link, encode(spoken), nullptr});
}

void GroupOpening::listen_to(const GroupLink& link) {
  heard_.push_back({link, {}, nullptr});
}

std::optional<std::size_t> GroupOpening::pass(Passing& word, bool sends) {
  Engine& engine = *word.link.engine;
  if (word.request == nullptr) {
    const Memory memory{word.bytes.data(), word.bytes.size()};
    auto posted = sends ? engine.send(*word.link.connection, memory)
                        : engine.receive(*word.link.connection, memory);
    if (!posted) {
      on_lost(posted.error());
      return std::nullopt;
    }
    word.request = posted.value();
  }
  Request::Outcome outcome;
  const auto state =
      word.request == nullptr ? Request::State::kPending : engine.test(*word.request, outcome);
  if (state == Request::State::kFailed) on_lost(word.link.connection->error);
  return state == Request::State::kDone ? std::optional(outcome.bytes) : std::nullopt;
}

// pass() empties the lists when it fails.
void GroupOpening::poll_said() {
  for (auto said = said_.begin(); said != said_.end();) {
    const bool done = pass(*said, true).has_value();
    if (error_) return;
    said = done ? said_.erase(said) : std::next(said);
  }
}

void GroupOpening::poll_heard() {
  for (auto heard = heard_.begin(); heard != heard_.end();) {
    const auto bytes = pass(*heard, false);
    if (error_) return;
    if (!bytes) {
      ++heard;
      continue;
    }
    auto word = decode_group_word(std::span(heard->bytes).first(*bytes));
    if (!word) return fail(word.error());
    const GroupLink link = heard->link;
    heard = heard_.erase(heard);
    on_word(link, word.value());
    if (error_) return;
  }
}

void GroupOpening::on_word(const GroupLink& link, const GroupWord& word) {
  if (auto same = check_same_group(plan_.us, word); !same) return fail(same.error());
  if (word.word == Word::kIntroduction) return on_introduction(link, word);
  const bool known =
      links_.at(word.rank, Lane::kContributions, false).connection == link.connection;
  if (word.word == Word::kReady && rank() == 0 && known && !ready_[word.rank]) {
    ready_[word.rank] = true;
    ++ready_count_;
  } else if (word.word == Word::kCommit && word.rank == 0 && known && stage_ == Stage::kDeciding) {
    stage_ = Stage::kDone;
  } else {
    fail({ErrorCode::kInternal, fmt::format("rank {} spoke out of turn", word.rank), ""});
  }
}

void GroupOpening::on_introduction(const GroupLink& link, const GroupWord& word) {
  GroupLink& place = links_.at(word.rank, word.lane, false);
  if (word.rank == rank() || place.connection != nullptr) {
    return fail({ErrorCode::kInternal,
                 fmt::format("two connections say that they are rank {}'s", word.rank), ""});
  }
  place = link;
  --missing_links_;
  slowest_mbps_ = std::min(slowest_mbps_, word.speed_mbps);
  // What comes next on it: rank 0 hears who is ready, the others hear rank 0.
  if (word.lane == Lane::kContributions && (rank() == 0 || word.rank == 0)) listen_to(link);
}

void GroupOpening::advance() {
  if (error_) return;
  if (stage_ == Stage::kMeeting && missing_links_ == 0 && said_.empty()) {
    stage_ = Stage::kReporting;
    if (rank() != 0) {
      say(links_.at(0, Lane::kContributions, true), Word::kReady);
      stage_ = Stage::kDeciding;
    }
  }
  if (rank() == 0 && stage_ == Stage::kReporting && ready_count_ == ranks()) {
    for (std::uint32_t peer = 1; peer < ranks(); ++peer)
      say(links_.at(peer, Lane::kContributions, true), Word::kCommit);
    stage_ = Stage::kDeciding;
  }
  if (rank() == 0 && stage_ == Stage::kDeciding && said_.empty()) stage_ = Stage::kDone;
}

void GroupOpening::on_lost(const Error& why) {
  if (why.code != ErrorCode::kRemote) return fail(why);  // a word
  if (!lost_) {
    lost_ = why;
    lost_at_ = steady_now();
  }
}

// Who has said READY waits for rank 0's word, as long as the connection lives.
void GroupOpening::check_time() {
  if (!error_ && lost_ && steady_now() - lost_at_ >= kWordTime) return fail(*lost_);
  const bool waits_for_others = stage_ == Stage::kMeeting || stage_ == Stage::kReporting;
  if (!error_ && waits_for_others && steady_now() - began_ >= plan_.timeout) {
    fail({ErrorCode::kRemote,
          fmt::format("{} within {} s", missing(),
                      std::chrono::duration_cast<std::chrono::seconds>(plan_.timeout).count()),
          "see their logs; DLCP_COLLNET_TIMEOUT is how long they have"});
  }
}

// With all its connections; at rank 0, when it has all of its own, with word that it is ready.
bool GroupOpening::has_come(std::uint32_t peer) const {
  if (peer == rank() || stage_ == Stage::kReporting) return ready_[peer];
  const GroupLink* const first = &links_.all()[peer * GroupLinks::kPerPeer];
  return std::all_of(first, first + GroupLinks::kPerPeer,
                     [](const GroupLink& link) { return link.connection != nullptr; });
}

std::string GroupOpening::missing() const {
  std::string names;
  std::size_t count = 0;
  for (std::uint32_t peer = 0; peer < ranks(); ++peer)
    if (!has_come(peer) && ++count <= 8)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", peer);
  return fmt::format("{} {}{} {} not come", count == 1 ? "rank" : "ranks", names,
                     count > 8 ? fmt::format(" and {} more", count - 8) : "",
                     count == 1 ? "has" : "have");
}

void GroupOpening::fail(const Error& why) {
  if (error_) return;
  error_ = why;
  core::Refusal refusal{fmt::format("rank {} does not take part: {}", rank(), why.what), false};
  for (std::uint32_t peer = 0; peer < ranks(); ++peer) {
    if (peer == rank()) continue;
    const auto& listener = plan_.peers[peer];
    if (auto route = choose_route(port_, listener.address)) {
      port_.over(*route->over)
          ->engine->decline(plan_.context, listener.listener, route->to, refusal);
    }
  }
  close_all();
}

void GroupOpening::close_all() {
  for (const Call& call : calls_) {
    Connection* const connection = call.opening.connection();
    connection->engine->close(connection);
  }
  std::vector<Connection*> accepted;  // and not introduced: a link of heard_ alone
  for (const Passing& heard : heard_)
    accepted.push_back(heard.link.connection);
  for (GroupLink& link : links_.all()) {
    if (link.connection != nullptr) {
      std::erase(accepted, link.connection);
      link.engine->close(link.connection);
    }
  }
  for (Connection* const connection : accepted)
    connection->engine->close(connection);
  calls_.clear();
  said_.clear();
  heard_.clear();
  links_ = GroupLinks(0);
}

}  // namespace dlcp::engine
