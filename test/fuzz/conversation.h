// Two endpoints and the applications that use them: which messages they exchange when is drawn from
// the input, what becomes of them is watched by the ledger (test/sim). Carries no packet: that is
// ByteNetwork.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "core/endpoint.h"
#include "fuzz_input.h"
#include "key_ring.h"
#include "ledger.h"

namespace dlcp::test {

// 1 us to 65 ms, evenly by their logarithm.
Duration some_time(FuzzInput& input);

class Conversation {
 public:
  Conversation(FuzzInput& input, Time now, bool hostile);

  core::Endpoint& endpoint(HostIndex host) { return *endpoints_[host]; }
  KeyRing& keys() { return keys_; }
  Time next_post(Time now) const;
  // Accepts, posts and closes what is due.
  void serve(Time now, HostIndex host);
  // After whatever may have placed something, or ended something.
  void place(Time now, HostIndex host);
  void hear_events(Time now, HostIndex host);
  // The application goes, whatever is outstanding.
  void hang_up(Time now, HostIndex host);
  bool finished() const;
  // All messages of a collective together lose at most what its licence allows one hop.
  void check_budgets() const;
  std::uint64_t hash() const { return ledger_.hash(); }  // of the completions

 private:
  void add_traffic(FuzzInput& input, Time now, HostIndex from, HostIndex to);
  void serve_sender(Time now, std::size_t flow);
  void serve_receiver(Time now, std::size_t flow);
  void close_sender(Time now, std::size_t flow);
  void close_receiver(Time now, std::size_t flow);

  Ledger ledger_;
  KeyRing keys_;
  std::array<std::unique_ptr<core::Endpoint>, 2> endpoints_;
};

}  // namespace dlcp::test
