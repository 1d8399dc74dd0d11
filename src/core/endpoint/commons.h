// What all connections of one endpoint have in common and none of them owns.
#pragma once

#include <map>
#include <vector>

#include "core/association/endpoint_rate.h"
#include "core/channel/strays.h"
#include "core/config.h"
#include "core/counters.h"
#include "core/endpoint_types.h"
#include "core/flow_control/credit_pool.h"
#include "core/flow_control/unposted_pool.h"

namespace dlcp::core {

// One set of counters for each context, and one for what belongs to none.
class CounterBook {
 public:
  void add(Counter counter) { nobodys_.add(counter); }
  // A connection's of this context; stays where it is.
  Counters& of(ContextId context) { return of_[context]; }
  Counters read(ContextId context) const {
    const auto found = of_.find(context);
    return found == of_.end() ? Counters{} : found->second;
  }
  Counters total() const {
    Counters sum = nobodys_;
    for (const auto& [context, counters] : of_)
      sum.add(counters);
    return sum;
  }

 private:
  Counters nobodys_;
  std::map<ContextId, Counters> of_;
};

// What one call wants copied, and the memory that some of it is copied from where the connection
// that kept it has gone.
struct PlacementBatch {
  std::vector<Placement> wanted;
  std::vector<std::vector<std::byte>> memory;

  void clear() {
    wanted.clear();
    memory.clear();
  }
};

struct Commons {
  Commons(const Config& settings, const Secrets& known)
      : config(settings),
        secrets(known),
        credits(settings.receive_capacity_bytes, settings.eager_bytes),
        unposted{settings.unposted_pool_bytes, 0} {}

  Config config;  // changed by Endpoint::forbid_loss alone
  const Secrets secrets;
  CounterBook counters;
  CreditPool credits;
  EndpointRate rate;
  UnpostedPool unposted;
  Strays strays;
  PlacementBatch placements;
};

}  // namespace dlcp::core
