// Two endpoints, each with the engine's pump on its own card, and the applications that use them.
// The input determines which messages they exchange and when; the ledger (test/sim) checks the
// results. ByteNetwork carries the packets.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "byte_card.h"
#include "engine/pump/pump.h"
#include "fuzz_input.h"
#include "key_ring.h"
#include "ledger.h"
#include "util/shared_budget.h"

namespace dlcp::test {

// 1 us to 65 ms, uniformly distributed on a logarithmic scale.
Duration some_time(FuzzInput& input);

class Conversation {
 public:
  // `now`: the clock of the packets' carrier; it and the cards outlive the conversation.
  Conversation(FuzzInput& input, const Time& now, bool hostile, std::array<ByteCard*, 2> cards);

  engine::Pump& pump(HostIndex host) { return ends_[host]->pump; }
  const core::Endpoint& endpoint(HostIndex host) { return pump(host).endpoint(); }
  KeyRing& keys() { return keys_; }
  Time next_post() const;
  // Accepts, posts and closes what is due.
  void serve(HostIndex host);
  // To be called after any step that may have ended a connection or request.
  void hear_events(HostIndex host);
  // The application closes, whatever is outstanding.
  void hang_up(HostIndex host);
  bool finished() const;
  // All messages of a collective together lose at most its licence's budget on one hop.
  void check_budgets() const;
  std::uint64_t hash() const { return ledger_.hash(); }  // over the completions

 private:
  // The ledger copies received data, after it has checked the destination.
  struct End final : engine::Placer {
    End(Conversation& conversation, HostIndex host, ByteCard& card, const core::Config& config);
    void place(const core::Placement& placement) override;
    Conversation& of;
    HostIndex host;
    ByteCard& card;
    engine::Pump pump;
  };

  void add_traffic(FuzzInput& input, HostIndex from, HostIndex to);
  void serve_sender(std::size_t flow);
  void serve_receiver(std::size_t flow);
  bool sender_is_done(const Flow& flow);
  bool receiver_is_done(const Flow& flow) const;
  void close_sender(std::size_t flow);
  void close_receiver(std::size_t flow);
  // Removes all packets of an ended sender, because its memory is released.
  void forget_sends(std::size_t flow);

  const Time& now_;
  Ledger ledger_;
  KeyRing keys_;
  std::array<SharedBudget, 2> pools_;  // one per host, for direct exchange
  std::array<std::unique_ptr<End>, 2> ends_;
};

}  // namespace dlcp::test
