#include "engine/group/group_opening.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/host/clock.h"
#include "engine/opening/route.h"
#include "util/check.h"

namespace dlcp::engine {
namespace {

// Limit per rank. Each rank begins with the next rank, so each listener has about as many callers.
constexpr std::size_t kCallsMax = 16;
// The reason of a peer's failure arrives within this time, or not at all.
constexpr Duration kWordTime = std::chrono::milliseconds(500);

}  // namespace

GroupOpening::GroupOpening(const Port& port, const Port& listening, Plan plan)
    : plan_(std::move(plan)),
      rails_{GroupRail{port, listening, plan_.listeners}},
      began_(steady_now()),
      links_(members(), rank(), plan_.us.rails),
      places_(members()),
      agreed_rails_(plan_.us.rails),
      missing_links_(1),
      slowest_mbps_(plan_.us.speed_mbps),
      ready_(members()) {
  rails_.insert(rails_.end(), plan_.rails.begin(), plan_.rails.end());
  check(rails_.size() == plan_.us.rails && (rails_.size() == 1 || plan_.us.hubs == 0),
        "as many rails as the group is told of, and one where there are hubs");
  ready_[rank()] = true;
  for (std::uint32_t peer = 0; peer < members(); ++peer)
    for (const Lane lane : {Lane::kResults, Lane::kContributions})
      missing_links_[0] += has_link({peer, lane}, true) + has_link({peer, lane}, false);
  missing_links_.assign(rails_.size(), missing_links_[0]);
  plan_calls(0);
}

// Begins with the next rank, so that not all ranks call the same one first.
void GroupOpening::plan_calls(std::uint32_t rail) {
  for (std::uint32_t turn = members() - 1; turn > 0; --turn) {
    for (const Lane lane : {Lane::kResults, Lane::kContributions}) {
      const GroupPlace place{(rank() + turn) % members(), lane, rail};
      if (has_link(place, true)) to_call_.push_back(place);
    }
  }
}

bool GroupOpening::has_link(const GroupPlace& place, bool sends) const {
  return linked(plan_.us.ranks, plan_.us.hubs, sends ? rank() : place.peer,
                sends ? place.peer : rank(), place.lane);
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
  poll_outgoing();
  poll_incoming();
  advance();
  check_time();
  if (error_) return State::kFailed;
  // The words in outgoing_ are sent from this object's memory.
  return stage_ == Stage::kDone && outgoing_.empty() ? State::kReady : State::kPending;
}

GroupLinks GroupOpening::take() {
  links_.keep_rails(agreed_rails_);
  return std::exchange(links_, GroupLinks());
}

void GroupOpening::begin_calls() {
  while (!error_ && !to_call_.empty() && calls_.size() < kCallsMax) {
    const GroupPlace place = to_call_.back();
    auto opening = call(place);
    if (!opening) {
      Error error = opening.error();
      error.what = fmt::format("{}: {}", member_name(plan_.us, place.peer), error.what);
      return fail(error);
    }
    calls_.push_back({place, std::move(opening).value()});
    to_call_.pop_back();
  }
}

Result<Opening> GroupOpening::call(const GroupPlace& place) const {
  const bool is_first_rail = place.rail == 0;
  const Opening::Peer& peer =
      is_first_rail ? plan_.peers[place.peer] : places_[place.peer][place.rail - 1];
  OpeningWays ways;
  if (is_first_rail && plan_.ways_to) ways = plan_.ways_to(peer.address);
  const Way* const first = ways.ways.all.empty() ? nullptr : &ways.ways.all.front();
  auto port = first != nullptr ? ways.port_of(first->device) : Result(rails_[place.rail].port);
  if (!port) return port.error();
  const Port lanes = port->for_connection();
  auto route = choose_route(lanes, first != nullptr ? first->to : peer.address);
  if (!route) return route.error();
  return Opening(lanes, plan_.context, peer, route.value(), plan_.carrier_patience,
                 Opening::Over::kOneLane, std::move(ways));
}

void GroupOpening::poll_calls() {
  for (auto call = calls_.begin(); !error_ && call != calls_.end();) {
    const core::ConnectionState state = call->opening.poll();
    if (state == core::ConnectionState::kClosed) {
      const Connection* const lost = call->opening.connection();
      const bool has_failed = lost != nullptr && lost->failed.load();
      const Error gone{ErrorCode::kRemote, "the connection was closed", ""};
      const Error why = call->opening.failure().value_or(has_failed ? lost->error : gone);
      on_lost(
          {why.code,
           fmt::format("cannot reach {}: {}", member_name(plan_.us, call->place.peer), why.what),
           "see its log for the reason"});
      if (error_) return;
    }
    if (state != core::ConnectionState::kOpen) {
      ++call;
      continue;
    }
    const GroupPlace& place = call->place;
    const Bundle opened = call->opening.bundle();
    GroupLink& link = links_.at(place.peer, place.lane, true, place.rail);
    link = {opened.members().front().engine, opened.members().front().connection};
    --missing_links_[place.rail];
    send_word(link, Word::kIntroduction, place);
    call = calls_.erase(call);
  }
}

void GroupOpening::accept() {
  for (const GroupRail& rail : rails_) {
    const auto& lanes = rail.listening.lanes();
    for (std::size_t i = 0; !error_ && i < lanes.size(); ++i) {
      while (accept_on(lanes[i], rail.listeners[i])) {
      }
    }
  }
}

bool GroupOpening::accept_on(const engine::Lane& lane, core::ListenerId listener) {
  auto accepted = lane.engine->accept(listener, plan_.context);
  if (!accepted) {
    on_lost(accepted.error());
    return false;
  }
  if (accepted.value() == nullptr) return false;
  expect_word({lane.engine, accepted.value()});
  return true;
}

void GroupOpening::send_word(const GroupLink& link, Word word, const GroupPlace& place) {
  GroupWord spoken = plan_.us;
  spoken.word = word;
  spoken.lane = place.lane;
  spoken.rail = static_cast<std::uint8_t>(place.rail);
  if (word == Word::kCommit) spoken.speed_mbps = slowest_mbps_;  // the minimum over all members
  outgoing_.push_back({link, encode(spoken), nullptr});
}

void GroupOpening::expect_word(const GroupLink& link) {
  incoming_.push_back({link, {}, nullptr});
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

// pass() clears the lists on failure. After the commit, the failure of a connection is reported by
// the group, as on all other ranks.
void GroupOpening::poll_outgoing() {
  for (auto word = outgoing_.begin(); word != outgoing_.end();) {
    const bool done = pass(*word, true).has_value() ||
                      (stage_ == Stage::kDone && word->link.connection->failed.load());
    if (error_) return;
    word = done ? outgoing_.erase(word) : std::next(word);
  }
}

void GroupOpening::poll_incoming() {
  for (auto heard = incoming_.begin(); heard != incoming_.end();) {
    const auto bytes = pass(*heard, false);
    if (error_) return;
    if (!bytes) {
      ++heard;
      continue;
    }
    auto word = decode_group_word(std::span(heard->bytes).first(*bytes));
    if (!word) return fail(word.error());
    const GroupLink link = heard->link;
    heard = incoming_.erase(heard);
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
    slowest_mbps_ = word.speed_mbps;
    stage_ = Stage::kDone;
  } else {
    fail({ErrorCode::kInternal,
          fmt::format("{} sent an unexpected control message", member_name(plan_.us, word.rank)),
          ""});
  }
}

void GroupOpening::on_introduction(const GroupLink& link, const GroupWord& word) {
  const bool fits = word.rail < rails_.size() && has_link({word.rank, word.lane}, false);
  if (!fits || links_.at(word.rank, word.lane, false, word.rail).connection != nullptr) {
    return fail({ErrorCode::kInternal,
                 fmt::format("there are two connections from {}", member_name(plan_.us, word.rank)),
                 ""});
  }
  links_.at(word.rank, word.lane, false, word.rail) = link;
  --missing_links_[word.rail];
  slowest_mbps_ = std::min(slowest_mbps_, word.speed_mbps);
  places_[word.rank] = word.places;
  agreed_rails_ = std::min<std::uint32_t>(agreed_rails_, word.rails);
  // The next message on this connection: rank 0 receives reports, the other ranks receive rank 0's
  // decision.
  const bool first = word.lane == Lane::kContributions && word.rail == 0;
  if (first && (rank() == 0 || word.rank == 0)) expect_word(link);
}

void GroupOpening::advance() {
  if (error_) return;
  if (stage_ == Stage::kMeeting && missing_links_[meets_on_] == 0 && outgoing_.empty() &&
      meets_on_ + 1 < agreed_rails_)  // all members have stated their rails
    plan_calls(++meets_on_);
  if (stage_ == Stage::kMeeting && missing_links_[meets_on_] == 0 && outgoing_.empty()) {
    stage_ = Stage::kReporting;
    if (rank() != 0) {
      send_word(links_.at(0, Lane::kContributions, true), Word::kReady);
      stage_ = Stage::kDeciding;
    }
  }
  if (rank() == 0 && stage_ == Stage::kReporting && ready_count_ == members()) {
    for (std::uint32_t peer = 1; peer < members(); ++peer)
      send_word(links_.at(peer, Lane::kContributions, true), Word::kCommit);
    stage_ = Stage::kDeciding;
  }
  if (rank() == 0 && stage_ == Stage::kDeciding && outgoing_.empty()) stage_ = Stage::kDone;
}

void GroupOpening::on_lost(const Error& why) {
  if (why.code != ErrorCode::kRemote) return fail(why);  // not a consequence but the reason
  if (!lost_) {
    lost_ = why;
    lost_at_ = steady_now();
  }
}

// A rank that has sent kReady waits for rank 0's decision as long as the connection lives.
void GroupOpening::check_time() {
  if (!error_ && lost_ && steady_now() - lost_at_ >= kWordTime) return fail(*lost_);
  const bool waits_for_others = stage_ == Stage::kMeeting || stage_ == Stage::kReporting;
  if (!error_ && waits_for_others && steady_now() - began_ >= plan_.timeout) {
    fail({ErrorCode::kRemote,
          fmt::format("{} within {:g} s", missing(),
                      std::chrono::duration<double>(plan_.timeout).count()),
          "see their logs; DLCP_COLLNET_TIMEOUT sets the time limit"});
  }
}

// True if all connections of the peer exist; on rank 0 in kReporting, if the peer has reported that
// it is ready.
bool GroupOpening::has_come(std::uint32_t peer) const {
  if (peer == rank() || stage_ == Stage::kReporting) return ready_[peer];
  for (const Lane lane : {Lane::kContributions, Lane::kResults}) {
    for (const bool sends : {false, true}) {
      const GroupLink& link = links_.all()[links_.index(peer, lane, sends, meets_on_)];
      if (has_link({peer, lane}, sends) && link.connection == nullptr) return false;
    }
  }
  return true;
}

std::string GroupOpening::missing() const {
  std::string names;
  std::size_t count = 0;
  bool hubs_alone = true;
  for (std::uint32_t peer = 0; peer < members(); ++peer) {
    if (!has_come(peer) && ++count <= 8) {
      const bool hub = peer >= plan_.us.ranks;
      hubs_alone = hubs_alone && hub;
      names += fmt::format("{}{}{}", names.empty() ? "" : ", ", hub && !hubs_alone ? "hub " : "",
                           hub ? peer - plan_.us.ranks : peer);
    }
  }
  const char* const what = hubs_alone ? "hub" : "rank";
  return fmt::format("{}{} {}{} {} not connected", what, count == 1 ? "" : "s", names,
                     count > 8 ? fmt::format(" and {} more", count - 8) : "",
                     count == 1 ? "has" : "have");
}

void GroupOpening::fail(const Error& why) {
  if (error_) return;
  error_ = why;
  core::Refusal refusal{
      fmt::format("{} does not take part: {}", member_name(plan_.us, rank()), why.what), false};
  for (std::uint32_t peer = 0; peer < members(); ++peer) {
    const auto& listener = plan_.peers[peer];
    if (peer == rank() || listener.address.size == 0)  // or a hub whose address is unknown
      continue;
    if (auto route = choose_route(rails_[0].port, listener.address)) {
      rails_[0]
          .port.over(*route->over)
          ->engine->decline(plan_.context, listener.listener, route->to, refusal);
    }
  }
  close_all();
}

void GroupOpening::close_all() {
  for (const Call& call : calls_)
    if (Connection* const connection = call.opening.connection(); connection != nullptr)
      connection->engine->close(connection);
  std::vector<Connection*> accepted;  // without introduction: links only in incoming_
  for (const Passing& heard : incoming_)
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
  outgoing_.clear();
  incoming_.clear();
  links_ = GroupLinks();
}

}  // namespace dlcp::engine
