#!/usr/bin/env python3
"""Configurations that were not written for DLCP: each is imported correctly, or refused with a message
that says what to do.

usage: foreign.py DLCP_SWITCH [-v]"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import foreign_shapes as shapes
from foreign_shapes import sonic

PROGRAM = None
NO_QUEUE = "no queue is free"
GIVE_UP = "may_take_queues"


class Checks(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.addCleanup(self.scratch.cleanup)

    def run_verb(self, verb, config, os="sonic", version="202511", asic="tomahawk4", ports=("Ethernet0", "Ethernet8"),
                 site="", group="", speed="400G"):
        text = config if isinstance(config, str) else json.dumps(config, indent=1)
        (self.folder / "running").write_text(text)
        (self.folder / "intent.yaml").write_text(
            f"fabric: {{name: f, base_rtt: 12us, link_speed: {speed}}}\n{site}"
            f"switches:\n  - name: leaf1\n    os: {os}\n    version: \"{version}\"\n    asic: {asic}\n    role: leaf\n"
            f"    running_config: running\n    ports:\n"
            f"      - {{ports: [{', '.join(ports)}], role: host, trust: dscp{group}}}\n")
        done = subprocess.run([PROGRAM, verb, "intent.yaml", "--json"], cwd=self.folder, capture_output=True,
                              text=True, timeout=900)
        return done.returncode, json.loads(done.stdout)

    def refused(self, config, what, advice="", **options):
        """`check` exits with 1 and prints a problem with the text `what` and a remedy."""
        code, said = self.run_verb("check", config, **options)
        errors = [problem for problem in said["problems"] if problem["severity"] == "error"]
        text = json.dumps(errors, ensure_ascii=False)
        self.assertEqual(code, 1, text)
        self.assertIn(what, text)
        self.assertIn(advice, text)
        self.assertTrue(all(e.get("hint") or e.get("expected") for e in errors), text)
        return text

    def planned(self, config, **options):
        """Expects that `check` finds no error; returns the queues of the plan by name."""
        code, said = self.run_verb("check", config, **options)
        self.assertEqual(code, 0, said)
        plan = self.run_verb("plan", config, **options)[1]["switches"][0]
        return {queue["name"]: queue for queue in plan["port_groups"][0]["queues"]}, plan, said

    def changed(self, text, old, new, count=1):
        self.assertIn(old, text)
        return text.replace(old, new, count)

    def rules(self, said):
        return {problem.get("rule") for problem in said["problems"]}

    # SONiC's templates: seven classes are in use, and the queue of BGP and LACP is not free.


class Foreign(Checks):
    def test_templates_of_tomahawk4(self):
        self.refused(sonic(hwsku="Nokia-IXR7220-H4-64D"), NO_QUEUE, GIVE_UP)

    def test_templates_of_tomahawk5(self):
        self.refused(sonic(hwsku="Arista-7060X6-64PE"), NO_QUEUE, GIVE_UP, asic="tomahawk5")

    def test_templates_of_spectrum3(self):
        self.refused(sonic(hwsku="ACS-MSN4700"), NO_QUEUE, GIVE_UP, asic="spectrum3")

    def test_templates_work_if_the_site_gives_queues_up(self):
        queues, plan, said = self.planned(sonic(hwsku="Nokia-IXR7220-H4-64D"),
                                          site="site: {may_take_queues: [0, 2, 5, 6]}\n")
        self.assertEqual({queue["queue"] for queue in queues.values()}, {0, 2, 5, 6})
        self.assertIn("shared-queue", self.rules(said))
        self.assertIn("56.6 MB for lossy queues (BUFFER_POOL|egress_lossless_pool)", " ".join(plan["reasoning"]))

    def test_only_control_may_use_the_control_plane_queue(self):
        queues, _, said = self.planned(sonic(hwsku="Nokia-IXR7220-H4-64D"),
                                       site="site: {may_take_queues: [2, 7]}\n")
        self.assertEqual(queues["control"]["queue"], 7)
        self.assertNotIn("mark_bytes", queues["control"])
        self.assertIn("control-plane-queue", self.rules(said))
        self.refused(sonic(hwsku="Nokia-IXR7220-H4-64D"), NO_QUEUE, site="site: {may_take_queues: [7]}\n")

    def test_templates_with_free_queues(self):
        queues, _, said = self.planned(sonic(special={3: 3, 4: 4}, queues=(0, 1, 3, 4), hwsku="Arista-7060X6-16PE"),
                                       asic="tomahawk5")
        self.assertTrue({queue["queue"] for queue in queues.values()} <= {2, 5, 6})
        self.assertIn("merged", self.rules(said))

    def test_hardware_with_a_different_asic(self):
        self.refused(sonic(hwsku="Force10-S6000"), "Force10-S6000, which has trident2", "import this switch's own file")
        self.refused(sonic(hwsku="Mellanox-SN5600"), "spectrum4")

    def test_unmapped_dscps_are_best_effort(self):
        queues, _, _ = self.planned(shapes.partial_map(), asic="tomahawk3")
        self.assertNotIn(0, {queue["queue"] for queue in queues.values()})

    def test_a_queue_that_the_site_configures_is_in_use(self):
        config = sonic(special={3: 3, 4: 4}, queues=(0, 1, 3, 4, 5))
        queues, _, _ = self.planned(config)
        self.assertNotIn(5, {queue["queue"] for queue in queues.values()})

    def test_dscps_rewritten_on_egress(self):
        free = sonic(special={3: 3, 4: 4}, queues=(0, 1, 3, 4))
        self.refused(shapes.with_rewriting(free, {"1": "8", "3": "3"}), "rewrites DSCPs on egress",
                     "remove the rewriting from these ports")
        self.refused(shapes.with_rewriting(shapes.partial_map(), {"1": "8"}), "rewrites DSCPs", asic="tomahawk3")

    def test_trimming_templates_use_dlcps_dscps(self):
        special = {**{dscp: 4 for dscp in range(11, 41)}, 10: 0, 3: 3}
        said = self.refused(sonic(special=special, hwsku="Mellanox-SN5600-C256S1"), "collides with the site's map",
                            "may_take_dscps", asic="spectrum4")
        self.assertIn("lossless", said)

    def test_every_queue_in_use(self):
        """Dual top-of-rack and T1 roles use eight classes."""
        for hwsku, asic in (("Arista-7260CX3-D108C8", "tomahawk2"), ("Arista-7260CX3-C64", "tomahawk2"),
                            ("Mellanox-SN4600C-C64", "spectrum3"), ("Mellanox-SN4600C-D48C40", "spectrum3"),
                            ("Arista-7050CX3-32S-C32", "trident3")):
            config = sonic(hwsku=hwsku, speed="100000", special={**shapes.TAKEN_IN_AZURE, 33: 7}, queues=range(8))
            with self.subTest(hwsku):
                self.refused(config, NO_QUEUE, GIVE_UP, asic=asic, speed="100G")

    def test_chassis(self):
        voq = shapes.with_metadata(sonic(), switch_type="voq")
        self.refused(voq, "VOQ chassis", "cannot check")
        keys = {"chassis1|asic0|Ethernet0|3": {"scheduler": "scheduler.0"}}
        self.refused(shapes.with_metadata(sonic(QUEUE=keys), switch_type="voq"), "VOQ chassis")
        self.refused(sonic(QUEUE={"pch|Ethernet0|3": {"scheduler": "scheduler.0"}}), "is not PORT|INDEX", "Ethernet0|3")

    def test_multi_asic_systems(self):
        self.refused({"localhost": sonic(), "asic0": sonic()}, "multi-ASIC", "leave this switch out")
        self.refused(shapes.with_metadata(sonic(), asic_name="asic0", sub_role="FrontEnd"), "one name space",
                     "leave this switch out")

    def test_references_of_old_releases(self):
        said = self.refused(shapes.bracketed(sonic()), "before SONiC 202205", "upgrade the switch")
        self.assertEqual(said.count("before SONiC 202205"), 1)

    def test_partial_files(self):
        config = sonic()
        del config["DSCP_TO_TC_MAP"]
        self.refused(config, "names a dscp_to_tc_map that does not exist", "a row of DSCP_TO_TC_MAP")
        config = sonic()
        del config["PORT"]
        self.refused(config, "there is no PORT table", "show runningconfiguration all")
        self.refused(shapes.at_the_root(sonic()), "")
        self.refused(shapes.keys_twice(sonic()), "a key occurs twice", "AZURE")

    # Ports.
    def test_speeds(self):
        free = sonic(special={3: 3, 4: 4}, queues=(0, 1, 3, 4))
        said = self.refused(free, "400 Gb/s", "leave `speed` out", group=", speed: 100G")
        self.assertIn("100 Gb/s", said)
        self.refused(free, "fabric.link_speed", "add `speed: 400G`", speed="100G")
        free["PORT"]["Ethernet8"]["speed"] = "10000"
        _, plan, _ = self.planned(free)
        self.assertEqual([group["bits_per_second"] for group in plan["port_groups"]], [400_000_000_000, 10_000_000_000])

    def test_link_aggregates(self):
        free = sonic(special={3: 3, 4: 4}, queues=(0, 1, 3, 4),
                     PORTCHANNEL_MEMBER={"PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet8": {}})
        self.planned(free)
        self.refused(free, "are not all in the intent", "list every member", ports=("Ethernet0",))
        self.refused(free, "PortChannel1", "correct `lag`", group=", lag: PortChannel2")

    def test_releases(self):
        free = sonic(special={3: 3, 4: 4}, queues=(0, 1, 3, 4))
        self.refused(free, "unsupported version", "config apply-patch", version="202012")
        for version in ("202205", "202311", "202411", "202511", "202605", "master"):
            self.planned(free, version=version)

    # Arista EOS.
    def eos(self, **options):
        return {"os": "eos", "version": "4.30.2F", "ports": ("Ethernet1/1", "Ethernet2/1"), **options}

    def test_eos_with_rewriting_and_cos(self):
        self.refused(shapes.eos(shapes.EOS_REWRITING, "service-profile test"), NO_QUEUE, GIVE_UP, **self.eos())
        self.refused(shapes.eos(shapes.EOS_REWRITING, "service-profile test"), "qos rewrite dscp", "remove the rewriting",
                     **self.eos(site="site: {may_take_dscps: [10, 12, 14, 18, 20, 22, 40], may_take_queues: [5, 6]}\n"))
        no_rewriting = shapes.EOS_REWRITING.replace("qos rewrite dscp\n", "")
        self.refused(shapes.eos(no_rewriting, "service-profile test"), "does not trust DSCPs", "qos trust dscp",
                     **self.eos(site="site: {may_take_dscps: [10, 12, 14, 18, 20, 22, 40], may_take_queues: [5, 6]}\n"))

    def test_eos_without_qos(self):
        self.refused(shapes.eos(shapes.EOS_SILENT), "collides", "may_take_dscps", **self.eos())
        self.refused(shapes.eos(shapes.EOS_SILENT), NO_QUEUE, GIVE_UP, **self.eos())
        queues, _, _ = self.planned(
            shapes.eos(shapes.EOS_SILENT),
            **self.eos(site="site: {may_take_dscps: [10, 12, 14, 18, 20, 22, 40], may_take_queues: [2, 3, 4, 5]}\n"))
        self.assertEqual({queue["queue"] for queue in queues.values()}, {2, 3, 4, 5})

    def test_eos_with_roce(self):
        said = self.refused(shapes.eos(shapes.EOS_ROCE, "service-profile qos-roce"), "collides", "may_take_dscps",
                            **self.eos())
        self.assertIn("40", said)

    def test_eos_interface_that_trusts_cos(self):
        self.refused(shapes.eos(shapes.EOS_SILENT, "qos trust cos"), "its own QoS settings", "service-profile",
                     **self.eos(site="site: {may_take_dscps: [10, 12, 14, 18, 20, 22, 40], may_take_queues: [2, 3, 4, 5]}\n"))

    # Cumulus Linux.
    def cumulus(self, **options):
        return {"os": "cumulus", "version": "5.14", "asic": "spectrum4", "ports": ("swp1", "swp2"), **options}

    def test_nvue_defaults(self):
        _, _, said = self.planned(shapes.nvue(shapes.NVUE_DEFAULTS), **self.cumulus())
        self.assertIn("ports trust l2, not DSCPs", json.dumps(said))

    def test_nvue_by_dscp(self):
        self.refused(shapes.nvue(shapes.NVUE_BY_DSCP), NO_QUEUE, GIVE_UP, **self.cumulus())

    def test_nvue_that_is_not_a_list_of_operations(self):
        self.refused(shapes.nvue(shapes.NVUE_DEFAULTS, as_operations=False), "list of operations", "nv config show",
                     **self.cumulus())

    def test_nvue_roce(self):
        self.refused(shapes.nvue(shapes.NVUE_ROCE), "`qos roce` is enabled", "nv unset qos roce", **self.cumulus())

    def test_nvue_acls_that_mark(self):
        text, options = (DATA / "cumulus" / "leaf.yaml").read_text(), {"os": "cumulus", "version": "5.14", "asic": "spectrum4",
                                                                       "ports": ("swp1",)}
        marking = text.replace("    qos:\n      congestion-control", "    acl:\n      MARK:\n        rule:\n          '1':\n"
                               "            action:\n              set:\n                dscp: 0\n    qos:\n      congestion-control", 1)
        self.assertNotEqual(marking, text)
        self.planned(marking, **options)
        bound = marking.replace("      swp1-4:\n        qos:", "      swp1-4:\n        acl:\n          MARK:\n            inbound: {}\n"
                                "        qos:", 1)
        self.assertNotEqual(bound, marking)
        self.refused(bound, "an ACL of swp1 sets DSCPs or classes", "remove the rule", **options)

    def test_nvue_rewriting(self):
        self.refused(shapes.nvue({**shapes.NVUE_REWRITING}), "rewrites DSCPs", "remove the rewriting", **self.cumulus())


DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
TREES = {"srlinux": ("leaf.srl", "24.10", "tomahawk4", "ethernet-1/1"),
         "junos": ("leaf.set", "24.4R1", "tomahawk4", "et-0/0/0"),
         "nxos": ("leaf.nxos", "10.4(3)", "cloudscale-gx", "Ethernet1/1"),
         "openconfig": ("leaf.json", "0.11", "tomahawk4", "Ethernet1/1"),
         "arcos": ("leaf.json", "8.2.1", "tomahawk5", "swp1"),
         "eos": ("leaf.eos", "4.30.2F", "tomahawk4", "Ethernet1/1"),
         "iosxr": ("leaf.json", "25.3", "silicon-one-g200", "FourHundredGigE0/0/0/0")}


class ForeignTrees(Checks):
    """The same for targets that are data."""

    def of(self, os):
        file, version, asic, port = TREES[os]
        return (DATA / os / file).read_text(), {"os": os, "version": version, "asic": asic, "ports": (port,)}

    def test_line_ends_byte_order_marks_and_prompts_are_ignored(self):
        for os in TREES:
            text, options = self.of(os)
            self.planned(text.replace("\n", "\r\n"), **options)
            self.planned("\ufeff" + text, **options)
            self.planned(text.replace("SITE", "Größe"), **options)
            if os in ("srlinux", "junos", "nxos"):
                self.planned("leaf1# show running-config\n" + text + text, **options)

    def test_a_text_that_is_not_a_configuration_gets_a_hint_how_to_export_one(self):
        for os in TREES:
            text, options = self.of(os)
            for wrong in ("", "\n \n", "<html></html>", "\x00\x01" + text, "null", "[[[]]]", '{"error": "rpc"}'):
                self.refused(wrong, "", "export it with: ", **options)
            if os in ("srlinux", "junos", "nxos", "eos"):
                self.refused(text.replace("\n", "\n --More-- \n", 1), "output of the switch was paged", **options)
            else:
                self.refused(text[:len(text) // 2], "the JSON is incomplete", "export it with: gnmic get --path", **options)

        for wrong in ("a: [", "\x00"):
            self.refused(wrong, "", "nv config show", os="cumulus", version="5.14", asic="spectrum4", ports=("swp1",))

    def test_an_object_that_ports_use_and_the_file_lacks_is_reported(self):
        for os, root in (("nxos", "policy-map type qos SITE-IN"), ("junos", "classifiers dscp SITE forw"),
                         ("srlinux", "scheduler-policy SITE scheduler"), ("iosxr", '"policy-map-name": "SITE"')):
            text, options = self.of(os)
            self.assertIn(root, text)
            self.refused(text.replace(root, root.replace("SITE", "GONE")), ", which is not in this file",
                         "export it with: ", **options)

    def test_names_with_spaces_are_refused(self):
        for os, name in (("junos", '"MY SITE"'), ("srlinux", '"MY SITE"'), ("openconfig", "MY SITE"),
                         ("arcos", "MY SITE"), ("iosxr", "MY SITE")):
            text, options = self.of(os)
            self.refused(text.replace("SITE", name), "names with spaces", **options)

    def test_a_class_for_all_remaining_packets_is_imported(self):
        text, options = self.of("nxos")
        last = "  class CNP\n    set qos-group 6\n"
        self.assertIn(last, text)
        everything = self.planned(text.replace(last, last + "  class class-default\n    set qos-group 5\n"), **options)
        tree, options = json.loads(self.of("iosxr")[0]), self.of("iosxr")[1]
        site = tree["Cisco-IOS-XR-um-policymap-classmap-cfg:policy-map"]["type"]["qos"][0]
        site["class"][-1]["set"]["traffic-class"] = 5
        for queues, _, _ in (everything, self.planned(tree, **options)):
            self.assertNotIn(5, [queue["queue"] for queue in queues.values()])

    def test_classes_that_match_other_fields_are_refused(self):
        text, options = self.of("nxos")
        self.refused(text.replace("policy-map type qos SITE-IN\n", "class-map type qos match-any ACL\n  match access-group"
                                  " name X\npolicy-map type qos SITE-IN\n  class ACL\n    set qos-group 5\n", 1),
                     "something other than DSCPs", "classify by DSCP", **options)
        text, options = self.of("arcos")
        self.refused(text.replace("filter-types:DSCP", "filter-types:ANY").replace("dscp-value", "x"),
                     "something other than DSCPs", "classify by DSCP", **options)

    def test_classes_of_junos_by_queue(self):
        text, options = self.of("junos")
        older = text.replace("forwarding-classes class be queue-num 0", "forwarding-classes queue 0 be")
        self.assertNotEqual(older, text)
        self.assertEqual(self.planned(older, **options)[0], self.planned(text, **options)[0])

    def test_a_file_without_ports_is_refused(self):
        text, options = self.of("nxos")
        self.refused(re.sub(r"(?m)^interface Ethernet.*\n(  .*\n)*", "", text), "no port in this file",
                     "show running-config interface", **options)

    def test_eos_maps_that_no_port_uses(self):
        text, options = self.of("eos")
        named = text + "qos map dscp to traffic-class name M\n   dscp 26 to traffic-class 5\n"
        self.assertEqual(self.planned(named, **options)[0], self.planned(text, **options)[0])

    def test_unusual_but_valid_texts(self):
        text, options = self.of("eos")
        plan = self.planned(text, **options)[0]
        for odd in (text.replace("   ", "\t"), text.replace("qos map dscp 26", "qos map  dscp   26"),
                    text.replace("description host", "description h\u00f4te \u2603 > tx-queue 5"),
                    text + "".join(f"interface Ethernet{n}/1\n   service-profile STORAGE\n" for n in range(40, 4000))):
            self.assertEqual(self.planned(odd, **options)[0], plan)
        self.refused(text.replace("qos map dscp 26 ", "qos map dscp 26-20 "), "not a list of numbers", **options)
        self.refused(text[:text.index("qos profile")] + text[text.index("interface Ethernet1/1"):],
                     "which is not in this file", **options)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    sys.dont_write_bytecode = True
    unittest.main()
