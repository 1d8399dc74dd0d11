// Propagates failures. If one connection ends, all connections of its context end, on this engine
// and, through notices, on the process's other engines. If a device ends, all its connections end.
// Used under the engine's lock.
#pragma once

#include <string>

#include "datapath/datapath.h"
#include "engine/lane/connections/connection_table.h"
#include "engine/lane/connections/listeners.h"
#include "engine/lane/notices.h"
#include "engine/pump/pump.h"
#include "engine/thread/presence.h"

namespace dlcp::engine {

class Failures {
 public:
  // All arguments must outlive this object.
  Failures(Pump& pump, datapath::Datapath& datapath, ConnectionTable& connections,
           Listeners& listeners, Notices& notices, Presence& presence)
      : pump_(pump),
        datapath_(datapath),
        connections_(connections),
        listeners_(listeners),
        notices_(notices),
        presence_(presence) {}

  // The error that users see if the connection ends for the event's reason.
  Error error_of(Time now, const core::Event& event) const;
  // Handles the core's event that the connection has failed (kClosed). Everything that fails with
  // it is reported once. An attempt (core::OnSilence) ends without affecting other connections.
  void closed(Time now, Connection& connection, const core::Event& event);
  // The datapath has failed. Must be called in each step, because connections and listeners that
  // are opened later fail, too.
  void device(Time now, const Error& error);
  // Logs why this host's kernel refuses to send to a peer, at most once per minute.
  void take_refused_peer(Time now);
  // Fails the connections for which the placer cannot place received data.
  void take_unplaced(Time now, Placer& placer);
  // Fails everything in the context for a known reason.
  void context(Time now, core::ContextId context, const Error& error);
  // Ends only this connection and drops what it has not sent.
  void end(Connection& connection, const Error& error);

 private:
  void end_all(core::ContextId context, const Error& error);

  Pump& pump_;
  datapath::Datapath& datapath_;
  ConnectionTable& connections_;
  Listeners& listeners_;
  Notices& notices_;
  Presence& presence_;
  std::string device_failure_;  // the last error of the device; a new one is always logged
  Time refusals_from_{};        // before, refused packets are not looked at
};

}  // namespace dlcp::engine
