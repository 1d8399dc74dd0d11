// The timeline of a simulated network of datagrams. A sink receives a frame, or a null frame as a
// wake-up.
#pragma once

#include "datapath/sim/network/frame.h"
#include "datapath/sim/timeline/timeline.h"

namespace dlcp::datapath::sim {

using EventQueue = Timeline<FramePtr>;
using EventSink = EventQueue::Sink;

}  // namespace dlcp::datapath::sim
