"""scripts/netns builds the requested network: reachable hosts, two paths, the requested loss; and removes all of it.

Exits with 77 (skipped) where namespaces are not permitted."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
# Children inherit what this process ignores, as under nohup; rig leaves ignored signals alone.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
import rig  # noqa: E402

NETNS = rig.NETNS
PREFIX = f"tnn{os.getpid() % 10000}x"
# Sends 2000 datagrams from 64 ports, 5 at a time so that no queue overflows, and prints how many arrived.
TALK = """
import socket, sys, time
mode, host, family = sys.argv[1], sys.argv[2], socket.AF_INET6 if ":" in sys.argv[2] else socket.AF_INET
if mode == "hear":
    s = socket.socket(family, socket.SOCK_DGRAM); s.bind((host, 9999)); s.settimeout(1.0); n = 0
    s.setsockopt(socket.SOL_SOCKET, 33, 4 << 20)  # SO_RCVBUFFORCE: this process may be without a core for a while
    print("ready", flush=True)
    s.settimeout(5)
    try:
        while True:
            s.recv(2000); n += 1; s.settimeout(0.5)
    except TimeoutError: print(n)
else:
    socks = [socket.socket(family, socket.SOCK_DGRAM) for _ in range(64)]
    for s in socks:
        s.connect((host, 9999))
        tos = int(sys.argv[3]) << 2
        s.setsockopt(*((socket.IPPROTO_IPV6, socket.IPV6_TCLASS, tos) if ":" in host
                       else (socket.IPPROTO_IP, socket.IP_TOS, tos)))
    for i in range(2000):
        socks[i % 64].send(b"x" * 1000)
        if i % 5 == 0: time.sleep(0.0005)
