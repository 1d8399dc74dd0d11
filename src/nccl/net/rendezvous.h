// The common parts of listen and connect of the net plugin and the collective plugin: listeners and
// their handles, and the check that two ranks can work together.
#pragma once

#include <memory>

#include "nccl/context/comm.h"
#include "nccl/net/handle.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::nccl {

// null: the context of the calling thread. Before NCCL 2.28, which passes contexts, NCCL calls
// listen, connect and accept of a communicator on a thread that serves no other one (proxy.cc,
// ncclProxyService), except those that share its connections. Probes of GPU memory, and the
// bootstrap with NCCL_OOB_NET_ENABLE, run on the thread of the application.
Context& context_of(void* context);

// Returns the settings' error if they make the plugin unusable.
Status check_setup(const Context& context);

// Listens on a lane of each carrier of the device, and writes the handle. The context counts the
// listener as an object until close_listener(). Over::kAllLanes is for peers that connect over
// several lanes. With `with_spares` it also listens on some of the process's other devices, whose
// addresses are added to the handle, for peers that cannot reach this one.
Result<std::unique_ptr<ListenComm>> open_listener(
    Context& context, int device, HandleBytes handle,
    engine::Opening::Over lanes = engine::Opening::Over::kOneLane, bool with_spares = false);
void close_listener(const ListenComm& comm);

// The pairs of addresses by which to try a peer until the time is over.
engine::OpeningWays ways_to(Context& context, int device, const wire::EndpointAddress& peer,
                            Duration until);

// Checks that the peer has the same settings. If not, `why_not` is the error to send to the peer,
// from its point of view.
Status check_alike(const Context& context, const Handle& peer, core::Refusal& why_not);

// How long a carrier other than the last may remain unanswered.
Duration carrier_patience(const Context& context);

}  // namespace dlcp::nccl
