// A group of ranks while it is being set up, all or nothing: every rank opens its connections to
// all others and takes theirs; who has all of them tells rank 0, and once rank 0 has heard that of
// everybody it commits. Nobody waits longer than the time-out for rank 0's word unless he has told
// it that he is ready; then rank 0 decides for him, or its silence ends the connection. A rank that
// fails declines to the others, so that they fail at once and in its words.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "engine/group_links.h"
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
    std::vector<Opening::Peer> peers;         // by rank; our own is passed over
    std::vector<core::ListenerId> listeners;  // ours, one on each lane of `listening`
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
  // kReady: of the slowest device of the group, so the same on all ranks.
  std::uint32_t slowest_mbps() const { return slowest_mbps_; }
  // For what the caller finds wrong himself: as if it had failed here.
  void fail(const Error& why);

 private:
  using Word = GroupWord::Word;
  using Lane = collective::Transfer::Lane;
  enum class Stage : std::uint8_t { kMeeting, kReporting, kDeciding, kDone };

  struct Call {  // a connection to a peer that is being opened
    std::uint32_t peer = 0;
    Lane lane = Lane::kContributions;
    Opening opening;
  };
  struct Passing {  // a word on its way, or one that is awaited
    GroupLink link;
    GroupWord::Bytes bytes{};
    Request* request = nullptr;
  };

  std::uint32_t ranks() const { return plan_.us.ranks; }
  std::uint32_t rank() const { return plan_.us.rank; }
  void begin_calls();
  void poll_calls();
  void accept();
  void say(const GroupLink& link, Word word, Lane lane = Lane::kContributions);
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

  const Port port_;
  const Port listening_;
  const Plan plan_;
  const Time began_;
  Stage stage_ = Stage::kMeeting;
  GroupLinks links_;
  std::uint32_t next_call_ = 0;  // of 2 (ranks - 1)
  std::list<Call> calls_;
  std::list<Passing> said_;
  std::list<Passing> heard_;
  std::size_t missing_links_;
  std::uint32_t slowest_mbps_;
  std::vector<bool> ready_;  // by rank, at rank 0
  std::uint32_t ready_count_ = 0;
  std::optional<Error> lost_;  // nobody has said why yet
  Time lost_at_;
  std::optional<Error> error_;
};

}  // namespace dlcp::engine
