// Who stands in a place of an endpoint's table: nobody, a listener, one side of a connection, or
// what a connection left. Whoever serves the table asks here what all of them can be asked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "core/departed.h"
#include "core/recv_connection.h"
#include "core/send_connection.h"
#include "util/ring_queue.h"

namespace dlcp::core {

struct Listener {
  wire::Key key;                             // seals what comes before a connection
  wire::Key key_without_site;                // of who has the invitation and not the site's secret
  RingQueue<std::uint64_t> acceptable;       // tokens of connections that have started
  std::vector<std::uint64_t> half_open;      // of those that may not have, the oldest first
  std::vector<wire::EndpointAddress> lanes;  // where it can be called as well
  bool declined = false;                     // somebody has refused to connect
  bool declined_unproven = false;            // somebody who did not have the site's secret
};

class Party {
 public:
  Party() = default;
  Party(Listener listener) : who_(std::move(listener)) {}
  Party(std::unique_ptr<SendConnection> connection) : who_(std::move(connection)) {}
  Party(std::unique_ptr<RecvConnection> connection) : who_(std::move(connection)) {}
  Party(Departed departed) : who_(std::move(departed)) {}

  // Null where somebody else stands.
  Listener* listener() { return std::get_if<Listener>(&who_); }
  Departed* departed() { return std::get_if<Departed>(&who_); }
  const Departed* departed() const { return std::get_if<Departed>(&who_); }
  SendConnection* sender() const {
    const auto* held = std::get_if<std::unique_ptr<SendConnection>>(&who_);
    return held == nullptr ? nullptr : held->get();
  }
  RecvConnection* receiver() const {
    const auto* held = std::get_if<std::unique_ptr<RecvConnection>>(&who_);
    return held == nullptr ? nullptr : held->get();
  }
  bool is_nobody() const { return std::holds_alternative<std::monostate>(who_); }
  bool is_connection() const { return sender() != nullptr || receiver() != nullptr; }

  // Calls `work` with the SendConnection or RecvConnection, and says whether there is one.
  template <class Work>
  bool with_connection(Work&& work) const {
    if (auto* sending = sender())
      work(*sending);
    else if (auto* receiving = receiver())
      work(*receiving);
    else
      return false;
    return true;
  }

  Time next_timeout() const;
  void on_timeout(Time now);
  // Packets are left that need a larger `out` than the last one.
  bool wants_room() const { return sender() != nullptr && sender()->wants_room(); }
  std::size_t poll_transmit(Time now, FrameWriter& frames, std::size_t paths,
                            std::span<wire::TxPacket> out, std::size_t whole);

 private:
  std::variant<std::monostate, Listener, std::unique_ptr<SendConnection>,
               std::unique_ptr<RecvConnection>, Departed>
      who_;
};

}  // namespace dlcp::core
