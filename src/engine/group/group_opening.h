// The set-up of a group of ranks, which either succeeds on all ranks or fails on all. Every rank
// opens its connections to the members that it needs (linked()) and accepts those of its peers. A
// rank that has all connections informs rank 0, which commits once all ranks have done so. A rank
// that has not reported to rank 0 gives up after the timeout. After its report, rank 0 decides, or
// the connection to it fails. A rank that fails declines to the others with its reason.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "engine/devices/port.h"
#include "engine/group/group_links.h"
#include "engine/group/group_rail.h"
#include "engine/group/group_word.h"
#include "engine/opening/opening.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::engine {

class GroupOpening {
 public:
  struct Plan {
    core::ContextId context = 0;
    GroupWord us;                             // the introduction, except for its lane
    std::vector<Opening::Peer> peers;         // by member; the own entry is ignored
    std::vector<core::ListenerId> listeners;  // local, one on each lane of `listening`
    std::vector<GroupRail> rails;             // further rails; their listeners' places are in `us`
    // For the first rail; the peers then listen on their spare devices too.
    std::function<OpeningWays(const wire::EndpointAddress& peer)> ways_to;
    Duration carrier_patience{};  // see Opening
    Duration timeout{};
  };
  enum class State : std::uint8_t { kPending, kReady, kFailed };

  // `port`: all lanes of the device; `listening`: those that the listeners are on.
  GroupOpening(const Port& port, const Port& listening, Plan plan);
  ~GroupOpening();  // closes connections that take() has not returned
  GroupOpening(const GroupOpening&) = delete;
  GroupOpening& operator=(const GroupOpening&) = delete;

  State poll();                                   // makes all progress that is possible now
  const Error& error() const { return *error_; }  // in kFailed; names the rank and the cause
  GroupLinks take();                              // in kReady, and only once
  // In kReady: speed of the slowest device times the number of rails; the same on all ranks.
  std::uint32_t slowest_mbps() const { return slowest_mbps_ * agreed_rails_; }
  std::uint32_t rails() const { return agreed_rails_; }  // in kReady
  // Fails the set-up for an error that the caller has found.
  void fail(const Error& why);

 private:
  using Word = GroupWord::Word;
  using Lane = collective::Transfer::Lane;
  enum class Stage : std::uint8_t { kMeeting, kReporting, kDeciding, kDone };

  struct Call {  // a connection to a peer that is being opened
    GroupPlace place;
    Opening opening;
  };
  struct Passing {  // a message that is being sent or received
    GroupLink link;
    GroupWord::Bytes bytes{};
    Request* request = nullptr;
  };

  std::uint32_t members() const { return plan_.us.members(); }
  std::uint32_t rank() const { return plan_.us.rank; }
  bool has_link(const GroupPlace& place, bool sends) const;
  void plan_calls(std::uint32_t rail);
  void begin_calls();
  Result<Opening> call(const GroupPlace& place) const;
  void poll_calls();
  void accept();
  bool accept_on(const engine::Lane& lane, core::ListenerId listener);
  void send_word(const GroupLink& link, Word word, const GroupPlace& place = {});
  void expect_word(const GroupLink& link);
  // Posts the message if necessary and tests it. Returns the number of bytes once it is complete;
  // nullopt if it is not, or if the set-up has failed.
  std::optional<std::size_t> pass(Passing& word, bool sends);
  void poll_outgoing();
  void poll_incoming();
  void on_word(const GroupLink& link, const GroupWord& word);
  void on_introduction(const GroupLink& link, const GroupWord& word);
  void advance();
  void check_time();
  // Handles the end of a connection. A failing peer sends its reason to all listeners, which may
  // arrive after the end of the connections that it had opened. Without a reason, the set-up fails
  // after a short wait.
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
  std::uint32_t agreed_rails_;             // the smallest number that any member met so far has
  std::uint32_t meets_on_ = 0;             // the rail whose connections are being opened
  std::vector<GroupPlace> to_call_;        // the last entry is the next to open
  std::list<Call> calls_;
  std::list<Passing> outgoing_;
  std::list<Passing> incoming_;
  std::vector<std::size_t> missing_links_;  // number missing, by rail
  std::uint32_t slowest_mbps_;
  std::vector<bool> ready_;        // by rank; used by rank 0
  std::uint32_t ready_count_ = 1;  // includes rank 0 itself
  std::optional<Error> lost_;      // no peer has sent the reason yet
  Time lost_at_;
  std::optional<Error> error_;
};

}  // namespace dlcp::engine
