#!/usr/bin/env python3
"""The verbs datapath over Soft-RoCE, under a stock kernel (test/rig/guest): exactness on clean, lossy, marking and
scheduling switches, the packets on the wire, and links, processes and devices that disappear. roce_guest.sh does the
steps; this program judges the results.

  test_roce_guest.py [--long] BUILD [OUT]
      BUILD   folder with bin/dlcp, bin/roce_traffic and the plugin      OUT   keep files there
      --long  also the cases that are too slow for every run

Exits with 77 where no guest can run."""

import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import roce_capture

HERE = pathlib.Path(__file__).resolve().parent
RIG = HERE.parent
sys.path.insert(0, str(RIG))
from class_table import traffic_classes  # noqa: E402

GUEST = RIG / "guest"
PEER_TIMEOUT = 4  # seconds, in the steps in which something fails permanently
# Additional seconds until a rank detects it: the timeout begins when the rank waits for the failed peer, and an
# all-reduce takes a second or two in a guest that is emulated on a busy machine.
GUEST_SLACK = 6
PORTS = 16       # UDP source ports that a connection must have at least
LONG_BURST = 8   # packets; longer bursts must have few completions per packet
BUILD = OUT = None


def read(name):
    return (OUT / name).read_text()


def results(name):
    """The results of one `dlcp bench`: a list with one entry per size."""
    found = json.loads(read(f"{name}.json"))
    return found if isinstance(found, list) else [found]


def qdisc(step, kind):
    return next(q for q in json.loads(read(f"{step}.tc")) if q["kind"] == kind)


def say(text):
    print(f"    {text}", flush=True)


class Plugin(unittest.TestCase):
    def right(self, name):
        self.assertEqual(read(f"{name}.status").strip(), "0", read(f"{name}.log") + read(f"{name}.json"))
        for result in results(name):
            self.assertEqual(result["bytes_wrong"], 0)
            self.assertGreater(result["messages"], 0)
            counters = result["counters"]
            received = counters["verbs_rx_packets"] + counters["verbs_placed_rx_packets"]
            self.assertGreaterEqual(received, counters["packets_received"])
            self.assertGreater(counters["verbs_tx_packets"], 0)  # so UDP was not used
            say(f"{name}, {result['size']} bytes: {result['messages']} messages, {counters['packets_sent']} packets, "
                f"{counters['packets_retransmitted']} retransmitted, {counters['ce_marks_received']} marked")
        return results(name)[-1]


