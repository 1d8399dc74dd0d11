#include "switch/cli/sample.h"

namespace dlcp::fabric::cli {

std::string_view sample_intent() {
  return R"(# What dlcp-switch has to know about a fabric. `dlcp-switch keys` lists every key.
# yaml-language-server: $schema=intent.schema.json

fabric:
  name: pod7
  base_rtt: 12us        # host to host and back, idle network (ping over the longest path)
  link_speed: 400G      # of ports that do not say otherwise
  incast_degree: 4      # senders that may burst into one port at once

# dlcp:
#   classes: dlcp-classes.conf     # the file that DLCP_CLASSES names on the hosts, if there is one
#   shares: {exact: 20%, urgent: 20%, bulk: 10%}    # parts of a busy link

# What is there today and must stay as it is. Better: running_config below, then only what the
# configuration cannot say (min_share, may_take_dscps) is needed here.
site:
  default_class: 0                          # DSCPs not listed; DLCP takes DSCPs from this class alone
  dscp_map: {24-31: 3, EF: 5, CS6: 6}       # DSCP or range -> traffic class
  pfc_priorities: [3]                       # lossless
  queues:
    - {queue: 0, weight: 20}
    - {queue: 3, name: roce, weight: 40, lossless: yes, min_share: 25%}
    - {queue: 5, weight: 10}
    - {queue: 6, name: routing, strict: yes}

switches:
  - name: leaf[1-4]
    os: sonic
    version: "202311"
    asic: tomahawk4
    role: leaf
    hash_seed: 11
    # running_config: running/{name}.json   # /etc/sonic/config_db.json of each switch
    ports:
      # Any tenant can mark CS5: say whom each host port trusts.
      - {ports: "Ethernet[0-124:8]", role: host, trust: dscp}
      - {ports: "Ethernet[128-252:8]", role: fabric}
  - name: spine[1-2]
    os: sonic
    version: "202311"
    asic: tomahawk4
    role: spine
    hash_seed: 12
    ports:
      - {ports: "Ethernet[0-252:8]", role: fabric}
)";
}

std::string_view local_classes() {
  return R"(# DLCP's classes on DSCPs of the pools for local use (RFC 2474, section 6), which no customary class
# has. Name this file as dlcp.classes of the intent and as DLCP_CLASSES on every host.
control.dscp = 43
exact.dscp = 47
urgent-protected.dscp = 51
urgent-droppable.dscp = 55
bulk-protected.dscp = 57
bulk-middle.dscp = 59
bulk-droppable.dscp = 63
)";
}

}  // namespace dlcp::fabric::cli
