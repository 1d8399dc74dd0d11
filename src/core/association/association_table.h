// The associations of an endpoint: finds the association of a stream, and ends an association after
// its last stream. Each has its own slot, so that frames find it by its token and it has its own
// turns and timers.
#pragma once

#include <cstdint>
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

  // Returns the association with the peer endpoint at `to`; creates it if there is none.
  SendAssociation& to(const wire::EndpointAddress& to, Counters& counters);
  // Returns the association that replaces `forgotten`, which the receiver no longer knows.
  SendAssociation& after(const SendAssociation& forgotten, Counters& counters);

  // Returns the association that a HELLO names, or creates it with keys derived from `key`, the
  // listener's key that sealed the HELLO.
  RecvAssociation& from(const wire::Hello& hello, const wire::Key& key, Counters& counters);
  // The latest association in which the endpoint at `sender` sends; null: none.
  Slot* of_sender(const wire::EndpointAddress& sender);
  // The established association that a HELLO asks to join; null: not known here.
  RecvAssociation* joined_by(const wire::Hello& hello) const;

  // Called after a stream left the association in `slot`. The last one ends it: it remains for
  // `keep`, but a later stream to the peer opens another association.
  void settle(Time now, Slot& slot, Duration keep);
  void release(Slot& slot);

 private:
  struct AddressHash {
    std::size_t operator()(const wire::EndpointAddress& address) const;
  };
  SendAssociation& make(Slot& slot, const wire::EndpointAddress& to, Counters& counters);

  Commons& commons_;
  SlotTable& slots_;
  Rng& rng_;
  std::unordered_map<wire::EndpointAddress, std::uint64_t, AddressHash> by_peer_,
      by_sender_;  // the local tokens of sending and of receiving associations
};

}  // namespace dlcp::core
