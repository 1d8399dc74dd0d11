// Listeners, and how HELLO opens a connection. A sender without an invitation gets no answer and
// occupies no memory. A sender with one gets one of a few half-open places until START shows that
// it receives the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/endpoint/commons.h"
#include "core/endpoint/lifecycle.h"
#include "core/endpoint/slot_table.h"
#include "core/endpoint_types.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

class Admission {
 public:
  // Limit per listener of connections that have sent HELLO but not START; the oldest is dropped.
  static constexpr std::size_t kHalfOpenMax = 64;

  Admission(Commons& commons, SlotTable& slots, Lifecycle& lifecycle,
            AssociationTable& associations)
      : commons_(commons), slots_(slots), lifecycle_(lifecycle), associations_(associations) {}

  // See Endpoint.
  Listening listen(ContextId context, std::uint32_t number,
                   std::vector<wire::EndpointAddress> lanes);
  void close_listener(Time now, ListenerId listener);
  std::optional<ConnectionId> accept(ListenerId listener);

  // A HELLO to the token of `slot`; null: the token is not known.
  void on_hello(Time now, Slot* slot, const wire::RxPacket& packet, wire::PathIndex answer_path);
  // REFUSE to a listener: the holder of an invitation will not connect.
  void on_declined(Slot& listener, const wire::RxPacket& packet);
  // The connection in `slot` has started: its listener can accept it now.
  void on_started(const Slot& slot);

 private:
  // The key that must have sealed the HELLO, and the listener's slot unless the listener is closed.
  struct Door {
    wire::Key key;
    Slot* listener = nullptr;
  };
  std::optional<Door> find_door(Slot* slot, const wire::Hello& hello) const;
  void refuse(const wire::Hello& hello, wire::Refuse with, const wire::Key& key,
              const AnswerWay& way);
  void make_room(Time now, Listener& listener);
  // Null for a repeated HELLO whose stream has ended.
  Slot* open(Time now, Slot& listener, const wire::Hello& hello);
  void welcome_again(const Slot& departed, const wire::Hello& hello, const AnswerWay& way);

  Commons& commons_;
  SlotTable& slots_;
  Lifecycle& lifecycle_;
  AssociationTable& associations_;
};

}  // namespace dlcp::core
