"""dlcp doctor --peer across a network of namespaces finds the faults of that network.

test_doctor_network.py DLCP      exits with 77 (skipped) where namespaces are not permitted"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import rig  # noqa: E402

REFUSE = pathlib.Path(__file__).resolve().parents[2] / "hosts" / "refuse.py"
PREFIX = f"doc{os.getpid() % 10000}x"
DLCP = ""


class DoctorNetwork(unittest.TestCase):
    def setUp(self):
        rig.netns("up", PREFIX, "2", "mtu=4200", "offload=seggro")
        self.addCleanup(rig.netns, "down", PREFIX)
        self.listener = subprocess.Popen(["ip", "netns", "exec", PREFIX + "1", DLCP, "doctor", "--listen"],
                                         stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.listener.stdout.close)
        self.addCleanup(self.listener.wait)
        self.addCleanup(self.listener.terminate)
        self.listener.stdout.readline()

    def probe(self, peer="10.77.0.2", paths=8, **environment):
        done = subprocess.run(["ip", "netns", "exec", PREFIX + "0", DLCP, "doctor", "--peer", peer, "--json",
                               "--paths", str(paths)], capture_output=True, text=True, check=False, timeout=60,
                              env={**os.environ, **environment})
        report = json.loads(done.stdout)
        self.verdict = report["findings"][-1]
        self.pairs = [f for f in report["findings"] if f["check"] == "pair"]
        return done.returncode, report, {f["check"]: f for f in report["findings"]
                                         if f["level"] != "ok" and f["check"] not in ("pair", "verdict")}

    def test_a_clean_network_has_no_findings(self):
        for peer in ("10.77.0.2", "fd77::2"):
            code, report, bad = self.probe(peer)
            bad.pop("path_delay", None)  # of one path, if another process delays it for a millisecond
            self.assertEqual((code, bad), (0, {}))
            self.assertEqual(report["path"]["mtu_both_ways"], 4200)
            self.assertEqual([f["level"] for f in self.pairs], ["ok"], self.pairs)
            self.assertEqual(self.verdict["value"], "NCCL will use DLCP between these hosts over eth0 (10.77.0.1) to eth0 (10.77.0.2)")

    @unittest.skipUnless(shutil.which("nft"), "no nft")
    def test_nat_is_named(self):
        rules = "table ip n {\nchain c {\ntype nat hook postrouting priority 100;\nmeta l4proto udp masquerade to :20000-30000\n}\n}\n"
        subprocess.run(["ip", "netns", "exec", f"{PREFIX}0", "nft", "-f", "-"], input=rules, text=True, check=True)
        code, _, _ = self.probe()
        self.assertEqual(code, 3)
        self.assertIn("NAT", self.pairs[0]["value"])
        self.assertIn("NAT", self.verdict["value"])

    def firewall(self, host, *rules):
        """Sets the rules for packets that the host receives, instead of earlier ones; removed with its namespace."""
        table = "\n".join(("table inet f", "delete table inet f", "table inet f {", "chain c {", "type filter hook input priority 0;", *rules, "}", "}"))
        subprocess.run(["ip", "netns", "exec", f"{PREFIX}{host}", "nft", "-f", "-"], input=table, text=True, check=True)

    @unittest.skipUnless(shutil.which("nft"), "no nft")
    def test_a_range_of_data_ports_closed_at_the_peer_is_named(self):
        self.firewall(1, "udp dport 49152-65535 drop;")
        code, report, bad = self.probe()
        self.assertEqual((code, set(bad)), (3, {"path_ports"}))
        self.assertEqual(bad["path_ports"]["value"], "UDP 49152-65535 is closed towards the peer")
        self.assertTrue(self.verdict["value"].endswith("first problem: path_ports: UDP 49152-65535 is closed towards the peer"), self.verdict)
        self.assertEqual(report["path"]["ports_back"]["closed"], [])

    @unittest.skipUnless(shutil.which("nft"), "no nft")
    def test_only_the_range_is_open_and_that_is_sufficient(self):
        for host in (0, 1):
            self.firewall(host, "meta l4proto udp udp dport != 49152-65535 drop;", "meta l4proto tcp drop;")
        code, report, bad = self.probe()
        self.assertEqual((code, bad), (0, {}))
        self.assertEqual(len(report["path"]["ports_there"]["open"]), 8)

    @unittest.skipUnless(shutil.which("nft"), "no nft")
    def test_a_host_that_accepts_answers_but_no_requests_is_detected(self):
        self.firewall(0, "ct state established,related accept;", "meta l4proto udp drop;")
        code, report, bad = self.probe()
        self.assertEqual((code, set(bad)), (3, {"path_ports"}))
        self.assertEqual(bad["path_ports"]["value"], "UDP 49152-65535 is closed from the peer to this host")
        self.assertEqual(report["path"]["ports_there"]["closed"], [])
        self.assertTrue(report["path"]["paths"])

    @unittest.skipUnless(shutil.which("nft"), "no nft")
    def test_a_part_of_the_range_is_named(self):
        self.firewall(1, "udp dport 49152-57343 drop;")
        code, report, bad = self.probe(paths=16)
        closed = report["path"]["ports_there"]["closed"]
        self.assertEqual(code, 3)
        self.assertTrue(closed and max(closed) <= 57343)
        self.assertGreater(min(report["path"]["ports_there"]["open"]), 57343)
        self.assertIn(f"{min(closed)}-{max(closed)}", bad["path_ports"]["value"])

    def job_runs(self):
        """Whether two ranks can exchange bytes, with the plugin next to the program."""
        command = [DLCP, "bench", "--netns", PREFIX, "--ranks", "2", "--size", "64K", "--seconds", "0.2"]
        environment = {**os.environ, "DLCP_PEER_TIMEOUT": "2s", "NCCL_SOCKET_IFNAME": "eth0"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)
        return done.returncode == 0, done.stdout + done.stderr

    @unittest.skipUnless(shutil.which("nft"), "no nft")
    def test_doctor_passes_where_a_job_runs_and_fails_where_it_does_not(self):
        none = ""
        for what, here, there, runs in (("nothing is closed", none, none, True),
                                        ("all but the range", "udp dport != 49152-65535 drop;", "udp dport != 49152-65535 drop;", True),
                                        ("a port that data does not use", "udp dport 48555 drop;", "udp dport 48555 drop;", True),
                                        ("the range there", none, "udp dport 49152-65535 drop;", False),
                                        ("the range here", "udp dport 49152-65535 drop;", none, False),
                                        ("what the peer sends", none, "udp sport 49152-65535 drop;", False)):
            with self.subTest(closed=what):
                for host, rule in enumerate((here, there)):
                    self.firewall(host, rule)
                code, _, bad = self.probe()
                job, words = self.job_runs()
                self.assertEqual(job, runs, words)
                self.assertEqual(code == 0, runs, bad)
                named = any("49152-65535" in finding["value"] + finding["fix"] for finding in bad.values())
                self.assertEqual(named, not runs, bad)

    def test_bleached_marks_are_found_with_the_direction(self):
        rig.netns("set", PREFIX, "bleach=on", "only=p1")
        code, report, bad = self.probe()
        self.assertEqual((code, set(bad)), (0, {"path_marks"}))
        for mark in report["path"]["marks"]:
            self.assertEqual(mark["tos_there"], 0)
            self.assertEqual(mark["tos_back"], mark["tos_sent"])
        self.assertIn("way there", bad["path_marks"]["value"])

    @unittest.skipUnless(shutil.which("nft"), "no nft")
    def test_dropped_marks_are_a_warning(self):
        for rule, unmarked in (("ip dscp cs5 drop;", True), ("ip ecn != not-ect drop;", True), ("ip dscp af13 drop;", False)):
            with self.subTest(rule=rule):
                self.firewall(1, rule)
                code, report, bad = self.probe()
                bad.pop("path_delay", None)
                self.assertEqual((code, set(bad), self.verdict["level"]), (0, {"path_marks"}, "ok"), bad)
                values = " ".join(f["value"] for f in report["findings"] if f["check"] == "path_marks")
                self.assertEqual("jobs send all packets without marks" in values, unmarked)

    @unittest.skipUnless(shutil.which("nft"), "no nft")
    def test_the_dscps_of_the_job_are_tried(self):
        with tempfile.TemporaryDirectory() as folder:
            classes, nccl = (pathlib.Path(folder, name) for name in ("classes.conf", "nccl.conf"))
            classes.write_text("control.dscp = 48\n", encoding="utf-8")
            nccl.write_text(f"DLCP_CLASSES={classes}\n", encoding="utf-8")
            for environment in ({"DLCP_CLASSES": str(classes)}, {"NCCL_CONF_FILE": str(nccl)}):
                for rule, expected in (("ip dscp 40 drop;", set()), ("ip dscp 48 drop;", {"path_marks"})):
                    with self.subTest(rule=rule, environment=environment):
                        self.firewall(1, rule)
                        code, _, bad = self.probe(**environment)
                        bad.pop("path_delay", None)
                        self.assertEqual((code, set(bad)), (0, expected), bad)
                self.assertIn("class control: packets with DSCP 48", bad["path_marks"]["value"])

    @unittest.skipUnless(shutil.which("nft"), "no nft")
    def test_a_congestion_mark_on_every_packet_is_a_warning(self):
        self.firewall(1, "ip ecn != not-ect ip ecn set ce;")
        code, _, bad = self.probe()
        bad.pop("path_delay", None)
        self.assertEqual((code, set(bad)), (0, {"path_marks"}), bad)
        self.assertIn("towards the peer", bad["path_marks"]["value"])

    def test_a_narrow_port_is_found_to_the_byte(self):
        rig.netns("set", PREFIX, "portmtu=1700", "only=p1")
        code, report, bad = self.probe()
        self.assertEqual((code, set(bad)), (0, {"path_mtu"}))
        self.assertEqual(report["path"]["mtu_there"], 1700)

    def test_the_smallest_mtu_of_jobs_is_enough_for_all_checks(self):
        rig.netns("set", PREFIX, "portmtu=576", "only=p1")
        code, report, bad = self.probe()
        bad.pop("path_delay", None)
        self.assertEqual((code, set(bad)), (0, {"path_mtu"}), bad)
        self.assertEqual((bad["path_mtu"]["level"], report["path"]["mtu_both_ways"]), ("warn", 576))
        for host in (0, 1):
            subprocess.run(["ip", "-n", f"{PREFIX}{host}", "link", "set", "dev", "eth0", "mtu", "576"], check=True)
        code, report, bad = self.probe()
        bad.pop("path_delay", None)
        self.assertEqual((code, bad), (0, {}))
        self.assertEqual([f["level"] for f in self.pairs], ["ok"], self.pairs)

    def test_a_smaller_path_than_jobs_need_is_a_failure(self):
        rig.netns("set", PREFIX, "portmtu=560", "only=p1")
        code, report, bad = self.probe()
        bad.pop("path_delay", None)
        self.assertEqual((code, set(bad)), (3, {"path_mtu"}), bad)
        self.assertEqual(report["path"]["mtu_there"], 560)

    def test_an_interface_is_too_small_only_where_jobs_fail(self):
        for mtu, level in ((1000, "ok"), (576, "ok"), (575, "fail")):
            subprocess.run(["ip", "-n", f"{PREFIX}0", "link", "set", "dev", "eth0", "mtu", str(mtu)], check=True)
            done = subprocess.run(["ip", "netns", "exec", f"{PREFIX}0", DLCP, "doctor", "--json"], capture_output=True,
                                  text=True, check=False)
            interface = [row for row in json.loads(done.stdout)["findings"] if row["check"] == "interface"]
            self.assertEqual([row["level"] for row in interface], [level], (mtu, interface))

    def test_a_lossy_port_is_found_with_the_direction(self):
        rig.netns("set", PREFIX, "loss=100000", "only=p0")
        code, report, bad = self.probe()
        self.assertEqual(code, 3)
        self.assertEqual(bad["path_loss"]["level"], "fail")
        self.assertIn("0.00% there", bad["path_loss"]["value"])
        back = sum(p["seen"] - p["replies"] for p in report["path"]["paths"])
        self.assertTrue(40 <= back <= 130, back)  # of 800: 10% is 80, and 5 sigma is 42

    def test_a_missing_responder_is_a_failure_with_a_hint(self):
        self.listener.terminate()
        self.listener.wait()
        code, _, bad = self.probe()
        self.assertEqual(code, 3)
        self.assertIn("--listen", bad["path"]["fix"])

    def test_a_policy_that_forbids_the_ports_is_a_failure(self):
        done = subprocess.run([sys.executable, str(REFUSE), "--call", "bind=EACCES", "--", DLCP, "doctor", "--json"],
                              capture_output=True, text=True, check=False)
        found = {finding["check"]: finding for finding in json.loads(done.stdout)["findings"]}
        self.assertEqual((done.returncode, found["udp_socket"]["level"]), (3, "fail"))
        self.assertTrue(found["udp_socket"]["value"].endswith("Permission denied"), found["udp_socket"])
        self.assertIn("seccomp", found["udp_socket"]["fix"])
        self.assertNotIn("udp_segment", found)

    def test_a_host_without_loopback_is_not_reported_as_an_old_kernel(self):
        done = subprocess.run(["unshare", "--net", DLCP, "doctor", "--json"], capture_output=True, text=True, check=False)
        found = {finding["check"]: finding for finding in json.loads(done.stdout)["findings"]}
        for check in ("udp_segment", "udp_gro"):
            self.assertIn("ip link set lo up", found[check]["fix"])
            self.assertTrue(found[check]["value"].startswith("not tested: "), found[check])


if __name__ == "__main__":
    DLCP = os.path.abspath(sys.argv.pop(1))
    rig.skip_without_networks()
    unittest.main()
