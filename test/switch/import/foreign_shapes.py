"""Running configurations with the structure of vendors' templates and public samples. Written for these
tests: names and figures are invented, the structure is real."""

import json

TAKEN_IN_AZURE = {3: 3, 4: 4, 5: 2, 8: 0, 46: 5, 48: 6}


def dscp_map(special, default):
    return {str(dscp): str(special.get(dscp, default)) for dscp in range(64)}


def per_port(ports, rows):
    return {f"{port}|{key}": row for port in ports for key, row in rows.items()}


def sonic(ports=("Ethernet0", "Ethernet8"), hwsku="Vendor-Box", speed="400000", special=None, default=1,
          queues=range(7), wide=None, **tables):
    """A switch with the output of SONiC's own QoS and buffer templates."""
    classes = {str(c): str(c) for c in range(8)}
    config = {
        "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "hwsku": hwsku, "type": "LeafRouter"}},
        "PORT": {port: {"speed": speed, "lanes": str(n), "admin_status": "up"} for n, port in enumerate(ports)},
        "DSCP_TO_TC_MAP": {"AZURE": dscp_map(TAKEN_IN_AZURE if special is None else special, default)},
        "TC_TO_QUEUE_MAP": {"AZURE": classes},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"0": "0", "1": "0", "2": "0", "3": "3", "4": "4", "7": "7"}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": classes},
        "SCHEDULER": {"scheduler.0": {"type": "DWRR", "weight": "14"},
                      "scheduler.1": {"type": "DWRR", "weight": "15"}},
        "WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_all", "green_min_threshold": "1048576",
                                            "green_max_threshold": "2097152", "green_drop_probability": "5",
                                            "wred_green_enable": "true"}},
        "QUEUE": per_port(ports, {str(q): {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}
                                  if q in (3, 4) else {"scheduler": "scheduler.0"} for q in queues}),
        "PORT_QOS_MAP": {port: {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "tc_to_pg_map": "AZURE",
                                "pfc_to_queue_map": "AZURE", "pfc_enable": "3,4"} for port in ports},
        "BUFFER_POOL": {"egress_lossless_pool": {"type": "egress", "mode": "dynamic", "size": "56623104"},
                        "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "56623104",
                                                  "xoff": "6291456"}},
        "BUFFER_PROFILE": {"egress_lossy_profile": {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "-1"},
                           "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0",
                                                       "static_th": "56623104"}},
        "BUFFER_QUEUE": per_port(ports, {"0-2": {"profile": "egress_lossy_profile"},
                                         "3-4": {"profile": "egress_lossless_profile"},
                                         "5-7": {"profile": "egress_lossy_profile"}}),
    }
    for table, rows in tables.items():
        config[table] = {**config.get(table, {}), **rows}
    return config


def with_metadata(config, **fields):
    config["DEVICE_METADATA"]["localhost"].update(fields)
    return config


def partial_map():
    """The sample of SONiC's YANG models: few DSCPs, rows of its own on low queues, DSCPs rewritten."""
    config = sonic(special={}, queues=())
    config["DSCP_TO_TC_MAP"] = {"TEST": {"3": "3", "48": "6"}}
    config["SCHEDULER"] = {"TEST@0": {"type": "DWRR", "weight": "20"}}
    config["WRED_PROFILE"] = {"Wred1": {"ecn": "ecn_all", "green_min_threshold": "1000000"}}
    config["QUEUE"] = {"Ethernet0|0": {"scheduler": "TEST@0", "wred_profile": "Wred1"}}
    config["BUFFER_QUEUE"] = per_port(config["PORT"], {"0": {"profile": "egress_lossy_profile"},
                                                       "3": {"profile": "egress_lossless_profile"}})
    for row in config["PORT_QOS_MAP"].values():
        row.update({"dscp_to_tc_map": "TEST", "pfc_enable": "3"})
    return config


def with_rewriting(config, classes):
    config["TC_TO_DSCP_MAP"] = {"OUT": classes}
    for row in config["PORT_QOS_MAP"].values():
        row["tc_to_dscp_map"] = "OUT"
    return config


def bracketed(config):
    """References in the form of releases before 202205."""
    for row in config["PORT_QOS_MAP"].values():
        row["dscp_to_tc_map"] = "[DSCP_TO_TC_MAP|AZURE]"
    for row in config["QUEUE"].values():
        row["scheduler"] = f"[SCHEDULER|{row['scheduler']}]"
    return config


def at_the_root(config):
    """The format of the database migrator's tests: one object with a key for each row."""
    return {f"{table}|{key}": row for table, rows in config.items() for key, row in rows.items()}


def keys_twice(config):
    text = json.dumps(config, indent=1)
    return text.replace('"AZURE": {', '"AZURE": {"0": "0"}, "AZURE": {', 1)


EOS_PORTS = """interface Ethernet1/1
   no switchport
{port}!
interface Ethernet2/1
   no switchport
{port}!
"""

# QoS of a published test suite of Ansible roles: CoS trusted, DSCPs rewritten on egress.
EOS_REWRITING = """qos rewrite dscp
qos map traffic-class 1 to dscp 56
qos map dscp 8 9 10 11 12 13 14 15 16 17 18 19 20 22 40 to traffic-class 1
!
qos profile test
   qos trust cos
   qos cos 2
   !
   tx-queue 1
      bandwidth percent 50
      no priority
!
"""

# A leaf without QoS settings.
EOS_SILENT = "hostname leaf1\n!\n"

# The switch configuration that a NIC vendor recommends for RoCE with congestion notification.
EOS_ROCE = """qos map traffic-class 3 to uc-tx-queue 3
qos random-detect ecn allow non-ect
!
qos profile qos-roce
   qos trust dscp
   !
   uc-tx-queue 3
      bandwidth percent 50
      no priority
      random-detect ecn minimum-threshold 2000 kbytes maximum-threshold 10000 kbytes max-mark-probability 20
   !
   uc-tx-queue 6
      priority strict
   !
   priority-flow-control on
   priority-flow-control priority 3 no-drop
!
"""


def eos(text, port=""):
    return text + EOS_PORTS.replace("{port}", f"   {port}\n" if port else "")


def nvue(settings, as_operations=True):
    """Cumulus: the output of `nv config show`, or the plain object that other commands print."""
    body = {"interface": {"swp1": {"type": "swp"}, "swp2": {"type": "swp"}}, **settings}
    return json.dumps([{"header": {"model": "VX"}}, {"set": body}] if as_operations else body)


NVUE_DEFAULTS = {"qos": {"mapping": {"default-global": {"trust": "l2", "port-default-sp": "0", "pcp": {
    str(n): {"switch-priority": str(n)} for n in range(8)}}},
    "egress-scheduler": {"default-global": {"traffic-class": {
        str(n): {"mode": "dwrr", "bw-percent": "12"} for n in range(8)}}}}}
NVUE_BY_DSCP = {"qos": {"mapping": {"default-global": {"trust": "l3"}}}}
NVUE_ROCE = {"qos": {"roce": {"enable": "on"}}}
NVUE_REWRITING = {"qos": {"remark": {"default-global": {"rewrite": "l3", "switch-priority": {
    "0": {"dscp": "0"}, "1": {"dscp": "8"}}}}}}
