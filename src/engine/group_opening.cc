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
  if (error_) {
    return State::kFailed;
  }
  if (stage_ == Stage::kMeeting) {
    begin_calls();
    poll_calls();
    accept();
  }
  poll_said();
  poll_heard();
  advance();
  check_time();
  if (error_) {
    return State::kFailed;
  }
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
      return fail({ErrorCode::kRemote,
                   fmt::format("rank {} cannot be reached: {}", call->peer,
                               connection->failed.load() ? connection->error.what : "it is gone"),
                   "its log says why"});
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
        return fail(accepted.error());
      }
      if (accepted.value() == nullptr) {
        break;
      }
      listen_to({lanes[i].engine, accepted.value()});
    }
  }
}

void GroupOpening::say(const GroupLink& link, Word word, Lane lane) {
  GroupWord spoken = plan_.us;
  spoken.word = word;
  spoken.lane = lane;
  said_.push_back({link, nullptr, encode(spoken)});
}

void GroupOpening::listen_to(const GroupLink& link) {
  heard_.push_back({link, nullptr, {}});
}

void GroupOpening::poll_said() {
  for (auto said = said_.begin(); !error_ && said != said_.end();) {
    if (said->request == nullptr) {
      auto sent =
          said->link.engine->send(*said->link.connection, {said->bytes.data(), said->bytes.size()});
      if (!sent) {
        return fail(sent.error());
      }
      said->request = sent.value();
    }
    Request::Outcome outcome;
    const auto state = said->request == nullptr ? Request::State::kPending
                                                : said->link.engine->test(*said->request, outcome);
    if (state == Request::State::kFailed) {
      return fail(said->link.connection->error);
    }
    said = state == Request::State::kDone ? said_.erase(said) : std::next(said);
  }
}

void GroupOpening::poll_heard() {
  for (auto heard = heard_.begin(); !error_ && heard != heard_.end();) {
    if (heard->request == nullptr) {
      auto posted = heard->link.engine->receive(*heard->link.connection,
                                                {heard->bytes.data(), heard->bytes.size()});
      if (!posted) {
        return fail(posted.error());
      }
      heard->request = posted.value();
    }
    Request::Outcome outcome;
    const auto state = heard->request == nullptr
                           ? Request::State::kPending
                           : heard->link.engine->test(*heard->request, outcome);
    if (state == Request::State::kFailed) {
      return fail(heard->link.connection->error);
    }
    if (state != Request::State::kDone) {
      ++heard;
      continue;
    }
    auto word = decode_group_word(std::span(heard->bytes).first(outcome.bytes));
    if (!word) {
      return fail(word.error());
    }
    const GroupLink link = heard->link;
    heard = heard_.erase(heard);
    on_word(link, word.value());
  }
}

void GroupOpening::on_word(const GroupLink& link, const GroupWord& word) {
  if (auto same = check_same_group(plan_.us, word); !same) {
    return fail(same.error());
  }
  if (word.word == Word::kIntroduction) {
    return on_introduction(link, word);
  }
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
  if (word.lane == Lane::kContributions && (rank() == 0 || word.rank == 0)) {
    listen_to(link);
  }
}

void GroupOpening::advance() {
  if (error_) {
    return;
  }
  if (stage_ == Stage::kMeeting && missing_links_ == 0 && said_.empty()) {
    stage_ = Stage::kReporting;
    if (rank() != 0) {
      say(links_.at(0, Lane::kContributions, true), Word::kReady);
      stage_ = Stage::kDeciding;
    }
  }
  if (rank() == 0 && stage_ == Stage::kReporting && ready_count_ == ranks()) {
    for (std::uint32_t peer = 1; peer < ranks(); ++peer) {
      say(links_.at(peer, Lane::kContributions, true), Word::kCommit);
    }
    stage_ = Stage::kDeciding;
  }
  if (rank() == 0 && stage_ == Stage::kDeciding && said_.empty()) {
    stage_ = Stage::kDone;
  }
}

void GroupOpening::check_time() {
  const bool decides = rank() == 0 ? stage_ == Stage::kReporting : false;
  if (!error_ && (stage_ == Stage::kMeeting || decides) && steady_now() - began_ >= plan_.timeout) {
    fail({ErrorCode::kRemote,
          fmt::format("{} within {} s", missing(),
                      std::chrono::duration_cast<std::chrono::seconds>(plan_.timeout).count()),
          "see their logs; DLCP_COLLNET_TIMEOUT is how long they have"});
  }
}

std::string GroupOpening::missing() const {
  std::string names;
  std::size_t count = 0;
  for (std::uint32_t peer = 0; peer < ranks(); ++peer) {
    bool whole = peer == rank() || stage_ != Stage::kMeeting;
    if (stage_ == Stage::kReporting) {
      whole = ready_[peer];
    } else if (peer != rank()) {
      auto& links = const_cast<GroupOpening*>(this)->links_.all();
      const auto* first = &links[peer * GroupLinks::kPerPeer];
      whole = std::all_of(first, first + GroupLinks::kPerPeer,
                          [](const GroupLink& link) { return link.connection != nullptr; });
    }
    if (!whole && ++count <= 8) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", peer);
    }
  }
  return fmt::format("{} {}{} {} not come", count == 1 ? "rank" : "ranks", names,
                     count > 8 ? fmt::format(" and {} more", count - 8) : "",
                     count == 1 ? "has" : "have");
}

void GroupOpening::fail(const Error& why) {
  if (error_) {
    return;
  }
  error_ = why;
  core::Refusal refusal{fmt::format("rank {} does not take part: {}", rank(), why.what), false};
  for (std::uint32_t peer = 0; peer < ranks(); ++peer) {
    if (peer == rank()) {
      continue;
    }
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
  for (const Heard& heard : heard_) {
    accepted.push_back(heard.link.connection);
  }
  for (GroupLink& link : links_.all()) {
    if (link.connection != nullptr) {
      std::erase(accepted, link.connection);
      link.engine->close(link.connection);
    }
  }
  for (Connection* const connection : accepted) {
    connection->engine->close(connection);
  }
  calls_.clear();
  said_.clear();
  heard_.clear();
  links_ = GroupLinks(0);
}

}  // namespace dlcp::engine
