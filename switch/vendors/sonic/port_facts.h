// What a config_db.json says of the hardware and its ports: speeds, link aggregates, the ASIC, the
// lossy pool and whether DSCPs are rewritten as packets leave.
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
// Fills egress_rewrite and class_to_dscp, and which ports rewrite.
void read_egress_rewrite(const Json& config, SiteConfig& site, const Fault& fault);
// Fills the pool that lossy queues share: of the profile that the default class's queue has, else
// of the pools of customary names. Also the headroom, and which queues trim.
void read_buffers(const Json& config, SiteConfig& site);

}  // namespace dlcp::fabric::sonic