class Carried:
    """The cases of one carrier; its subclasses are the tests."""
    carrier = places = None  # places: in the log of a rank whose card places data

    def result_of(self, case):
        """The last result of a run without an error, in which the carrier was used."""
        result = self.right(f"{self.carrier}_{case}")
        counters = result["counters"]
        placed = counters["verbs_bytes_placed_by_nic"]
        log = read(f"{self.carrier}_{case}.log")
        if self.places:
            self.assertIn(f"the card places received data ({self.places}, permissions by memory regions)", log)
            say(f"{placed} bytes placed, {counters['bytes_copied']} copied, "
                f"{counters['verbs_placement_queue_pairs_reset']} queue pairs replaced")
            if not case.endswith("_lat"):
                self.assertGreater(placed, 0)
        else:
            self.assertEqual(placed, 0)
            self.assertEqual(counters["bytes_copied"], counters["bytes_received"])
        return result

    def modes(self, case, modes=("bw", "ring")):
        for mode in modes:
            result = self.result_of(f"{case}_{mode}")
        return result

    def switch(self, case, kind):
        return qdisc(f"{self.carrier}_{case}", kind)

    def test_on_a_clean_switch(self):
        self.modes("clean")

    def test_with_loss_and_reordering(self):
        self.modes("lossy")
        self.assertGreater(self.switch("lossy", "netem")["drops"], 0)

    def test_behind_red_that_marks(self):
        heard = self.modes("marked", ("bw",))["counters"]["ce_marks_received"]
        marked = self.switch("marked", "red")["marked"]
        say(f"the switch marked {marked} packets; congestion control received {heard} marks in the stream")
        self.assertGreater(marked, 0)
        self.assertLessEqual(heard, marked)

    def test_behind_strict_and_weighted_queues(self):
        if self.carrier == "rc" and not (OUT / "rc_weighted.classes").exists():
            self.skipTest("only with --long")
        self.modes("weighted", ("bw",))
        packets = dict(re.findall(r"class ets 2:(\d) root.*\n Sent \d+ bytes (\d+) pkt",
                                  read(f"{self.carrier}_weighted.classes")))
        say(f"packets by band: {packets}")
        self.assertGreater(int(packets["1"]), 0)  # control
        self.assertGreater(int(packets["2"]), int(packets["1"]))  # exact
        self.assertEqual(packets["3"], "0")  # no gradient was licensed

    def test_over_a_link_that_flaps(self):
        self.result_of("flap_bw")

    def failed(self, case, ranks, codes):
        """A permanent failure: an error on every rank, soon, and nothing worse."""
        took = float(read(f"{self.carrier}_{case}.took"))
        result = results(f"{self.carrier}_{case}")[0]
        say(f"{', '.join(result['result_codes'])}; {result['error']}")
        self.assertEqual(result["bytes_wrong"], 0)
        self.assertEqual(len(result["result_codes"]), ranks)
        for code in result["result_codes"]:
            self.assertIn(code, codes)
        self.assertLess(took, PEER_TIMEOUT + GUEST_SLACK)

    def test_a_killed_peer(self):
        result = results(f"{self.carrier}_killed_ring")[0]
        codes = result["result_codes"]
        say(f"{codes}, {result['time_to_error_ms']} ms after the kill")
        self.assertEqual([code for i, code in enumerate(codes) if i != 2], ["ncclRemoteError"] * 3)
        self.assertLess(max(ms for ms in result["time_to_error_ms"] if ms), 1000 * (PEER_TIMEOUT + GUEST_SLACK))

    def test_a_link_that_is_down_permanently(self):
        self.failed("down_ring", 4, ("ncclRemoteError",))

    def test_a_device_that_is_removed(self):
        self.failed("removed_bw", 2, ("ncclRemoteError", "ncclSystemError"))
        self.assertEqual(read(f"{self.carrier}_removed.status").strip(), "0")


class OverUd(Carried, Plugin):
    carrier = "ud"

    def test_short_messages_and_rings(self):
        for step in ("clean", "lossy", "marked", "weighted"):
            self.modes(step, ("lat", "ring"))

    def test_marks_and_losses_are_noticed(self):
        counters = {step: results(f"ud_{step}_bw")[0]["counters"] for step in ("lossy", "marked")}
        self.assertGreater(counters["lossy"]["packets_retransmitted"], 0)
        self.assertGreater(counters["marked"]["ce_marks_received"], 0)


class Placing(Carried):
    """The card writes most bytes, and these are as right as copied ones."""
    # Limits of the share of bytes that are copied in a clean run, because the packet left before the permission arrived;
    # over RC also while round trips are long, as in a busy guest.
    copied_share = None

    def test_few_bytes_are_copied_on_a_clean_switch(self):
        for mode in ("bw", "ring"):
            counters = results(f"{self.carrier}_clean_{mode}")[0]["counters"]
            placed, copied = counters["verbs_bytes_placed_by_nic"], counters["bytes_copied"]
            self.assertEqual(placed + copied, counters["bytes_received"])  # each byte once
            say(f"{mode}: {copied / (placed + copied):.2%} of {placed + copied} bytes were copied")
            self.assertLess(copied, self.copied_share[mode] * (placed + copied))

    def test_with_late_and_doubled_packets(self):
        self.modes("doubled")


class OverUc(Placing, Plugin):
    carrier, places = "uc", "UC"
    copied_share = {"bw": 0.01, "ring": 0.01}


class OverRc(Placing, Plugin):
    carrier, places = "rc", "RC"
    copied_share = {"bw": 0.5, "ring": 0.5}

    def test_few_queue_pairs_fail_on_a_clean_switch(self):
        # A path also fails if the emulated guest is stopped for 118 ms.
        self.assertLessEqual(results("rc_clean_bw")[0]["counters"]["verbs_placement_queue_pairs_reset"], 4)

    def test_queue_pairs_are_replaced_after_outages(self):
        """They were longer than the card repeats."""
        self.assertGreater(results("rc_flap_bw")[0]["counters"]["verbs_placement_queue_pairs_reset"], 0)


