#include "switch/cli/sample.h"

namespace dlcp::fabric::cli {

std::string_view sample_intent() {
  return R"(# The description of a fabric for dlcp-switch. `dlcp-switch keys` lists every key.
# For editors: copy intent.schema.json (in packages: share/doc/nccl-dlcp/switch) next to this file.
# yaml-language-server: $schema=intent.schema.json

fabric:
  name: pod7
  base_rtt: 12us        # round-trip time on an idle network (ping over the longest path)
  link_speed: 400G      # of ports that state no speed
  incast_degree: 4      # senders that may send a burst to one port at the same time

# dlcp:
#   classes: dlcp-classes.conf     # the file that DLCP_CLASSES names on the hosts, if any
#   shares: {exact: 20%, urgent: 20%, bulk: 10%}    # shares of a busy link

# The present configuration, which must not change. It is better to import it (running_config below);
# then only keys that a running configuration does not have are needed here (min_share, may_take_dscps).
site:
  default_class: 0                          # DSCPs not listed; DLCP takes DSCPs only from this class
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
      # Any host can send CS5: state for each host port whether its DSCPs are trusted.
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
  return R"(# DLCP's classes on DSCPs of the pools for local use (RFC 2474, section 6), which no standard class
# uses. Name this file in dlcp.classes of the intent and in DLCP_CLASSES on every host.
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
