// What the network, or this host's kernel, has said about packets that did not arrive.
#pragma once

#include <cstdint>
#include <string>

#include "util/time.h"

namespace dlcp::datapath {

struct PathReport {
  enum class Kind : std::uint8_t {
    kNothing,
    kPortUnreachable,  // ICMP: no process has the port, or a firewall rejects the packet
    kProhibited,       // ICMP: administratively prohibited
    kUnreachable,      // ICMP, or this host's kernel: host or network unreachable
    kNoRoute,          // this host's kernel has no route
    kNotPermitted,     // this host's own packet filter refuses to send
  };
  Kind kind = Kind::kNothing;
  std::string from;  // the address of the host that sent it; empty: this host
  Time at{};         // when it was read, to the step of the engine
};

}  // namespace dlcp::datapath