class Chosen(unittest.TestCase):
    """DLCP_DATAPATH is not set."""

    def came_over_udp(self, name):
        self.assertEqual(read(f"{name}.status").strip(), "0", read(f"{name}.log"))
        result = results(name)[0]
        self.assertEqual(result["bytes_wrong"], 0)
        self.assertGreater(result["messages"], 0)
        return result["counters"].get("verbs_rx_packets", 0) == 0

    def test_two_ranks_with_roce_use_it(self):
        self.assertFalse(self.came_over_udp("chosen_auto"))
        log = read("chosen_auto.log")
        self.assertEqual(log.count("16 paths by queue pair, 16 UDP source ports per peer"), 2, log)
        self.assertNotIn("over UDP instead", log)

    def test_one_rank_without_it_makes_both_use_udp_with_one_line_in_the_log(self):
        for name in ("chosen_mixed", "chosen_mixed_back"):
            self.assertTrue(self.came_over_udp(name))
            self.assertEqual(read(f"{name}.log").count("over UDP instead of RoCE"), 2 if name.endswith("back") else 1)

    def test_if_roce_is_blocked_both_ranks_use_udp_and_log_the_reason(self):
        self.assertTrue(self.came_over_udp("chosen_blocked"))
        log = read("chosen_blocked.log")
        self.assertIn("has not answered over RoCE for 2500 ms; check that switches and firewalls pass UDP port 4791", log)
        self.assertEqual(log.count("over UDP instead of RoCE"), 2, log)

    def test_a_rank_that_may_not_use_udp_refuses(self):
        self.assertEqual(read("chosen_strict.status").strip(), "3")
        self.assertIn("does not use RoCE, but this rank at 10.77.0.1 does; this rank does not use UDP, but the peer at 10.77.0.2 does",
                      read("chosen_strict.log"))

    def test_doctor_names_the_source_of_paths(self):
        said = " ".join(read("doctor.txt").split())  # doctor wraps its lines
        self.assertRegex(said, r"rxe1:1 \(paths by queue pair, 16 UDP source ports\)")


