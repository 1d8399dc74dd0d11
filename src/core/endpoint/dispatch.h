// What comes from the network: finds whose a frame is, checks that it may come now, and hands it
// over. What nobody can use is counted by reason and changes nothing.
#pragma once

#include "core/endpoint/agenda.h"
#include "core/endpoint/commons.h"
#include "core/endpoint/lifecycle.h"
#include "core/endpoint/slot_table.h"
#include "core/setup/admission.h"
#include "wire/control_frame.h"

namespace dlcp::core {

class Dispatch {
 public:
  Dispatch(Commons& commons, SlotTable& slots, const Agenda& agenda, Lifecycle& lifecycle,
           Admission& admission, AssociationTable& associations)
      : commons_(commons),
        slots_(slots),
        agenda_(agenda),
        lifecycle_(lifecycle),
        admission_(admission),
        associations_(associations) {}

  void on_packet(Time now, const wire::RxPacket& packet);

 private:
  // A frame whose channel is right, and how it came.
  struct Arrival {
    Time now;
    const wire::RxPacket& packet;
    wire::FrameType type;
    Slot& slot;
  };

  bool take_data(Time now, const wire::RxPacket& packet);
  void take_other(Time now, const wire::RxPacket& packet);
  void to_departed(const Arrival& arrival, Departed& departed);
  void on_welcome(const Arrival& arrival, SendStream& stream);
  void to_association(const Arrival& arrival);
  void on_ack(const Arrival& arrival, SendAssociation& association);
  void on_probe(const Arrival& arrival, RecvAssociation& association);
  // Of the association of the stream in `slot`; null: it is gone.
  Channel* data_channel(const Slot& slot) const;
  // These return false for a frame that is not well formed, or that may not come now.
  bool to_sender(const Arrival& arrival, SendStream& connection);
  bool to_receiver(const Arrival& arrival, RecvStream& connection);
  template <class Connection>
  bool to_either(const Arrival& arrival, Connection& connection);
  void drop(Counter reason) { commons_.counters.add(reason); }

  Commons& commons_;
  SlotTable& slots_;
  const Agenda& agenda_;
  Lifecycle& lifecycle_;
  Admission& admission_;
  AssociationTable& associations_;
  wire::Ack ack_;                        // the last one; its memory is used again
  std::vector<std::uint64_t> reported_;  // streams in it
};

}  // namespace dlcp::core
