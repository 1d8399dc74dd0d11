#!/usr/bin/env python3
"""Unusual foreign configurations: two switches in one file, names in other spellings, rates instead of percentages, and
rules with precedence over a port's classifier. Each is imported correctly, or refused with a message that says what to do.

usage: foreign_unusual.py DLCP_SWITCH [-v]"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

import foreign
from foreign import Checks
from foreign_more import free, of

XR_CLASSES = "Cisco-IOS-XR-um-policymap-classmap-cfg:class-map"
XR_POLICIES = "Cisco-IOS-XR-um-policymap-classmap-cfg:policy-map"
TWO = "the configurations of two switches, a and b"


class Unusual(Checks):
    # Two switches in one file.
    def test_two_names_in_one_file(self):
        names = {"nxos": "hostname {}\n", "junos": "set system host-name {}\n", "srlinux": "set / system name host-name {}\n"}
        for os, line in names.items():
            text, options = of(os)
            self.planned(line.format("a") + text + line.format("a"), **options)
            self.refused(line.format("a") + text + line.format("b") + text, TWO, "one file for each switch", **options)

    def test_a_second_end(self):
        text, options = of("eos")
        self.refused(text + text, "a second configuration ends here", "one file for each switch", **options)
        self.refused(text + text.replace("leaf3", "leaf4"), "two switches, leaf3 and leaf4", "one file for each switch", **options)
        self.planned(text + "leaf3#\n", **options)

    def test_two_outputs_of_nvue(self):
        text, options = of("cumulus")
        self.refused(text + text, "a second configuration begins here", "nv config show", **options)

    def test_answers_of_two_devices(self):
        text, options = of("openconfig")
        tree = json.loads(text)["openconfig-qos:qos"]
        answer = lambda source: {"source": source, "timestamp": 1, "updates": [{"Path": "qos", "values": {"qos": tree}}]}
        self.planned([answer("a"), answer("a")], **options)
        self.refused([answer("a"), answer("b")], TWO, "one file for each switch", **options)

    def test_a_dscp_with_two_classes(self):
        for os, old, new in (("junos", "roce loss-priority low code-points 011010", "roce loss-priority low code-points 011011"),
                             ("srlinux", "dscp 26 forwarding-class roce", "dscp 26 forwarding-class besteffort")):
            text, options = of(os)
            self.refused(text + self.changed(text, old, new), "leads to two classes", "two switches", **options)

    # Buffers that stay as they are.
    def test_sonic_limits_of_rows_with_several_queues(self):
        leaf = (foreign.DATA / "sonic" / "leaf.config_db.json").read_text()
        options = {"asic": "tomahawk5"}
        queues, plan, _ = self.planned(leaf, **options)
        self.assertGreater(min(q["limit_bytes"] for q in queues.values()), 3_000_000)  # dynamic_th 0 of that row, not the planned -3
        self.assertIn("set by BUFFER_QUEUE|Ethernet0|0-2", " ".join(plan["reasoning"]))
        for profile in ({"static_th": "50000"}, {"dynamic_th": "-7"}):
            config = json.loads(leaf)
            config["BUFFER_POOL"]["egress_lossy_pool"]["size"] = "8000000"
            config["BUFFER_PROFILE"]["egress_lossy_profile"] = {"pool": "egress_lossy_pool", "size": "1518", **profile}
            self.refused(config, "does not fit the buffer", "BUFFER_QUEUE|Ethernet0|", **options)

    def test_cumulus_pools_and_shares(self):
        text, options = of("cumulus")
        old = "        default-lossy:\n          memory-percent: 50\n"
        before = self.planned(text, **options)[0]
        small = self.changed(text, old, old.replace("50", "2"))
        queues, plan, _ = self.planned(small, **options)
        self.assertLess(queues["bulk"]["limit_bytes"], before["bulk"]["limit_bytes"])
        self.assertIn("memory-percent 2", " ".join(plan["reasoning"]))
        taken = before["exact"]["queue"]
        for pool in ("default-lossless", "p1"):
            rows = f"        {pool}:\n          memory-percent: 40\n          switch-priority:\n            '{taken}': {{}}\n"
            other = self.changed(text, "        default-lossless:\n          memory-percent: 50\n", rows)
            queues = self.planned(other, **options)[0]
            self.assertNotIn(taken, {queue["queue"] for queue in queues.values()}, pool)

    # Nokia SR Linux.
    def test_srlinux_ports_with_pfc(self):
        text, options = of("srlinux")
        for row in ("pfc pfc-enable true", "pfc pfc-mapping-profile P", "output queues queue roce pfc-enable true"):
            self.refused(text + f"set / qos interfaces interface {options['ports'][0]} {row}\n", "PFC is not read", "declare the site", **options)

    # Captures that show nothing.
    def test_captures_without_dlcps_packets(self):
        self.run_verb("check", free())
        for port, queue, packets, said, expected in (("Ethernet0", 0, 5, "no packets since", 6), ("Ethernet999", 0, 5, "no port of the plan", 6)):
            rows = [{"metric": {"switch": "leaf1", "port": port, "queue": str(number),
                                "__name__": f"dlcp_switch_queue_{name}:rate5m"},
                     "value": [1, str(packets if number == queue and name == "packets" else 0)]}
                    for number in range(8) for name in ("packets", "drops", "early_drops", "marks")]
            (self.folder / "seen").write_text(json.dumps({"status": "success", "data": {"resultType": "vector", "result": rows}}))
            done = subprocess.run([foreign.PROGRAM, "verify", "intent.yaml", "--switch", "leaf1", "--captured", "seen"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=900)
            self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
            self.assertIn(said, done.stdout)
            self.assertNotIn("control: 0 packets", done.stdout)

    def test_a_text_that_is_too_large_is_reported_once(self):
        text, options = of("junos")
        said = self.refused(text + "".join(f"set interfaces lo0 unit {n} x\n" for n in range(400_001)), "too large", "400000 statements",
                            **options)
        self.assertEqual(said.count("too large"), 1)

    # Spellings.
    def test_names_of_dscps_in_capitals(self):
        text, options = of("srlinux")
        self.assertEqual(self.planned(self.changed(text, " dscp 26 ", " dscp AF31 "), **options)[0], self.planned(text, **options)[0])
        text, options = of("junos")
        self.assertEqual(self.planned(self.changed(text, "code-points 110000", "code-points nc1"), **options)[0],
                         self.planned(text, **options)[0])
        self.refused(text.replace("code-points 110000", "code-points mine"), "not a list of DSCPs", "by numbers", **options)

    def test_nxos_classes_with_their_type(self):
        text, options = of("nxos")
        text = re.sub(r"    pause .*\n", "", text)
        typed = self.changed(text, "  class ROCE\n", "  class type qos ROCE\n")
        self.assertEqual(self.planned(typed, **options)[0], self.planned(text, **options)[0])

    def test_classes_that_do_not_exist(self):
        text, options = of("iosxr")
        tree = json.loads(text)
        self.assertEqual(tree[XR_CLASSES]["type"]["qos"].pop(0)["class-map-name"], "roce")
        self.refused(tree, "class roce is not in this file", "export it with: ", **options)
        text, options = of("nxos")
        self.refused(re.sub(r"class-map type qos match-any ROCE\n  match .*\n", "", text), "class ROCE is not in this file",
                     "export it with: ", **options)
        text, options = of("arcos")
        tree = json.loads(text)
        self.assertEqual(tree["arcos-qos:qos"]["arcos-qos-classifier:classifiers"]["classifier"].pop(0)["name"], "roce")
        self.refused(tree, "class roce is not in this file", "export it with: ", **options)

    # Rates.
    def test_rates_instead_of_percentages(self):
        text, options = of("junos")
        for rate in ("10g", "10g exact"):
            self.refused(re.sub(r"transmit-rate percent \d+", f"transmit-rate {rate}", text), "a rate in bits per second",
                         "`transmit-rate percent N`", **options)
        self.planned(re.sub(r"(schedulers be transmit-rate) percent \d+", r"\1 remainder", text), **options)
        self.planned(text + "set class-of-service schedulers unused transmit-rate 1g\n", **options)
        text, options = of("iosxr")
        for share, what in (({"bandwidth-remaining": {"unit": "percent", "value": 40}}, "in percent"),
                            ({"bandwidth": {"unit": "gbps", "value": 40}}, "guarantees a rate")):
            tree = json.loads(text)
            row = tree[XR_POLICIES]["type"]["qos"][1]["class"][0]
            del row["bandwidth-remaining"]
            row.update(share)
            self.refused(tree, what, "`bandwidth remaining ratio`", **options)
        text, options = of("eos")
        self.refused(self.changed(text, "      bandwidth percent 20\n", "      bandwidth guaranteed 1000000 kbps\n"), "guarantees a rate",
                     "leave its ports out", **options)

    # Rules with precedence over a port's classifier, or in addition to it.
    def test_junos_classifiers_of_whole_ports(self):
        text, options = of("junos")
        self.refused(re.sub(r"(interfaces \S+) unit 0 classifiers", r"\1 classifiers", text), "classifiers of the whole port",
                     "move them to unit 0", **options)

    def test_junos_vlan_priorities_and_policy_maps(self):
        text, options = of("junos")
        for line, what in (("classifiers ieee-802.1 default", "also classified by VLAN priority"), ("policy-map P", "a policy map, which sets DSCPs")):
            self.refused(text + f"set class-of-service interfaces et-0/0/0 unit 0 {line}\n", what, "leave the port out", **options)

    def test_eos_ports_and_profiles_that_rewrite(self):
        text, options = of("eos")
        port = "   description host\n"
        for line in ("qos rewrite dscp", "qos rewrite traffic-class to dscp MARKS"):
            self.refused(self.changed(text, port, f"{port}   {line}\n"), "rewrites DSCPs on egress", "leave the port out",
                         **options)
            self.refused(self.changed(text, "   qos trust dscp\n", f"   qos trust dscp\n   {line}\n"), "STORAGE rewrites DSCPs",
                         "leave its ports out", **options)
        self.planned(self.changed(text, port, port + "   qos rewrite cos\n"), **options)

    def test_junos_groups_of_interfaces(self):
        text, options = of("junos")
        for line in ("speed 100g", "ether-options 802.3ad ae0"):
            self.refused(text + f"set groups HOSTS interfaces <et-*> {line}\n", "a group sets", "display inheritance", **options)
        self.planned(text + "set groups HOSTS interfaces <et-*> mtu 9216\n", **options)

    def test_cumulus_maps_and_acls_of_ports(self):
        text, options = of("cumulus")
        port = "      swp1-4:\n        qos:\n"
        for profile, fits in (("default-global", True), ("mine", False)):
            changed = self.changed(text, port, f"{port}          egress-queue-mapping:\n            profile: {profile}\n")
            if fits:
                self.planned(changed, **options)
            else:
                self.refused(changed, "with a profile of its own", "leave the port out", **options)
        marks = self.changed(text, "    bridge:\n", "    acl:\n      MARK:\n        rule:\n          '10':\n            action:\n              set:\n"
                             "                dscp: 10\n        type: ipv4\n    bridge:\n")
        self.planned(marks, **options)
        self.refused(self.changed(marks, port, "      swp1-4:\n        acl:\n          MARK:\n            outbound: {}\n        qos:\n"),
                     "on egress", "remove the rule", **options)

    def test_srlinux_acls_and_multifield_classifiers(self):
        text, options = of("srlinux")
        for entry in ("acl-filter X type ipv4 entry 10", "ipv4-filter X entry 10"):
            self.refused(text + f"set / acl {entry} action accept forwarding-class roce\n", "an ACL sets forwarding classes",
                         "remove entry 10 of X", **options)
        self.planned(text + "set / acl acl-filter X type ipv4 entry 10 action accept\n", **options)
        self.refused(text + "set / qos interfaces interface ethernet-1/1.0 input classifiers classifier 1 multifield M\n",
                     "classified by more fields than the DSCP", "leave the port out", **options)

    def test_sonic_values_that_are_not_text(self):
        for table, row, field, value in (("PORT_QOS_MAP", "Ethernet0", "pfc_enable", ["3", "4"]), ("PORT", "Ethernet0", "speed", 400000),
                                         ("DSCP_TO_TC_MAP", "AZURE", "26", 4), ("BUFFER_PROFILE", "egress_lossy_profile", "dynamic_th", -1)):
            config = free()
            config[table][row][field] = value
            self.refused(config, f"{field} of {table}|{row} is not text", "show runningconfiguration all")

    def test_sonic_rows_of_ports_that_do_not_exist(self):
        config = free()
        config["QUEUE"]["etp1|5"] = {"scheduler": "scheduler.0"}
        self.refused(config, "QUEUE|etp1|5 belongs to a port that does not exist", "not aliases")
        config = free()
        config["QUEUE"]["CPU|0"] = {"scheduler": "scheduler.0"}
        self.planned(config)

    def test_sonic_watchdogs_bypass_an_updater_that_refuses_them(self):
        there = {"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}}}
        for version, asic, tables, direct in (("202311", "tomahawk4", there, True), ("202405", "tomahawk4", there, False),
                                              ("202205", "spectrum4", there, False), ("202605", "generic", there, True),
                                              ("202605", "tomahawk4", {}, True)):
            options = {"version": version, "asic": f"{asic}\n    pfc_watchdog: {{detect: 200ms, restore: 200ms}}"}
            self.assertEqual(self.run_verb("check", free(**tables), **options)[0], 0)
            out = f"{version}{asic}{bool(tables)}"
            subprocess.run([foreign.PROGRAM, "render", "intent.yaml", "-o", out], cwd=self.folder, check=True, capture_output=True,
                           timeout=900)
            leaf = self.folder / out / "leaf1"
            has = {path.name for path in leaf.glob("*.json-*") if "PFC_WD" in path.read_text()}
            self.assertEqual(has, {"05-profiles.json-direct"} if direct else {"20-ports-01-host.json-patch"}, out)
            self.assertEqual(direct, "accepts no rows of PFC_WD" in (leaf / "REPORT.md").read_text(), out)

    def test_sonic_policies_that_classify(self):
        self.refused(free(POLICY_BINDING_TABLE={"Ethernet0": {"INGRESS_QOS_POLICY": "P"}}), "Ethernet0 classifies by a policy",
                     "remove the policy")

    def test_precedence_and_tables_that_rewrite(self):
        text, options = of("nxos")
        last = "    set qos-group 6\n"
        for line, what in (("set precedence 0", "rewrites IP precedence"), ("set dscp dscp table T", "rewrites DSCPs by a table")):
            self.refused(self.changed(text, last, f"{last}    {line}\n"), what, "remove it", **options)
        text, options = of("junos")
        self.refused(text + "set class-of-service interfaces et-0/0/0 unit 0 translation-table to-dscp-from-dscp T\n",
                     "on ingress by a translation table", "leave the port out", **options)
        text, options = of("iosxr")
        tree = json.loads(text)
        tree[XR_POLICIES]["type"]["qos"][0]["class"][0]["set"]["precedence"] = "0"
        self.refused(tree, "rewrites IP precedence", "remove it", **options)

    def test_eos_the_default_class_becomes_round_robin_with_a_note(self):
        text, options = of("eos")
        options["ports"] = ("Ethernet1/1",)
        said = "queue 0 of the site's default class is strict today"
        for strict in (True, False):
            config = text.replace("\n      no priority", "") if strict else text
            self.assertEqual(self.run_verb("check", config, **options)[0], 0)
            subprocess.run([foreign.PROGRAM, "render", "intent.yaml", "-o", f"out{strict}", "--unverified"], cwd=self.folder,
                           check=True, capture_output=True, timeout=900)
            self.assertEqual(strict, said in (self.folder / f"out{strict}" / "leaf1" / "REPORT.md").read_text())

    def test_names_that_no_physical_port_has(self):
        site = "site: {dscp_map: {26: 3}, queues: [{queue: 0, weight: 20}]}\n"
        for os, version, asic, names in (("openconfig", "0.11", "tomahawk4", ("Vlan100", "Port-Channel1", "ae0", "Bundle-Ether1")),
                                         ("tc", "6.1", "software", ("lo", "bond0", "br0"))):
            for name in (*names, "eth1"):
                (self.folder / "intent.yaml").write_text(
                    f"fabric: {{name: f, base_rtt: 12us, link_speed: 100G}}\n{site}switches:\n  - {{name: leaf1, os: {os}, "
                    f"version: '{version}', asic: {asic}, role: leaf, ports: [{{ports: {name}, role: host, trust: dscp}}]}}\n")
                done = subprocess.run([foreign.PROGRAM, "check", "intent.yaml"], cwd=self.folder, capture_output=True, text=True,
                                      timeout=900)
                self.assertEqual(f"no physical port of this name: '{name}'" in done.stderr, name != "eth1", done.stderr)
                self.assertEqual(done.returncode, 1 if name != "eth1" else 0, done.stderr)

    def test_sonic_classes_that_no_queue_map_names(self):
        config = free()
        config["QUEUE"] = {key: row for key, row in config["QUEUE"].items() if not key.endswith("|0")}
        self.assertIn(0, {queue["queue"] for queue in self.planned(config)[0].values()})
        config["DSCP_TO_TC_MAP"]["AZURE"]["26"] = "9"
        queues, _, _ = self.planned(config)
        self.assertNotIn(0, {queue["queue"] for queue in queues.values()})


if __name__ == "__main__":
    foreign.PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    sys.dont_write_bytecode = True
    unittest.main()
