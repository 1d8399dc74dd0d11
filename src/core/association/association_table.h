// The associations of an endpoint: which one a stream belongs to, and when one ends. Each has a
// slot of its own, so that frames find it by its token and it has its own turns and timers.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "core/association/recv_association.h"
#include "core/association/send_association.h"
#include "core/endpoint/commons.h"
#include "core/endpoint/slot_table.h"
#include "util/rng.h"

namespace dlcp::core {

class AssociationTable {
 public:
  AssociationTable(Commons& commons, SlotTable& slots, Rng& rng)
      : commons_(commons), slots_(slots), rng_(rng) {}

  // The association with the peer endpoint at `to`; a new one if there is none.
  std::shared_ptr<SendAssociation> to(const wire::EndpointAddress& to, Counters& counters);
  // The one that takes the place of an association that the receiver has forgotten.
  std::shared_ptr<SendAssociation> after(const SendAssociation& forgotten, Counters& counters);

  // The association that HELLO names, which the listener's `key` has sealed: one that is there, or
  // a new one with keys that derive from that key.
  std::shared_ptr<RecvAssociation> from(const wire::Hello& hello, const wire::Key& key,
                                        Counters& counters, Duration keep);
  // The established association that a HELLO is to join; null: not known here.
  std::shared_ptr<RecvAssociation> joined_by(const wire::Hello& hello) const;

  // A stream of the association in `slot` has gone: ends it if it was the last.
  void settle(Time now, Slot& slot);
  void release(Slot& slot);

 private:
  struct AddressHash {
    std::size_t operator()(const wire::EndpointAddress& address) const;
  };
  std::shared_ptr<SendAssociation> make(Slot& slot, const wire::EndpointAddress& to,
                                        Counters& counters);

  Commons& commons_;
  SlotTable& slots_;
  Rng& rng_;
  std::unordered_map<wire::EndpointAddress, std::uint64_t, AddressHash> by_peer_;  // -> our token
};

}  // namespace dlcp::core
