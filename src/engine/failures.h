// How a failure spreads: one connection's end is the end of all in its context, here and, through
// notices, on the process's other engines; a device's end is the end of everything on it. Used
// under the engine's lock.
#pragma once

#include "datapath/datapath.h"
#include "engine/connection_table.h"
#include "engine/listeners.h"
#include "engine/notices.h"
#include "engine/presence.h"
#include "engine/pump.h"

namespace dlcp::engine {

class Failures {
 public:
  // All outlive it.
  Failures(Pump& pump, const datapath::Datapath& datapath, ConnectionTable& connections,
           Listeners& listeners, Notices& notices, Presence& presence)
      : pump_(pump),
        datapath_(datapath),
        connections_(connections),
        listeners_(listeners),
        notices_(notices),
        presence_(presence) {}

  // What users are told when the connection ends for the event's reason.
  Error told_of(Time now, const core::Event& event) const;
  // The core says that the connection has failed (kClosed); what fails with it is told once. An
  // attempt (core::OnSilence) ends alone.
  void closed(Time now, Connection& connection, const core::Event& event);
  // The datapath is dead. Only the first call does anything.
  void device(Time now, const Error& error);
  // Everything of the context, for a reason that is known already.
  void context(Time now, core::ContextId context, const Error& error);
  // This connection alone; what it still has to send is dropped.
  void end(Connection& connection, const Error& error);

 private:
  void end_all(core::ContextId context, const Error& error);

  Pump& pump_;
  const datapath::Datapath& datapath_;
  ConnectionTable& connections_;
  Listeners& listeners_;
  Notices& notices_;
  Presence& presence_;
  bool device_failed_ = false;
};

}  // namespace dlcp::engine
