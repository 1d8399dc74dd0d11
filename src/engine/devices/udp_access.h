// UDP over a kernel interface, as a carrier.
#pragma once

#include <memory>

#include "datapath/udp/interfaces/interfaces.h"
#include "engine/devices/carrier.h"

namespace dlcp::engine {

// `from` is the interface that sockets are bound to; the scope of a link-local address is derived
// from its name.
std::shared_ptr<const Access> udp_access(datapath::Interface from);

}  // namespace dlcp::engine
