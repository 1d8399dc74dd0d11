// Reads the hardware and ports of a config_db.json: speeds, link aggregates, the ASIC, the lossy
// pool, and whether DSCPs are rewritten on egress.
#pragma once

#include <functional>
#include <string>

#include "switch/vendors/sonic/document.h"

namespace dlcp::fabric::sonic {

// Reports a problem of a row: table, key, what, seen, expected, hint.
using Fault = std::function<void(const char* table, const std::string& key, std::string what,
                                 std::string seen, std::string expected, std::string hint)>;

// Fills ports, port_facts, hardware and asic.
void read_hardware(const Json& config, SiteConfig& site, const Fault& fault);
// Fills egress_rewrite, class_to_dscp, and SitePort::rewrites_dscps.
void read_egress_rewrite(const Json& config, SiteConfig& site, const Fault& fault);
// Fills the pool that lossy queues share: from the profile of the default class's queue, else from
// the pools with customary names. Also fills the headroom, and which queues trim.
void read_buffers(const Json& config, SiteConfig& site);

}  // namespace dlcp::fabric::sonic
