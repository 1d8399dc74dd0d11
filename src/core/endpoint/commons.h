// State that all connections of one endpoint share.
#pragma once

#include <map>
#include <vector>

#include "core/channel/strays.h"
#include "core/channel/unmarked_peers.h"
#include "core/config.h"
#include "core/congestion/endpoint_rate.h"
#include "core/counters.h"
#include "core/endpoint_types.h"
#include "core/flow_control/credit_pool.h"
#include "core/placement/link_table.h"
#include "core/streams/recv_message.h"

namespace dlcp::core {

// One set of counters per context. Context 0 has the events that belong to none.
class CounterBook {
 public:
  void add(Counter counter) { of_[0].add(counter); }
  // The counters of a context; the reference stays valid.
  Counters& of(ContextId context) { return of_[context]; }
  Counters read(ContextId context) const {
    const auto found = of_.find(context);
    return found == of_.end() ? Counters{} : found->second;
  }
  Counters total() const {
    Counters sum;
    for (const auto& [context, counters] : of_)
      sum.add(counters);
    return sum;
  }

 private:
  std::map<ContextId, Counters> of_;
};

struct Commons {
  Commons(const Config& settings, const Secrets& known)
      : config(settings),
        secrets(known),
        credits(settings.receive_capacity_bytes, settings.eager_bytes),
        unposted{settings.unposted_pool_bytes, 0} {}

  Config config;  // changed only by Endpoint::forbid_loss
  const Secrets secrets;
  CounterBook counters;
  CreditPool credits;
  EndpointRate rate;
  UnpostedPool unposted;
  Strays strays;
  UnmarkedPeers unmarked_peers;
  LinkTable links;
  PlacementBatch placements;
};

}  // namespace dlcp::core
