// The requests of the simulated applications and their progress: the safety checkers of the
// simulated world. Every buffer starts as the complement of its expected content, so a byte that
// was never written, was written twice, or has a wrong value is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "content.h"
#include "core/endpoint.h"
#include "datapath/sim/network/frame.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::test {

using datapath::sim::HostIndex;

// An invariant does not hold; the text names flow, message and time.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Message {
  std::size_t bytes = 0;
  std::size_t capacity = 0;  // of the posted receive
  Time send_at;              // the earliest time to post it
  Time receive_at;
  std::span<const std::byte> expected;
  bool known_late = false;         // the content is provided later:
  std::vector<std::byte> content;  // then this, once it is provided
  std::vector<std::byte> source;   // freed when the send is done
  std::vector<std::byte> buffer;   // guards around `capacity` bytes
  std::size_t placed = 0;
  std::map<std::size_t, std::size_t> by_card;  // offset, bytes: written by the card
  core::Licence send_licence;
  core::Licence receive_licence;
  std::vector<std::pair<std::size_t, std::size_t>> holes;  // offset, bytes: zeros, in any order
  std::size_t lost = 0;                                    // their sum
  bool receive_posted = false;
  bool send_done = false;
  bool receive_done = false;
  Time send_posted_at;
  Time done_at;
};

struct Flow {
  HostIndex from = 0;
  HostIndex to = 0;
  core::ListenerId listener = 0;
  core::ConnectionId send_connection = 0;
  std::optional<core::ConnectionId> receive_connection;
  std::deque<Message> messages;
  std::size_t sends_posted = 0;
  std::size_t receives_posted = 0;
  std::size_t sends_done = 0;
  std::size_t receives_done = 0;
  std::optional<Error> send_error;
  std::optional<Error> receive_error;
  std::optional<core::Event> declined;  // the refusal that the listener received
  bool send_closed = false;
  bool receive_closed = false;
  bool close_when_done = false;
  bool never_accept = false;  // the receiving side does not accept it

  bool sends_finished() const { return send_error || send_closed || sends_done == messages.size(); }
  bool receives_finished() const {
    return receive_error || receive_closed || receives_done == messages.size();
  }
};

class Ledger {
 public:
  // `gradients`: messages hold gradients instead of random words (content.h).
  Ledger(std::uint64_t seed, bool gradients);

  std::deque<Flow>& flows() { return flows_; }
  const std::deque<Flow>& flows() const { return flows_; }
  Message& plan(std::size_t flow, std::size_t bytes, std::size_t capacity);
  // Provides the content of a message that was planned with known_late; it may now be sent.
  void provide(Time now, Message& message, std::span<const std::byte> content);
  // Gets each received message before its memory is given back.
  using ReceiveHook =
      std::function<void(std::size_t flow, std::size_t message, std::span<const std::byte> body)>;
  void set_receive_hook(ReceiveHook hook) { receive_hook_ = std::move(hook); }
  static core::RequestId request_id(std::size_t flow, std::size_t message) {
    return static_cast<core::RequestId>(flow) << 32 | message;
  }

  std::span<const std::byte> open_source(Message& message);
  std::span<std::byte> open_buffer(HostIndex host, std::size_t flow, std::size_t message);

  // Copies, after a check that the bytes belong at the destination.
  void place(Time now, HostIndex host, const core::Placement& placement);
  // The same for a packet that the host's card places. It may be placed again, with the same bytes,
  // as long as the receive is not done; afterwards no byte may change.
  void place_by_card(Time now, HostIndex host, std::span<std::byte> to,
                     std::span<const std::byte> from);
  // Gets the buffers of a connection that has ended before they are given back (deregMr).
  using ReleaseHook = std::function<void(HostIndex host, std::span<std::byte> memory)>;
  void set_release_hook(ReleaseHook hook) { release_hook_ = std::move(hook); }
  void on_event(Time now, HostIndex host, const core::Event& event);
  void on_accept(std::size_t flow, core::ConnectionId connection);
  // The application has closed its end: its unfinished requests must not complete afterwards.
  void on_close(std::size_t flow, bool sender);

  std::uint64_t placed_bytes(HostIndex host) const;
  Time last_done_at() const { return last_done_at_; }  // of all receives
  // A hash over every completion, in order.
  std::uint64_t hash() const { return hash_; }
  // Off for fuzzed payloads, whose content is arbitrary.
  void expect_content(bool expected) { content_expected_ = expected; }
  // Off: a connection that dies is a violation. On: only if it dies of a broken invariant.
  void allow_failures() { failures_allowed_ = true; }

 private:
  struct Place {
    std::size_t flow;
    std::size_t message;
  };
  bool body_is_right(const Message& message) const;
  [[noreturn]] void fail(Time now, const Place& place, const std::string& what) const;
  void retire(HostIndex host, Message& message);
  void place_zeros(Time now, const Place& place, std::size_t offset, std::size_t size);
  void close_buffers(std::size_t flow);
  void check_not_retired(Time now, HostIndex host, const core::Placement& placement) const;
  void send_done(Time now, Place place, const core::Event& event);
  void receive_done(Time now, Place place, const core::Event& event);
  void declined(Time now, HostIndex host, const core::Event& event);
  void closed(Time now, HostIndex host, const core::Event& event);

  const std::vector<std::byte>* pattern_;
  ReceiveHook receive_hook_;
  ReleaseHook release_hook_;  // null: no card writes to the buffers
  std::uint64_t next_shift_;
  std::deque<Flow> flows_;
  using Buffers = std::map<const std::byte*, Place>;
  std::map<HostIndex, Buffers> buffers_;  // posted and not done, with their guards
  // Given back to the application; kept for a while, so that a late write is detected and harmless.
  std::deque<std::vector<std::byte>> retired_;
  std::size_t retired_bytes_ = 0;
  std::map<HostIndex, std::uint64_t> placed_bytes_;
  std::map<std::pair<HostIndex, core::ConnectionId>, Error> closed_early_;  // before accept()
  Time last_done_at_{};
  std::uint64_t hash_ = 0;
  bool content_expected_ = true;
  bool failures_allowed_ = false;
};

}  // namespace dlcp::test
