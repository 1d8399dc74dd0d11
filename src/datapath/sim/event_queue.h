// Simulated time of a network of whole datagrams: a sink gets a frame, or a null frame as a
// wake-up.
#pragma once

#include "datapath/sim/frame.h"
#include "datapath/sim/timeline.h"

namespace dlcp::datapath::sim {

using EventQueue = Timeline<FramePtr>;
using EventSink = EventQueue::Sink;

}  // namespace dlcp::datapath::sim
