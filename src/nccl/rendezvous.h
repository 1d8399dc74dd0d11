// What listen and connect of the net and of the collective plugin have in common: listeners and
// their handles, and whether two ranks can work together at all.
#pragma once

#include <memory>

#include "nccl/comm.h"
#include "nccl/handle.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::nccl {

Context& context_of(void* context);  // null: the one of the process

// As the settings' errors say, if they make the plugin unusable.
Status check_setup(const Context& context);

// Listens on a lane of each carrier of the device, and writes the handle. The context counts it as
// an object until close_listener(). Over all lanes: for peers that connect over several.
// `with_spares`: also on some of the process's other devices, whose addresses are in the handle,
// for peers that cannot reach this one; not together with all lanes.
Result<std::unique_ptr<ListenComm>> open_listener(
    Context& context, int device, HandleBytes handle,
    engine::Opening::Over lanes = engine::Opening::Over::kOneLane, bool with_spares = false);
void close_listener(const ListenComm& comm);

// Whether the peer was set as we are; and if not, what it should hear of it, from its side.
Status check_alike(const Context& context, const Handle& peer, core::Refusal& why_not);

// How long a carrier that is not the last may be silent.
Duration carrier_patience(const Context& context);

}  // namespace dlcp::nccl
