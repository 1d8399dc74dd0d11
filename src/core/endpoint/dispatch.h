// Handles received packets: finds the connection, association or listener that a frame is for,
// checks that its state allows the frame, and delivers it. Every other packet is counted by reason
// and has no effect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/endpoint/agenda.h"
#include "core/endpoint/commons.h"
#include "core/endpoint/lifecycle.h"
#include "core/endpoint/slot_table.h"
#include "core/setup/admission.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

class Dispatch {
 public:
  Dispatch(Commons& commons, SlotTable& slots, Agenda& agenda, Lifecycle& lifecycle,
           Admission& admission, AssociationTable& associations)
      : commons_(commons),
        slots_(slots),
        agenda_(agenda),
        lifecycle_(lifecycle),
        admission_(admission),
        associations_(associations) {}

  // Handles the first packets of `packets`, at least one, and returns their number. Data packets of
  // one stream that follow each other are handled together.
  std::size_t on_packets(Time now, std::span<const wire::RxPacket> packets);

 private:
  // A frame that its channel has accepted, and how it arrived.
  struct Arrival {
    Time now;
    const wire::RxPacket& packet;
    wire::FrameType type;
    Slot& slot;
    wire::PathIndex answer_path;  // the path that the peer chose for it
  };

  std::size_t take_data(Time now, std::span<const wire::RxPacket> packets);
  void take_other(Time now, const wire::RxPacket& packet);
  void to_departed(const Arrival& arrival, Departed& departed);
  void on_welcome(const Arrival& arrival, SendStream& stream);
  void to_association(const Arrival& arrival);
  void on_ack(const Arrival& arrival, SendAssociation& association);
  void on_established(Time now, const SendStream& stream);
  // False for frames that the association does not expect.
  bool on_placing(const Arrival& arrival, SendAssociation* sending, RecvAssociation* receiving);
  void on_ping(const Arrival& arrival, SendAssociation& association);
  void on_probe(const Arrival& arrival, RecvAssociation& association);
  void on_pong(const Arrival& arrival, RecvAssociation& association);
  // The channel for frames of this type to the stream in `slot`; null: its association has ended.
  Channel* channel_of(Slot& slot, wire::FrameType type) const;
  // These return false for a frame that is malformed, or that the state does not allow.
  bool to_sender(const Arrival& arrival, SendStream& connection);
  bool to_receiver(const Arrival& arrival, RecvStream& connection);
  template <class Connection>
  bool to_either(const Arrival& arrival, Connection& connection);
  void drop(Counter reason) { commons_.counters.add(reason); }

  Commons& commons_;
  SlotTable& slots_;
  Agenda& agenda_;
  Lifecycle& lifecycle_;
  Admission& admission_;
  AssociationTable& associations_;
  wire::Ack ack_;                        // the last ACK; its memory is reused
  std::vector<std::uint64_t> reported_;  // streams that it reports
};

}  // namespace dlcp::core
