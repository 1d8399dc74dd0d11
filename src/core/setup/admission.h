// Listeners, and how a stranger becomes a connection of one. Who has no invitation gets no answer
// and costs nothing; who has one gets a place among few until START shows that it hears us.
#pragma once

#include <cstdint>
#include <optional>

#include "core/endpoint.h"
#include "core/endpoint/commons.h"
#include "core/endpoint/lifecycle.h"
#include "core/endpoint/slot_table.h"
#include "wire/control_frame.h"

namespace dlcp::core {

class Admission {
 public:
  // Connections of one listener that have said HELLO and not START; the oldest makes room.
  static constexpr std::size_t kHalfOpenMax = 64;

  Admission(Commons& commons, SlotTable& slots, Lifecycle& lifecycle,
            AssociationTable& associations)
      : commons_(commons), slots_(slots), lifecycle_(lifecycle), associations_(associations) {}

  // See Endpoint.
  Endpoint::Listening listen(ContextId context, std::uint32_t number,
                             std::vector<wire::EndpointAddress> lanes);
  void close_listener(Time now, ListenerId listener);
  std::optional<ConnectionId> accept(ListenerId listener);

  // HELLO to the token of `slot`; null: nobody has that token.
  void on_hello(Time now, Slot* slot, const wire::RxPacket& packet);
  // REFUSE to a listener: who holds an invitation will not use it.
  void on_declined(Slot& listener, const wire::RxPacket& packet);
  // The connection in `slot` has started: its listener may hand it out.
  void on_started(const Slot& slot);

 private:
  // The key that `hello` must be sealed with, and the listener's slot unless it is gone.
  struct Door {
    wire::Key key;
    Slot* listener = nullptr;
  };
  std::optional<Door> find_door(Slot* slot, const wire::Hello& hello) const;
  void refuse(const wire::Hello& hello, wire::Refuse with, const wire::Key& key, wire::PathIndex);
  void make_room(Time now, Listener& listener);
  // Null for a HELLO that repeats one whose stream has ended.
  Slot* open(Time now, Slot& listener, const wire::Hello& hello);
  void welcome_again(const Slot& departed, const wire::Hello& hello, wire::PathIndex path);

  Commons& commons_;
  SlotTable& slots_;
  Lifecycle& lifecycle_;
  AssociationTable& associations_;
};

}  // namespace dlcp::core
