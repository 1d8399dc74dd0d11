"""scripts/wireshark/dlcp.lua on real packets of the plugin: none is malformed, every kind of frame is named.

Exits with 77 (skipped) if networks of namespaces or tshark are missing."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
import rig  # noqa: E402

DISSECTOR = ROOT / "scripts/wireshark/dlcp.lua"
NAMESPACE = f"wire{os.getpid()}"
BUILD = None
NAMES = {1: "DATA", 2: "HELLO", 3: "WELCOME", 5: "START", 6: "STARTED", 7: "ACK", 11: "CLOSE", 12: "CLOSE_ACK",
         14: "SENT_ONCE", 17: "ECHO_REQUEST", 18: "ECHO_REPLY"}
# Some of the ports that DLCP uses are known to Wireshark as those of other protocols.
FIRST = ("-o", "udp.try_heuristic_first:TRUE")


def inside(*command, **more):
    return subprocess.run(["ip", "netns", "exec", NAMESPACE, *command], capture_output=True, text=True, check=False, **more)


def read(capture, *fields, only="dlcp"):
    wanted = [word for field in fields for word in ("-e", field)]
    done = subprocess.run(["tshark", "-X", f"lua_script:{DISSECTOR}", *FIRST, "-r", str(capture), "-Y", only, "-T",
                           "fields", *wanted], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def pcap(path, frames):
    """A capture of these Ethernet frames."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            out.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def udp(port, payload):
    """A UDP packet from 10.0.0.1 to that port of 10.0.0.2, in Ethernet."""
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0, bytes([10, 0, 0, 1]),
                       bytes([10, 0, 0, 2]))
    return bytes(12) + b"\x08\x00" + head + struct.pack(">HHHH", 50000, port, 8 + len(payload), 0) + payload


def roce(payload):
    """The same as an unreliable datagram of RoCEv2."""
    padding = -len(payload) % 4
    bth = struct.pack(">BBHII", 0x64, padding << 4, 0xFFFF, 17, 1)
    return udp(4791, bth + struct.pack(">II", 1, 18) + payload + bytes(padding) + bytes(4))


class Dissector(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.capture = pathlib.Path(cls.folder.name) / "job.pcapng"
        subprocess.run(["ip", "netns", "add", NAMESPACE], check=True)
        cls.addClassCleanup(subprocess.run, ["ip", "netns", "del", NAMESPACE], check=False)
        cls.addClassCleanup(cls.folder.cleanup)
        inside("ip", "link", "set", "lo", "up")
        # 256 bytes of each packet: payloads are truncated, as is usual for captures of a job.
        listening = subprocess.Popen(["ip", "netns", "exec", NAMESPACE, "dumpcap", "-q", "-i", "lo", "-s", "256", "-B",
                                      "64", "-w", str(cls.capture), "-f", "udp"],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + 30
            while not cls.capture.exists() and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(0.5)
            ring = inside(str(BUILD.dlcp), "bench", "--mode", "ring", "--ranks", "3", "--size", "1M", "--iterations", "4",
                          "--loss", "1%", "--loss-budget", "5%", "--json",
                          env=os.environ | {"DLCP_IFNAME": "lo", "DLCP_GSO": "0", "DLCP_GRO": "0", "DLCP_MTU": "1500"})
            cls.result = json.loads(ring.stdout)
            there = subprocess.Popen(["ip", "netns", "exec", NAMESPACE, str(BUILD.dlcp), "doctor", "--listen"],
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            try:
                there.stdout.readline()  # it answers from now on
                inside(str(BUILD.dlcp), "doctor", "--peer", "127.0.0.1", env=os.environ | {"DLCP_IFNAME": "lo"},
                       timeout=60)
            finally:
                there.kill()
                there.communicate()
            time.sleep(0.5)
        finally:
            listening.terminate()
            listening.wait()

    def test_every_frame_is_parsed_completely(self):
        self.assertEqual(read(self.capture, "_ws.col.Info", only="dlcp.malformed or dlcp.other_version"), [])
        self.assertEqual(read(self.capture, "_ws.expert.message", only="dlcp and _ws.expert.severity == error"), [])
        self.assertEqual(read(self.capture, "_ws.col.Info", only="udp.port >= 49152 and not dlcp"), [])

    def test_every_kind_of_frame_is_named(self):
        seen = {int(kind): info.split()[0] for kind, info in read(self.capture, "dlcp.type", "_ws.col.Info",
                                                                  only="dlcp.type")}
        for kind, name in NAMES.items():
            self.assertEqual(seen.get(kind), name)
        devices = [info for info, in read(self.capture, "_ws.col.Info", only="dlcp.devices")]
        self.assertEqual(devices[:2], ["DEVICES question", "DEVICES answer"])
        self.assertEqual(set(devices[2:]), set(devices[:2]))  # each pair of devices asks again

    def test_the_fields_of_data_are_consistent(self):
        rows = read(self.capture, "dlcp.offset", "dlcp.payload_bytes", "dlcp.message_bytes", "udp.length",
                    "dlcp.plain_bytes", "dlcp.traffic_class", "dlcp.licensed", only="dlcp.type == 1")
        self.assertLessEqual(len(rows), self.result["counters"]["packets_sent"])
        self.assertGreater(len(rows), self.result["counters"]["packets_sent"] / 2)
        for offset, payload, whole, datagram, plain, _, _ in rows:  # `plain`: of a compressed message
            self.assertLessEqual(int(offset) + int(plain or payload), int(whole))
            padding = int(datagram) - 8 - (52 if plain else 44) - int(payload)
            self.assertGreaterEqual(padding, 0)
            if padding > 0:  # of the last packet of a message
                self.assertEqual(int(offset) + int(payload), int(whole))
            self.assertEqual(int(offset) % 128, 0)
        marked = {kind for *_, kind, licensed in rows if licensed in ("1", "True")}
        self.assertLessEqual(marked, {"2", "3", "4", "5", "6"})
        self.assertGreater(len(marked), 1)

    def test_roce_is_parsed_too_and_other_packets_are_ignored(self):
        frame = struct.pack("<BBBBQI", 0xDC, 3, 12, 3, 0x1122334455667788, 7) + bytes(8)
        other = pathlib.Path(self.folder.name) / "other.pcap"
        later = bytes([0xDC, 1]) + frame[2:]
        pcap(other, [roce(frame), udp(50001, frame), udp(50001, bytes(40)), udp(50001, frame[:10]), udp(50001, later),
                     udp(50001, frame[:20])])
        self.assertEqual(read(other, "frame.number", "_ws.col.Info"),
                         [["1", "CLOSE_ACK"], ["2", "CLOSE_ACK"], ["5", "wire version 1"], ["6", "CLOSE_ACK"]])
        self.assertEqual(read(other, "frame.number", only="dlcp.malformed"), [["6"]])
        self.assertEqual(read(other, "dlcp.destination", only="frame.number == 1"), [["0x1122334455667788"]])


if __name__ == "__main__":
    rig.skip_without_networks()
    if shutil.which("tshark") is None:
        rig.skip("no tshark (package tshark)")
    BUILD = rig.Build(pathlib.Path(sys.argv.pop(1)))
    unittest.main(verbosity=2)
