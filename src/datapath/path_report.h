// Reports of the network, or of this host's kernel, about packets that were not delivered.
#pragma once

#include <cstdint>
#include <string>

#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::datapath {

struct PathReport {
  enum class Kind : std::uint8_t {
    kNothing,
    kPortUnreachable,  // ICMP: no process has the port, or a firewall rejects packets
    kProhibited,       // ICMP: administratively prohibited
    kUnreachable,      // ICMP, or this host's kernel: host or network unreachable
    kNoRoute,          // this host's kernel has no route
    kNoAddress,        // this host has lost the address from which packets are sent: `from`
    kNotPermitted,     // this host's packet filter does not permit sending
  };
  Kind kind = Kind::kNothing;
  std::string from;  // address of the reporting host; empty: this host
  Time at{};         // time of the engine's step that read it
};

// A peer to which this host's kernel has refused to send.
struct RefusedPeer {
  wire::EndpointAddress address;
  int error = 0;  // errno of the refused send
};

}  // namespace dlcp::datapath