"""


def inside(host, *command):
    return ["ip", "netns", "exec", f"{PREFIX}{host}", *command]


def arrived(to, address, dscp=0):
    """The number of 2000 datagrams of that code point from host 0 that arrive at `address` on host `to`."""
    hear = subprocess.Popen(inside(to, sys.executable, "-c", TALK, "hear", address), stdout=subprocess.PIPE, text=True)
    hear.stdout.readline()
    subprocess.run(inside(0, sys.executable, "-c", TALK, "talk", address, str(dscp)), check=True)
    return int(hear.communicate(timeout=30)[0])


# Hides nft, and the headers that clang needs.
WITHOUT_TOOLS = """
set -e
if nft=$(PATH=$PATH:/usr/sbin command -v nft); then mount --bind /dev/null "$nft"; fi
if [ -d /usr/include/bpf ]; then mount -t tmpfs tmpfs /usr/include/bpf; fi
exec "$@"
"""


def without_tools(*arguments):
    return subprocess.run(["unshare", "--mount", "bash", "-c", WITHOUT_TOOLS, "bash", NETNS, *arguments],
                          capture_output=True, text=True, check=False)


class Netns(unittest.TestCase):
    def up(self, *arguments):
        self.addCleanup(rig.netns, "down", PREFIX)
        rig.netns("up", PREFIX, *arguments)

    def test_a_missing_tool_is_named(self):
        self.up("2")
        for settings, named in ((("loss=1000",), "nft"), (("loss=1", "dscploss=10:1"), "clang"), (("bleach=on",), "nft")):
            done = without_tools("set", PREFIX, *settings)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stderr.splitlines()[-1], f"{named}.*; run scripts/setup net$")
        self.assertEqual(without_tools("set", PREFIX, "loss=0", "bleach=off").returncode, 0)

    def test_a_test_without_its_tool_is_skipped_but_never_in_ci(self):
        with tempfile.TemporaryDirectory() as folder:
            stub = pathlib.Path(folder, "netns")
            stub.write_text("#!/bin/sh\necho 'netns: loss needs nft' >&2\nexit 3\n")
            stub.chmod(0o755)
            for ci, raised in (("", unittest.SkipTest), ("true", RuntimeError)):
                with mock.patch.object(rig, "NETNS", stub), mock.patch.dict(os.environ, CI=ci), \
                        self.assertRaisesRegex(raised, "loss needs nft") as caught:
                    rig.netns("set", PREFIX, "loss=1")
                self.assertEqual(isinstance(caught.exception, unittest.SkipTest), ci == "")

    def test_a_bridge_carries_everything_over_both_families(self):
        self.up("2")
        self.assertEqual(arrived(1, "10.77.0.2"), 2000)
        self.assertEqual(arrived(1, "fd77::2"), 2000)

    def test_loss_is_as_configured(self):
        self.up("2", "offload=seggro", "loss=100000")
        self.assertTrue(1730 <= arrived(1, "10.77.0.2") <= 1870)  # 1800, and 5 sigma is 67
        self.assertRegex(rig.netns("stats", PREFIX), r"(seen,dropped \[\d{4},\d{3}\]|nft \d+ dropped)")
        rig.netns("set", PREFIX, "loss=0")
        self.assertEqual(arrived(1, "10.77.0.2"), 2000)

    @unittest.skipUnless(shutil.which("clang"), "no clang")
    def test_code_points_may_have_a_loss_of_their_own(self):
        self.up("2", "offload=seggro", "loss=1", "dscploss=10:0,14:300000", "only=p1")
        for address in ("10.77.0.2", "fd77::2"):
            self.assertGreaterEqual(arrived(1, address, dscp=10), 1999)
            self.assertGreaterEqual(arrived(1, address, dscp=12), 1990)
            self.assertTrue(1297 <= arrived(1, address, dscp=14) <= 1503)  # 1400, and 5 sigma is 103

    def test_loss_on_one_port_leaves_the_other_alone(self):
        self.up("2", "loss=1000000", "only=p0")
        # No packet returns to host 0, so IPv6's neighbour discovery fails and nothing arrives.
        self.assertEqual(arrived(1, "fd77::2"), 0)
        rig.netns("set", PREFIX, "loss=0", "only=p0")
        self.assertEqual(arrived(1, "fd77::2"), 2000)

    def test_flows_use_both_spines(self):
        self.up("2", "topo=spine")
        before = self.uplink_bytes()
        self.assertEqual(arrived(1, "10.77.1.2"), 2000)
        self.assertEqual(arrived(1, "fd77:1::2"), 2000)
        sent = [after - before[port] for port, after in self.uplink_bytes().items() if "leaf0/" in port]
        self.assertEqual(len(sent), 2)
        self.assertGreater(min(sent), 2000 * 1000 * 2 * 0.2)

    def uplink_bytes(self):
        return {port: int(count) for port, count in (line.split() for line in rig.netns("bytes", PREFIX).splitlines())}

    def test_down_leaves_nothing(self):
        rig.netns("up", PREFIX, "2", "topo=spine")
        rig.netns("down", PREFIX)
        self.assertEqual(self.left(), [])

    def left(self):
        names = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        return re.findall(rf"{PREFIX}\w+", names)

    def test_a_network_that_cannot_be_built_or_is_interrupted_is_removed(self):
        self.addCleanup(rig.netns, "down", PREFIX)
        done = subprocess.run([NETNS, "up", PREFIX, "2", "mtu=abc"], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.left(), [])
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([NETNS, "up", PREFIX, "40"], stderr=subprocess.DEVNULL, start_new_session=True)
            while not self.left():
                time.sleep(0.01)
            os.killpg(process.pid, number)
            self.assertNotEqual(process.wait(60), 0, number)
            self.assertEqual(self.left(), [], number)

    def test_an_existing_network_is_not_touched(self):
        self.up("2")
        done = subprocess.run([NETNS, "up", PREFIX, "3"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"netns down {PREFIX}", done.stderr)
        self.assertCountEqual(self.left(), [f"{PREFIX}{host}" for host in (0, 1, "sw")])

    def test_a_signal_removes_a_programs_network(self):
        code = "import rig, time\nwith rig.Network(sys.argv[1], 2):\n    print('up', flush=True)\n    time.sleep(60)"
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([sys.executable, "-c", f"import sys; sys.path.insert(0, sys.argv[2]); {code}", PREFIX,
                                        NETNS.parent], stdout=subprocess.PIPE, text=True)
            self.assertEqual(process.stdout.readline(), "up\n")
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertEqual((process.returncode, self.left()), (128 + number, []))

    def test_a_signal_waits_for_the_end_of_netns_and_ends_all_tests(self):
        with tempfile.TemporaryDirectory() as folder:
            stub, up = pathlib.Path(folder, "netns"), pathlib.Path(folder, "up")
            stub.write_text(f"#!/bin/sh\ntouch {up}; sleep 1; rm {up}")
            stub.chmod(0o755)
            code = ("class Tests(rig.unittest.TestCase):\n    def test_1(self):\n"
                    "        self.addCleanup(print, 'clean')\n        for _ in range(2):\n"
                    "            with self.subTest(): rig.permitted(); print('not ended')\n"
                    "    def test_2(self): print('not ended')\nrig.unittest.main(argv=['tests'])")
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                process = subprocess.Popen(
                    [sys.executable, "-c", f"import sys; sys.path.insert(0, sys.argv[1]); import rig; rig.NETNS = sys.argv[2]\n{code}",
                     NETNS.parent, stub], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
                while not up.exists():
                    time.sleep(0.01)
                os.killpg(process.pid, number)
                output, _ = process.communicate(timeout=60)
                self.assertEqual((process.returncode, output, up.exists()), (1, "clean\n", False), number)

    def test_wrong_words_are_usage_errors_and_leave_nothing(self):
        for arguments in ((), ("up", PREFIX), ("fly", PREFIX), ("up", PREFIX, "2", "topo=ring"), ("up", PREFIX, "x"), ("set", PREFIX, "x=1"),
                          ("set", PREFIX, "loss=1", "dscploss=10"), ("set", PREFIX, "dscploss=10:1")):
            done = subprocess.run([NETNS, *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, arguments)
        rig.netns("down", PREFIX)


if __name__ == "__main__":
    rig.skip_without_networks()
    unittest.main()
