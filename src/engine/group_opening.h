// A group of ranks while it is being set up, all or nothing: every rank opens its connections to
// all others that it has to do with (linked()) and takes theirs; who has all of them tells rank 0,
// and once rank 0 has heard that of everybody it commits. Nobody waits longer than the time-out for
// rank 0's word unless he has told it that he is ready; then rank 0 decides for him, or its silence
// ends the connection. A rank that fails declines to the others, so that they fail at once and in
// its words.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "engine/group_links.h"
#include "engine/group_rail.h"
#include "engine/group_word.h"
#include "engine/opening.h"
#include "engine/port.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::engine {

class GroupOpening {
 public:
  struct Plan {
    core::ContextId context = 0;
    GroupWord us;                             // the introduction, but for its lane
    std::vector<Opening::Peer> peers;         // by member; our own is passed over
    std::vector<core::ListenerId> listeners;  // ours, one on each lane of `listening`
    std::vector<GroupRail> rails;             // further ones; our places on them are in `us`
    Duration carrier_patience{};              // as Opening has it
    Duration timeout{};
  };
  enum class State : std::uint8_t { kPending, kReady, kFailed };

  // `port`: all lanes of the device; `listening`: those that the listeners are on.
  GroupOpening(const Port& port, const Port& listening, Plan plan);
  ~GroupOpening();  // closes what nobody has taken
  GroupOpening(const GroupOpening&) = delete;
  GroupOpening& operator=(const GroupOpening&) = delete;

  // Does what can be done now.
  State poll();
  const Error& error() const { return *error_; }  // kFailed; names the rank and the cause
  // kReady; once.
  GroupLinks take();
  // kReady: of the slowest device of the group, times its rails; so the same on all ranks.
  std::uint32_t slowest_mbps() const { return slowest_mbps_ * agreed_rails_; }
  std::uint32_t rails() const { return agreed_rails_; }  // kReady
  // For what the caller finds wrong himself: as if it had failed here.
  void fail(const Error& why);

 private:
  using Word = GroupWord::Word;
  using Lane = collective::Transfer::Lane;
  enum class Stage : std::uint8_t { kMeeting, kReporting, kDeciding, kDone };

  struct Call {  // a connection to a peer that is being opened
    GroupPlace place;
    Opening opening;
  };
  struct Passing {  // a word on its way, or one that is awaited
    GroupLink link;
    GroupWord::Bytes bytes{};
    Request* request = nullptr;
  };

  std::uint32_t members() const { return plan_.us.members(); }
  std::uint32_t rank() const { return plan_.us.rank; }
  bool has_link(const GroupPlace& place, bool sends) const;
  void plan_calls(std::uint32_t rail);
  void begin_calls();
  void poll_calls();
  void accept();
  bool accept_on(const engine::Lane& lane, core::ListenerId listener);
  void say(const GroupLink& link, Word word, const GroupPlace& place = {});
  void listen_to(const GroupLink& link);
  // Posts it if need be, and looks how it does; nullopt: not done, or this has failed. The bytes of
  // the message once it is.
  std::optional<std::size_t> pass(Passing& word, bool sends);
  void poll_said();
  void poll_heard();
  void on_word(const GroupLink& link, const GroupWord& word);
  void on_introduction(const GroupLink& link, const GroupWord& word);
  void advance();
  void check_time();
  // A connection has ended: a peer that fails says why to all listeners, and that may come later
  // than the end of what it had opened. Without a word this has failed after a while.
  void on_lost(const Error& why);
  bool has_come(std::uint32_t peer) const;
  std::string missing() const;
  void close_all();

  const Plan plan_;
  std::vector<GroupRail> rails_;
  const Time began_;
  Stage stage_ = Stage::kMeeting;
  GroupLinks links_;
  std::vector<GroupWord::Places> places_;  // by member
  std::uint32_t agreed_rails_;       // the fewest that anybody has, as far as we have met them
  std::uint32_t meets_on_ = 0;       // the rail on which connections are being opened
  std::vector<GroupPlace> to_call_;  // the last is the next
  std::list<Call> calls_;
  std::list<Passing> said_;
  std::list<Passing> heard_;
  std::vector<std::size_t> missing_links_;  // by rail
  std::uint32_t slowest_mbps_;
  std::vector<bool> ready_;        // by rank, at rank 0
  std::uint32_t ready_count_ = 1;  // itself
  std::optional<Error> lost_;      // nobody has said why yet
  Time lost_at_;
  std::optional<Error> error_;
};

}  // namespace dlcp::engine
