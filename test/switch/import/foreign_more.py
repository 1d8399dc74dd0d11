#!/usr/bin/env python3
"""More configurations that were not written for DLCP, in forms that vendors publish: each is imported correctly, or
refused with a message that says what to do. Also intents that `check` must refuse on any system.

usage: foreign_more.py DLCP_SWITCH [-v]"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

import foreign
from foreign import Checks, DATA, TREES
from foreign_shapes import sonic

TREES = {**TREES, "cumulus": ("leaf.yaml", "5.14", "spectrum4", "swp1"),
         "iosxr": ("leaf.json", "25.3", "silicon-one-g200", "FourHundredGigE0/0/0/0")}
# A line that sets another speed of the first port than the intent, for samples without speeds.
SLOW = {"eos": ("   description host\n", "   description host\n   speed forced 100gfull\n"),
        "junos": ("set interfaces et-0/0/0 mtu 9216\n", "set interfaces et-0/0/0 mtu 9216\nset interfaces et-0/0/0 speed 100g\n"),
        "cumulus": ("          mtu: 9216\n", "          mtu: 9216\n          speed: 100G\n")}

# Text of a port in each system's sample, after which a row of REFUSED adds a line.
HOST = {"eos": "   description host\n", "nxos": "  description host\n"}
SWP = "      swp1-4:\n        qos:"
QOS = "    qos:\n      congestion-control"
COS = "set class-of-service interfaces "
# Changes that make a sample one that must be refused: the system, the text to replace (None: add to the end), the
# new text, and what the message and the hint contain.
REFUSED = (
    ("cumulus", SWP, SWP + "\n          link-pause:\n            profile: default-global", "has link-pause", "use PFC"),
    ("cumulus", SWP, "      bond1:\n        bond:\n          member:\n            swp1: {}\n        qos:\n          mapping:\n"
     "            profile: default-global\n        type: bond\n" + SWP, "in a bond that has QoS of its own", "to its members"),
    ("cumulus", QOS, QOS.replace("congestion-control", "egress-shaper:\n        default-global:\n          port-max-rate: 1000000\n"
                                 "      congestion-control"), "shapes ports below their speed", "leave its ports out"),
    ("eos", "interface Ethernet1/1\n" + HOST["eos"], "interface profile HOST\n   command service-profile STORAGE\n!\n"
     "interface Ethernet1/1\n   profile HOST\n", "gets lines from an interface profile", "write the profile's lines out"),
    ("eos", HOST["eos"], HOST["eos"] + "   shape rate 50 percent\n", "is shaped below its speed", "leave the port out"),
    ("eos", HOST["eos"], HOST["eos"] + "   traffic-policy input EDGE\n", "has a traffic policy", "remove it"),
    ("eos", HOST["eos"], HOST["eos"] + "   flowcontrol receive on\n", "flow control of the whole link", "use PFC"),
    ("eos", HOST["eos"], "   qos map dscp to traffic-class name M\n", "has a DSCP map of its own", "leave the port out"),
    ("eos", "   qos trust dscp\n", "   qos trust dscp\n   service-policy type qos input P\n", "classifies by a policy of the site", ""),
    ("nxos", HOST["nxos"], HOST["nxos"] + "  inherit port-profile HOSTS\n", "gets lines from a port profile", "write the profile's lines out"),
    ("nxos", HOST["nxos"], HOST["nxos"] + "  service-policy type qos output MARK\n", "an output policy", "remove it"),
    ("nxos", HOST["nxos"], HOST["nxos"] + "  flowcontrol receive on\n", "flow control of the whole link", "use PFC"),
    ("nxos", "  match dscp 26\n", "  match dscp 26\n  match cos 3\n", "matches something other than DSCPs", "classify by DSCP"),
    ("nxos", "  match dscp 26\n", "  match dscp 26\n  match access-group name STORAGE\n", "matches something other than DSCPs",
     "classify by DSCP"),
    ("nxos", None, "vlan configuration 10\n  service-policy type qos input SITE-IN\n", "attached to VLANs", "attach it to ports"),
    ("openconfig", '"dscp-set"', '"protocol": "openconfig-packet-match-types:IP_UDP", "dscp-set"', "matches something other than DSCPs",
     "classify by DSCP"),
    ("openconfig", '"interface-id": "Ethernet1/1"', '"interface-id": "qos-1"', "does not contain this port", "did you mean"),
    ("srlinux", None, "set / qos interfaces interface ethernet-1/1.0 input classifiers dot1p-policy P\n",
     "is also classified by VLAN priority", "remove the dot1p policy"),
    ("srlinux", None, "set / interface ethernet-1/1 ethernet flow-control receive true\n", "flow control of the whole link", "use PFC"),
    ("junos", None, "set interfaces et-0/0/0 ether-options flow-control\n", "flow control of the whole link", "use PFC"),
    ("junos", None, "set interfaces interface-range HOSTS member et-0/0/0\n" + COS + "HOSTS scheduler-map SITE\n",
     "an interface range sets", "write the statements out for each port"),
    ("junos", None, COS + "et-0/0/0 shaping-rate 100g\n", "is shaped below its speed", "leave the port out"),
    ("junos", None, COS + "et-0/0/0 unit 0 forwarding-class be\n", "one class", "leave the port out"),
    ("junos", None, COS + "et-0/0/0 unit 0 classifiers inet-precedence default\n", "by IP precedence", "by DSCP first"),
    ("junos", None, COS + "et-0/0/* scheduler-map SITE\n", "a wildcard sets", "for each port"),
    ("junos", None, COS + "et-0/0/1 unit * classifiers dscp SITE\n", "a wildcard sets", "for each unit"),
    ("junos", None, "set class-of-service system-defaults classifiers dscp SITE\n", "a classifier for the whole system", "on the ports"),
    ("junos", None, "set class-of-service apply-groups G\n", "groups are applied", "display inheritance"),
    ("junos", None, "set groups G class-of-service schedulers s\n", "groups are applied", "display inheritance"),
    ("junos", None, "set class-of-service classifiers dscp SITE import default\n", "imports rows from another", ""),
    ("junos", None, "set firewall family inet filter F term 1 then forwarding-class roce\n",
     "a firewall filter sets forwarding classes", "classify only by DSCP"),
    ("junos", None, "set firewall family inet filter F term 1 then dscp 0\n", "sets DSCPs", "remove the term"),
)


def of(os):
    file, version, asic, port = TREES[os]
    return (DATA / os / file).read_text(), {"os": os, "version": version, "asic": asic, "ports": (port,)}


def free(**tables):
    """A SONiC switch with three free queues."""
    return sonic(special={3: 3, 4: 4}, queues=(0, 1, 3, 4), **tables)


class More(Checks):
    def test_samples_with_one_change_that_is_refused(self):
        for os, old, new, said, hint in REFUSED:
            with self.subTest(os=os, new=new):
                text, options = of(os)
                self.refused(text + new if old is None else self.changed(text, old, new), said, hint, **options)

    def test_sonic_pause_of_the_whole_link(self):
        config = free()
        config["PORT"]["Ethernet8"]["pfc_asym"] = "on"
        self.refused(config, "pause frames of every priority", "turn it off")

    # Refusals of `check`.
    def test_only_control_fits_the_control_plane_queue(self):
        tight = sonic(hwsku="Nokia-IXR7220-H4-64D")
        self.refused(tight, foreign.NO_QUEUE, "queue 7, which carries the switch's own BGP and LACP",
                     site="site: {may_take_queues: [7]}\n")
        for part in ("control", "exact"):
            self.refused(free(), f"dlcp.queues.{part} is not free", "this one carries the switch's own BGP and LACP",
                         site=f"dlcp: {{queues: {{{part}: 7}}}}\n")
        for os in ("eos", "junos", "openconfig"):
            text, options = of(os)
            self.refused(text, "this one carries the switch's own BGP and LACP", site="dlcp: {queues: {exact: 7}}\n", **options)

    def test_a_port_speed_that_contradicts_the_import(self):
        for os in ("srlinux", "nxos", "arcos", "eos", "junos", "cumulus"):
            text, options = of(os)
            speed = "100G" if os not in SLOW else "400G"
            if os in SLOW:
                text = self.changed(text, *SLOW[os])
            self.refused(text, "the intent states that", "add `speed: ", speed=speed, **options)

    def test_releases_that_cannot_apply_the_change(self):
        for os, version in (("cumulus", "5.3"), ("eos", "4.24"), ("srlinux", "23.10"), ("junos", "21.3R1"), ("nxos", "9.2(4)"),
                            ("openconfig", "0.7"), ("arcos", "5.1"), ("iosxr", "7.11")):
            text, options = of(os)
            self.refused(text, f"unsupported version of {os}", "", **{**options, "version": version})
        self.refused(free(), "trimming", "202505", version="202311", asic="spectrum4\n    trimming: {size: 256}")

    def test_a_configured_queue_that_is_not_used_is_reported(self):
        _, plan, said = self.planned(free(), site="dlcp: {queues: {bulk: 7}}\n")
        self.assertNotIn(7, [queue["queue"] for queue in plan["port_groups"][0]["queues"]])
        self.assertIn("dlcp.queues gives bulk queue 7, which is not used", json.dumps(said))

    # Limits of verify.
    def test_early_drops_of_a_queue_with_exact_packets_are_inconclusive(self):
        code, _ = self.run_verb("check", sonic(hwsku="Nokia-IXR7220-H4-64D"), site="site: {may_take_queues: [2]}\n")
        self.assertEqual(code, 0)
        (self.folder / "seen").write_text("Port TxQ WredDrp/pkts EcnMarked/pkts\nEthernet0 UC2 500 400\n")
        done = subprocess.run([foreign.PROGRAM, "verify", "intent.yaml", "--switch", "leaf1", "--captured", "seen"],
                              cwd=self.folder, capture_output=True, text=True, timeout=900)
        self.assertIn("500 packets dropped early\n", done.stdout)
        self.assertNotIn("ok ", done.stdout)

    # SONiC.
    def test_sonic_a_map_for_the_whole_switch(self):
        config = free()
        for row in config["PORT_QOS_MAP"].values():
            del row["dscp_to_tc_map"]
        config["PORT_QOS_MAP"]["global"] = {"dscp_to_tc_map": "AZURE"}
        self.assertEqual(self.planned(config)[0], self.planned(free())[0])

    def test_sonic_ports_that_classify_by_vlan_priority(self):
        config = free(DOT1P_TO_TC_MAP={"TAGS": {str(n): str(n) for n in range(8)}})
        for row in config["PORT_QOS_MAP"].values():
            del row["dscp_to_tc_map"]
            row["dot1p_to_tc_map"] = "TAGS"
        self.refused(config, "only by VLAN priority", "dscp_to_tc_map of the site first")

    def test_sonic_a_shaped_port(self):
        config = free()
        config["PORT_QOS_MAP"]["Ethernet8"]["scheduler"] = "scheduler.0"
        self.refused(config, "port Ethernet8 is shaped below its speed", "leave the port out")

    def test_sonic_uplinks_with_a_map_of_their_own(self):
        config = free()
        config["DSCP_TO_TC_MAP"]["AZURE_UPLINK"] = {**config["DSCP_TO_TC_MAP"]["AZURE"], "40": "6"}
        config["PORT_QOS_MAP"]["Ethernet8"]["dscp_to_tc_map"] = "AZURE_UPLINK"
        self.refused(config, "port Ethernet8 has a different dscp_to_tc_map", "leave the port out")

    def test_sonic_rows_for_several_ports(self):
        config = free()
        config["QUEUE"] = {f"Ethernet0,Ethernet8|{queue}": {"scheduler": "scheduler.0"} for queue in (0, 1, 3, 4)}
        self.refused(config, "is one row for several ports", "split this row")

    # Cumulus Linux.
    def test_cumulus_commands_instead_of_operations(self):
        self.refused("nv set interface swp1 type swp\nnv set qos mapping default-global trust l3\n", "not a list of NVUE operations",
                     "nv config show", **of("cumulus")[1])

    # Arista EOS.
    def test_eos_a_port_channel_with_a_profile(self):
        text, options = of("eos")
        text = self.changed(text, "   description host\n", "   description host\n   channel-group 5 mode active\n")
        self.planned(text, **options)
        self.refused(text.replace("interface Management1", "interface Port-Channel5\n   service-profile STORAGE\n!\n"
                                  "interface Management1"), "port channel that has a service-profile", "to its members", **options)

    # Nokia SR Linux.
    def test_srlinux_names_of_their_own(self):
        text, options = of("srlinux")
        for old in ("ethernet-1/1.0 ", "ethernet-1/1 interface-ref"):
            self.assertIn(old, text)
        text = re.sub(r"qos interfaces interface ethernet-1/(\d+)(\.0)? ", r"qos interfaces interface HOST-\1\2 ", text)
        self.refused(text, "under another name", "name it ethernet-1/1 ", **options)

    def test_srlinux_other_subinterfaces(self):
        text, options = of("srlinux")
        text = re.sub(r"(ethernet-1/\d+)\.0 in", r"\1.10 in", text).replace("interface-ref subinterface 0", "interface-ref subinterface 10")
        self.refused(text, "QoS of subinterface 10 is not supported", "subinterface 0", **options)

    def test_srlinux_qos_under_interfaces(self):
        text, options = of("srlinux")
        text = "".join(line for line in text.splitlines(True) if "/ qos interfaces" not in line)
        self.refused(text + "set / interface ethernet-1/1 subinterface 0 qos input classifiers dscp-policy SITE\n",
                     "as in old releases", "upgrade the switch", **options)

    # Juniper Junos.
    def test_junos_other_units(self):
        text, options = of("junos")
        self.refused(re.sub(r"(class-of-service interfaces \S+) unit 0 ", r"\1 unit 10 ", text), "a unit other than 0", "classify on unit 0",
                     **options)

    def test_junos_aggregates(self):
        text, options = of("junos")
        text += "set interfaces et-0/0/0 ether-options 802.3ad ae0\n"
        self.planned(text, **options)
        self.refused(text + "set class-of-service interfaces ae0 scheduler-map SITE\n", "in an aggregate that has class of service",
                     "leave the aggregate's members out", **options)

    def test_junos_lists_and_missing_parts(self):
        text, options = of("junos")
        row = "set class-of-service classifiers dscp SITE forwarding-class be loss-priority low code-points "
        listed = self.changed(text, f"{row}111110\n{row}111111\n", f"{row}[ 111110 111111 ]\n")
        self.assertEqual(self.planned(listed, **options)[0], self.planned(text, **options)[0])
        self.refused(re.sub(r"set class-of-service schedulers cnp .*\n", "", text), "schedulers cnp is not in this file",
                     "export it with: ", **options)

    # Cisco NX-OS.
    def test_nxos_four_queues(self):
        text, options = of("nxos")
        self.refused(text.replace("c-out-8q-q-default", "c-out-q-default").replace("c-out-8q-q", "c-out-q").replace("c-8q-nq", "c-nq"),
                     "four-queue mode", "eight queues", **options)

    def test_nxos_port_channels(self):
        text, options = of("nxos")
        member = self.changed(text, "  description host\n", "  description host\n  channel-group 1 mode active\n")
        self.planned(member, **options)
        self.refused(member + "interface port-channel1\n  service-policy type qos input SITE-IN\n", "port channel that has policies",
                     "to the members", **options)

    def test_nxos_names_of_dscps(self):
        text, options = of("nxos")
        named = self.changed(text, "  match dscp 48", "  match dscp cs6")
        self.assertEqual(self.planned(named, **options)[0], self.planned(text, **options)[0])

    def test_nxos_pause_with_its_thresholds(self):
        text, options = of("nxos")
        long = self.changed(text, "    pause pfc-cos 3\n", "    pause buffer-size 152000 pause-threshold 103000 resume-threshold 83000 pfc-cos 3\n")
        for each in (text, long):
            self.refused(each, "DLCP cannot use queue 3", "carry no traffic of the site", site="site: {may_take_queues: [3]}\n", **options)
            self.assertIn("used by PFC", json.dumps(self.run_verb("check", each, site="site: {may_take_queues: [3]}\n", **options)[1]))

    def test_nxos_pause_in_a_class_of_the_site(self):
        text, options = of("nxos")
        lossless = ("class-map type network-qos match-any RDMA\n  match qos-group {}\npolicy-map type network-qos MORE\n"
                    "  class type network-qos RDMA\n    pause pfc-cos 4\n")
        self.assertIn(4, {queue["queue"] for queue in self.planned(text, **options)[0].values()})
        self.assertNotIn(4, {queue["queue"] for queue in self.planned(lossless.format(4) + text, **options)[0].values()})
        self.refused(lossless.format("4-5") + text, "unknown lossless class: RDMA", **options)

    def test_nxos_classes_that_match_all(self):
        text, options = of("nxos")
        usual = self.changed(text, "match-any ROCE", "match-all ROCE")
        self.assertEqual(self.planned(usual, **options)[0], self.planned(text, **options)[0])
        self.refused(self.changed(usual, "  match dscp 26\n", "  match dscp 26\n  match cos 3\n"), "match several fields together",
                     "one `match dscp`", **options)
        self.refused(self.changed(usual, "  match dscp 26\n", "  match cos 3\n"), "matches something other than DSCPs", **options)

    def test_nxos_strict_queues_are_the_highest(self):
        text, options = of("nxos")
        text = self.changed(text, "  match dscp 48\n", "  match dscp 48\nclass-map type qos match-any OWN\n  match dscp 56\n")
        text = self.changed(text, "    set qos-group 6\n", "    set qos-group 6\n  class OWN\n    set qos-group 7\n")
        text = self.changed(text, "c-out-8q-q7\n    bandwidth remaining percent 0", "c-out-8q-q7\n    bandwidth remaining percent 10")
        self.refused(text, "weighted queue 7 is above DLCP's strict queue", "dlcp.queues.control", **options)

    # OpenConfig.
    def test_openconfig_answers_of_a_get(self):
        text, options = of("openconfig")
        tree = json.loads(text)["openconfig-qos:qos"]
        for path in ("qos", "openconfig-qos:qos"):
            answer = [{"source": "leaf1", "timestamp": 1, "updates": [{"Path": path, "values": {path: tree}}]}]
            self.assertEqual(self.planned(answer, **options)[0], self.planned(text, **options)[0])

    def test_openconfig_queues_without_numbers(self):
        text, options = of("openconfig")
        self.refused(re.sub(r",\s*\"queue-id\": \d+", "", text), "unknown forwarding class", "define it",
                     **options)

    # Arrcus ArcOS.
    def test_arcos_commands_tablemaps_and_lossless_ports(self):
        text, options = of("arcos")
        self.refused("qos policy SITE\n classifier roce\n!\n", "not JSON", "gnmic get", **options)
        tree = json.loads(text)
        self.assertEqual(self.planned([tree, tree], **options)[0], self.planned(text, **options)[0])
        ports = tree["openconfig-interfaces:interfaces"]["interface"]
        ports[0]["pfc"] = {"config": {"profile": "P"}}
        self.refused(tree, "PFC profiles are not supported", "declare the site", **options)

    # Cisco IOS XR.
    def test_iosxr_commands_bundles_and_policies_in_policies(self):
        text, options = of("iosxr")
        self.refused("class-map match-any ROCE\n match dscp 26\n end-class-map\n!\nend\n", "not JSON", "gnmic get", **options)
        tree = json.loads(text)
        ports = tree["Cisco-IOS-XR-um-interface-cfg:interfaces"]["interface"]
        policies = ports[0]["Cisco-IOS-XR-um-if-service-policy-qos-cfg:service-policy"]
        ports[0]["Cisco-IOS-XR-um-if-bundle-cfg:bundle"] = {"id": {"bundle-id": 1}}
        self.planned(tree, **options)
        ports.append({"interface-name": "Bundle-Ether1", "Cisco-IOS-XR-um-if-service-policy-qos-cfg:service-policy": policies})
        self.refused(tree, "in a bundle that has policies", "leave the bundle's members out", **options)

    # Linux.
    def test_tc_json_statistics_and_queues_of_the_site(self):
        options = {"os": "tc", "version": "6.1", "asic": "software", "ports": ("eth0",)}
        plain = "qdisc noqueue 0: dev lo root refcnt 2\nqdisc fq_codel 0: dev eth0 root refcnt 2 limit 10240p flows 1024\n"
        self.planned(plain, **options)
        self.refused(json.dumps([{"kind": "fq_codel", "handle": "0:", "dev": "eth0", "root": True}]), "this is not a line of tc's output",
                     "without -j", **options)
        self.refused(plain + "Sent 1 bytes 1 pkt (dropped 0)\n", "this is not a line of tc's output", "-s", **options)
        self.refused(plain.replace("fq_codel 0:", "prio 1:"), "queues or filters of the site", "leave the port out", **options)

    # Settings of ports other than queues.
    def test_sonic_acls_that_set_dscps(self):
        self.refused(free(ACL_TABLE={"OUT": {"type": "UNDERLAY_SET_DSCP", "ports": ["Ethernet0"]}},
                          ACL_RULE={"OUT|R1": {"DSCP": "40", "DSCP_ACTION": "0", "PRIORITY": "1"}}),
                     "ACL_RULE|OUT|R1 sets DSCPs", "remove the rule")

    def test_nxos_policies_without_statistics(self):
        text, options = of("nxos")
        quiet = text.replace("input SITE-IN\n", "input SITE-IN no-stats\n").replace("output SITE-OUT\n", "output SITE-OUT no-stats\n")
        self.assertNotEqual(quiet, text)
        self.assertEqual(self.planned(quiet, **options)[0], self.planned(text, **options)[0])

    def test_junos_the_class_of_the_switchs_own_packets(self):
        text, options = of("junos")
        text += "set class-of-service forwarding-classes class own queue-num 5\n"
        before = {queue["queue"] for queue in self.planned(text, **options)[0].values()}
        self.assertIn(5, before)
        text += "set class-of-service host-outbound-traffic forwarding-class own\n"
        self.assertNotIn(5, {queue["queue"] for queue in self.planned(text, **options)[0].values()})

    def rendered(self, suffix):
        subprocess.run([foreign.PROGRAM, "render", "intent.yaml", "-o", "out", "--unverified"], cwd=self.folder, capture_output=True,
                       timeout=900, check=True)
        return "".join(path.read_text() for path in sorted((self.folder / "out").rglob(f"*.{suffix}")) if "rollback" not in path.parts)

    def test_junos_the_systems_own_classes(self):
        text, options = of("junos")
        bare = "".join(line for line in text.splitlines(True) if "class-of-service" not in line)
        self.assertFalse({3, 4} & {queue["queue"] for queue in self.planned(bare, **options)[0].values()})
        change = self.rendered("set")
        for line in ("scheduler-maps DLCP-1-none forwarding-class best-effort scheduler DLCP-1-none-q0\n",
                     "scheduler-maps DLCP-1-none forwarding-class network-control scheduler DLCP-1-none-q7\n",
                     "classifiers dscp DLCP-1-none forwarding-class network-control loss-priority low code-points 110000\n"):
            self.assertIn(line, change)
        self.assertIn(4, {queue["queue"] for queue in self.planned(bare, site="site: {may_take_queues: [3, 4]}\n", **options)[0].values()})

    def test_junos_pause_by_a_congestion_notification_profile(self):
        text, options = of("junos")
        profile = "set class-of-service congestion-notification-profile P "
        self.assertLessEqual({4, 5}, {queue["queue"] for queue in self.planned(text, **options)[0].values()})
        for line in ("output ieee-802.1 code-point 101 flow-control-queue 5\n", "input ieee-802.1 code-point 101 pfc\n"):
            self.assertFalse({4, 5} & {queue["queue"] for queue in self.planned(text + profile + line, **options)[0].values()})
        self.refused(text + profile + "input dscp code-point 101000 pfc\n", "lossless", **options)

    def test_schedulers_of_ports_without_one_have_the_sites_queues(self):
        for os, suffix, lines in (
                ("nxos", "nxos", ("c-out-8q-q-default\n    bandwidth remaining percent 20\n", "c-out-8q-q6\n    priority level 1\n")),
                ("junos", "set", ("DLCP-1-none-q0 transmit-rate percent 20\n", "DLCP-1-none-q6 priority strict-high\n"))):
            _, version, asic, port = TREES[os]
            (self.folder / "intent.yaml").write_text(
                "fabric: {name: f, base_rtt: 12us, link_speed: 400G}\nsite:\n  dscp_map: {48: 6}\n"
                "  queues: [{queue: 0, weight: 20}, {queue: 6, strict: yes}]\nswitches:\n"
                f"  - {{name: leaf1, os: {os}, version: '{version}', asic: {asic}, role: leaf, ports: [{{ports: {port}, role: host, trust: dscp}}]}}\n")
            change = self.rendered(suffix)
            for line in lines:
                self.assertIn(line, change)

    def test_ports_that_switch(self):
        text, options = of("junos")
        text += "set interfaces et-0/0/7 unit 0 family ethernet-switching vlan members 10\n"
        text += "set class-of-service interfaces et-0/0/7 scheduler-map SITE\nset class-of-service interfaces et-0/0/7 unit 0 classifiers dscp SITE\n"
        self.planned(text, **{**options, "ports": ("et-0/0/7",)})


if __name__ == "__main__":
    foreign.PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    sys.dont_write_bytecode = True
    unittest.main()