class Wire(unittest.TestCase):
    """The packets captured on the switch's port to host 1."""
    WRITES = {"uc": roce_capture.UC_WRITE_ONLY_IMMEDIATE, "rc": roce_capture.RC_WRITE_ONLY_IMMEDIATE}
    RUNS = [(carrier, mode) for carrier in ("uc", "rc") for mode in ("bw", "ring")]

    def captured(self, carrier, modes=("bw", "ring")):
        for mode in modes:
            yield from roce_capture.packets(OUT / f"{carrier}_clean_{mode}.pcap")

    def writes(self, carrier, mode):
        return [p for p in self.captured(carrier, (mode,)) if p.opcode == self.WRITES[carrier]]

    def test_every_packet_is_valid_and_a_message_of_its_own(self):
        opcodes = {"ud": {roce_capture.UD_SEND_ONLY},
                   "uc": {roce_capture.UD_SEND_ONLY, roce_capture.UC_WRITE_ONLY_IMMEDIATE},
                   "rc": {roce_capture.UD_SEND_ONLY, roce_capture.RC_WRITE_ONLY_IMMEDIATE,
                          roce_capture.RC_ACKNOWLEDGE}}
        for carrier, allowed in opcodes.items():
            for file in ("clean_bw", "clean_ring", "whole"):
                found = [p for p in roce_capture.packets(OUT / f"{carrier}_{file}.pcap")
                         if p.destination.startswith("10.77.0.")]
                self.assertGreater(len(found), 100)
                self.assertEqual({p.destination_port for p in found}, {roce_capture.ROCE_PORT})
                self.assertEqual({p.opcode for p in found}, allowed)
                self.assertEqual(collections.Counter(why for p in found for why in p.problems), {})
                say(f"{carrier}_{file}: {dict(collections.Counter(hex(p.opcode) for p in found))}")

    def test_marks_equal_those_of_the_class(self):
        table = traffic_classes()
        self.assertEqual(table[0][0], "control")
        seen = collections.Counter()
        for carrier in ("ud", "uc", "rc"):
            for p in self.captured(carrier):
                if p.opcode != roce_capture.UD_SEND_ONLY:
                    continue
                name, dscp, ecn = table[p.traffic_class]
                self.assertEqual((p.dscp, p.ecn), (dscp, ecn), name)
                seen[carrier, name] += 1
        say(f"{dict(seen)}")
        self.assertGreater(min(seen["ud", "control"], seen["ud", "exact"]), 100)

    def test_marks_of_placed_packets_are_those_of_exact_data(self):
        exact = next(row for row in traffic_classes().values() if row[0] == "exact")
        for carrier, mode in self.RUNS:
            self.assertEqual({(p.dscp, p.ecn) for p in self.writes(carrier, mode)}, {exact[1:]}, carrier)

    def test_a_queue_pair_has_one_source_port_and_a_link_many(self):
        for carrier, mode in self.RUNS:
            ports, count = collections.defaultdict(lambda: collections.defaultdict(set)), collections.Counter()
            for p in self.writes(carrier, mode):
                link = p.source, p.destination
                ports[link][p.queue_pair].add(p.source_port)
                count[link] += 1
            busy = [link for link in count if count[link] >= 300]
            self.assertGreater(len(busy), 0)
            for link in busy:
                self.assertEqual({len(one) for one in ports[link].values()}, {1}, carrier)
                distinct = set().union(*ports[link].values())
                say(f"{carrier}, {mode}, {' to '.join(link)}: {len(ports[link])} queue pairs, "
                    f"{len(distinct)} UDP source ports")
                self.assertGreaterEqual(min(distinct), 0xc000)
                self.assertGreaterEqual(len(distinct), PORTS // 2)

    def test_a_connection_uses_many_source_ports(self):
        """By token, which identifies the connection: those with enough packets for a judgement."""
        ports, count = collections.defaultdict(set), collections.Counter()
        for p in self.captured("ud"):
            if p.frame_type == roce_capture.DATA:
                self.assertGreaterEqual(p.source_port, 0xc000)
                ports[p.token].add(p.source_port)
                count[p.token] += 1
        busy = [token for token in count if count[token] >= 300]
        self.assertGreater(len(busy), 1)
        say(f"UDP source ports of connections with 300 packets or more: {[len(ports[token]) for token in busy]}")
        for token in busy:
            self.assertGreaterEqual(len(ports[token]), PORTS)


class Overload(unittest.TestCase):
    def test_protected_packets_pass_and_droppable_ones_are_dropped(self):
        sent = json.loads(read("overload.json"))
        red = qdisc("overload", "red")
        self.assertEqual(sent["wrong_marks"], 0)
        lost = {name: row["sent"] - row["received"] for name, row in sent["classes"].items()}
        for name, row in sent["classes"].items():
            say(f"{name}: {row['sent']} sent, {lost[name]} lost ({lost[name] / row['sent']:.2%}), {row['ce']} marked")
        protected, droppable = sent["classes"]["exact"], sent["classes"]["bulk-droppable"]
        self.assertLess(lost["exact"], 0.001 * protected["sent"])
        self.assertGreater(lost["bulk-droppable"], 0.05 * droppable["sent"])
        self.assertLessEqual(lost["bulk-droppable"], red["drops"])  # nothing else dropped any
        self.assertGreater(protected["ce"], 0)
        self.assertEqual(droppable["ce"], 0)


class Tags(unittest.TestCase):
    """A licensed 4-rank ring, behind RED that drops not-ECT packets early."""

    def important_ones_pass(self, carrier):
        error = {}
        for name in (f"{carrier}_tags_on", f"{carrier}_tags_off"):
            result = results(name)[0]
            self.assertEqual(read(f"{name}.status").strip(), "0", read(f"{name}.log"))
            self.assertTrue(result["ranks_identical"])
            self.assertGreaterEqual(result["delivered_share_min"], 1 - result["loss_budget"])
            lost = 1 - result["delivered_share"]
            self.assertGreater(lost, 0)
            error[name] = result["relative_mse"] / lost
            say(f"{name}: RED dropped {qdisc(name, 'red')['drops']}, lost {lost:.4f} of the sums, relative MSE "
                f"{result['relative_mse']:.3g}, {error[name]:.3g} per share lost; "
                f"{result['counters']['bytes_lost_bulk_protected']} of {result['lost_bytes']} bytes were protected; "
                f"{result['counters']['verbs_bytes_placed_by_nic']} bytes placed")
        self.assertLess(error[f"{carrier}_tags_on"], 0.5 * error[f"{carrier}_tags_off"])
        return result["counters"]["verbs_bytes_placed_by_nic"]

    def test_packets_dropped_by_red_matter_least(self):
        self.assertEqual(self.important_ones_pass("ud"), 0)

    def test_so_do_placed_packets(self):
        if not (OUT / "uc_tags_on.json").exists():
            self.skipTest("only with --long")
        self.assertGreater(self.important_ones_pass("uc"), 0)


class Kernel(unittest.TestCase):
    def test_its_log_has_no_complaints(self):
        self.assertNotRegex(read("kernel.txt"), r"Oops|BUG:|WARNING:|leaked|Call Trace")


class Placed(unittest.TestCase):
    """Packets that the card writes into the memory of the receiver: no byte changes after a buffer was taken back."""

    def outcome(self, name):
        text = read(f"placed_{name}.json")
        self.assertTrue(text, read(f"placed_{name}.log"))
        found = json.loads(text)
        say(f"{name}: {found['messages']} messages, {found['packets']} packets, {found['repeated']} repeated, "
            f"{found['wrong']} messages wrong, {found['canaries_broken']} canaries broken")
        kind = "RC" if name.startswith("rc_") else "UC"
        self.assertEqual(found["ability"], f"{kind}, permissions by memory regions")
        self.assertGreater(found["messages"], 20)
        if kind == "UC":
            self.assertEqual(found["rx_errors"], 0)
        self.assertGreaterEqual(found["bytes_placed_by_nic"], found["messages"] * 16 * 4096)
        return found

    def test_no_byte_changes_after_the_revocation(self):
        for name in ("clean", "loss", "late", "doubled"):
            found = self.outcome(name)
            self.assertEqual((found["wrong"], found["canaries_broken"]), (0, 0), name)
            if name != "clean":
                self.assertGreater(found["repeated"], 0)

    def test_over_reliable_queue_pairs(self):
        for name in ("rc_clean", "rc_loss", "rc_late", "rc_doubled"):
            found = self.outcome(name)
            say(f"{name}: {found['paths_failed']} paths failed")
            self.assertEqual((found["wrong"], found["canaries_broken"]), (0, 0), name)
            # A path also fails if the emulated guest is stopped for 118 ms.
            if name == "rc_clean":
                self.assertLessEqual(found["paths_failed"], 2, name)
            if found["paths_failed"] == 0:
                self.assertEqual((found["repeated"], found["rx_errors"]), (0, 0), name)

    def test_without_revocation_late_packets_are_seen(self):
        found = self.outcome("unsafe")
        self.assertGreater(found["wrong"] + found["canaries_broken"], 0)

    def test_doctor_tests_the_devices(self):
        found = re.sub(r"\s+", " ", read("placed_doctor.txt"))
        self.assertEqual(found.count("can place data: UC, permissions by memory regions"), 4, found)


class Mixed(unittest.TestCase):
    def test_a_peer_that_does_not_place_data_gets_ordinary_packets(self):
        self.assertEqual(read("mixed.status").strip(), "0", read("mixed.log"))
        result = results("mixed")[0]
        self.assertEqual(result["bytes_wrong"], 0)
        self.assertGreater(result["messages"], 0)
        self.assertEqual(result["counters"]["verbs_bytes_placed_by_nic"], 0)
        self.assertIn("received data is copied, because DLCP_ROCE_PLACEMENT is off", read("mixed.log"))


class Speed(unittest.TestCase):
    """Ratios within one guest: it is emulated, so absolute numbers are meaningless."""

    def perftest(self, name):
        """Its packets of 4096 bytes per second, or None if it is not installed."""
        file = OUT / f"{name}.txt"
        found = re.findall(r"^ *4096 +\d+ +\S+ +\S+\s+(\S+)", file.read_text(), re.M) if file.exists() else []
        return 1e6 * float(found[-1]) if found else None

    def test_packets_per_second_against_perftest(self):
        ratios = []
        for attempt in (1, 2):
            ours = results(f"speed_bw{attempt}")[0]
            alone = json.loads(read(f"speed{attempt}.json"))
            # Data packets and acknowledgements: both are sent and received.
            seconds = ours["bytes"] / (ours["aggregate_gbps"] * 1e9 / 8)
            share = ours["bytes"] / ours["counters"]["bytes_received"]
            rate = share * ours["counters"]["packets_sent"] / seconds
            everything = share * ours["counters"]["verbs_tx_packets"] / seconds
            text = f"plugin {rate:.0f} data packets/s ({everything:.0f} with control), datapath alone " \
                   f"{alone['packets'] / alone['seconds']:.0f}/s"
            perftest = self.perftest(f"perftest{attempt}")
            if perftest:
                ratios.append(rate / perftest)
                text += f", ib_send_bw {perftest:.0f}/s: {ratios[-1]:.2f}"
            say(text)
        if not ratios:
            self.skipTest("ib_send_bw is not installed (package perftest)")
        self.assertGreaterEqual(max(ratios), 0.7)

    def test_placed_packets_against_perftest(self):
        """RDMA WRITE over UC: DLCP adds an immediate and acknowledgements, perftest neither."""
        for attempt in (1, 2):
            ours, copied = results(f"speed_placed{attempt}")[0], results(f"speed_bw{attempt}")[0]
            self.assertGreater(ours["counters"]["verbs_bytes_placed_by_nic"], ours["counters"]["bytes_copied"])
            text = f"placed {ours['aggregate_gbps']:.3f} Gb/s, copied {copied['aggregate_gbps']:.3f}"
            perftest = self.perftest(f"perftest_write{attempt}")
            if perftest:
                gbps = perftest * 4096 * 8 / 1e9
                text += f", ib_write_bw -c UC {gbps:.3f}: {ours['aggregate_gbps'] / gbps:.2f}"
            say(text)

    def test_few_completions_and_doorbells(self):
        """Packets of one doorbell request one completion; a guest short of processor time sends shorter bursts."""
        for attempt in (1, 2):
            sent, counters = json.loads(read(f"speed{attempt}.json")), results(f"speed_bw{attempt}")[0]["counters"]
            completions = counters["verbs_tx_completions"] / counters["verbs_tx_packets"]
            doorbells = counters["verbs_tx_doorbells"] / counters["verbs_tx_packets"]
            burst = counters["packets_sent"] / counters["bursts_sent"]
            say(f"plugin: {completions:.3f} completions, {doorbells:.3f} doorbells per packet over {PORTS} queue "
                f"pairs, bursts of {burst:.1f}; datapath alone: {sent['completions'] / sent['packets']:.3f}, "
                f"{sent['doorbells'] / sent['packets']:.3f}")
            self.assertLess(sent["completions"] / sent["packets"], 0.2)
            self.assertLess(completions, doorbells)
            self.assertLess(doorbells, 1)
            if burst >= LONG_BURST:
                self.assertLess(completions, 0.2)


def run_guest(steps):
    command = [GUEST, "--timeout", "1400", "--roce", "4", "--share", OUT, "--log", OUT / "guest.log", "--",
               "bash", HERE / "roce_guest.sh", BUILD, OUT, steps]
    return subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, nargs="?")
    options = parser.parse_args()
    BUILD = options.build.resolve()
    cannot = subprocess.run([GUEST, "--check"], capture_output=True, text=True, check=False)
    missing = [tool for tool in ("rdma", "tcpdump") if not shutil.which(tool, path="/usr/sbin:/sbin:/usr/bin:/bin")]
    if not (BUILD / "bin" / "roce_traffic").exists():
        missing.append("rdma-core's headers when this was built")
    if cannot.returncode or missing:
        print(f"skipped: {cannot.stderr.strip() or 'missing: ' + ', '.join(missing) + ' (scripts/setup guest)'}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as made:
        OUT = pathlib.Path(options.out or made).resolve()
        OUT.mkdir(exist_ok=True)
        if run_guest("long" if options.long else "short"):
            sys.exit("the guest failed")
        unittest.main(argv=sys.argv[:1], verbosity=2)
