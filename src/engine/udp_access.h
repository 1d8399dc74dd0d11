// UDP over an interface of the kernel's, as a carrier.
#pragma once

#include <memory>

#include "datapath/udp/interfaces.h"
#include "engine/carrier.h"

namespace dlcp::engine {

// `from`: what sockets are bound to; a link-local address gets its scope from the name.
std::shared_ptr<const Access> udp_access(datapath::Interface from);

}  // namespace dlcp::engine
