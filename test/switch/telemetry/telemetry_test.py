#!/usr/bin/env python3
"""Checks the files of `dlcp-switch telemetry` with Prometheus' promtool, and `verify` with answers of Prometheus and
gNMI.

  telemetry_test.py DLCP_SWITCH      tests that need promtool are skipped without it, except in CI"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SWITCH = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SWITCH))
import bundle  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
FABRICS = SWITCH / "golden" / "fabrics"
SCRIPT = SWITCH.parents[1] / "switch" / "vendors" / "sonic" / "queue-counters.py"
NEEDS_PROMTOOL = unittest.skipUnless(shutil.which("promtool") or os.environ.get("CI"), "no promtool (Debian: prometheus)")
OK, WRONG, USAGE, REFUSED, DIFFERS, FILES = range(6)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=900, **options)


def intent_of(fabric, scratch):
    """A golden fabric's intent; "sonic-202511" is sonic-roce on a release with separate counters of early drops and marks."""
    if fabric != "sonic-202511":
        return FABRICS / fabric / "intent.yaml"
    copy = scratch / fabric
    if not copy.exists():
        shutil.copytree(FABRICS / "sonic-roce", copy)
        text = (copy / "intent.yaml").read_text()
        assert "202411" in text
        # The samples of test/switch/data are named relative to the fabric's folder.
        text = text.replace("202411", "202511").replace("../../../data/", f"{SWITCH}/data/")
        (copy / "intent.yaml").write_text(text)
    return copy / "intent.yaml"


class Series:
    """Raw series in the form of exporters, for `promtool test rules`."""

    def __init__(self, names):
        self.names, self.rows = names, {}

    def queues(self):
        for plan in self.names["plans"]:
            for ports in plan["ports"]:
                for queue in ports["queues"]:
                    yield plan, ports, queue

    def put(self, plan, device, port, queue, counter, values):
        row = plan["counters"].get(counter)
        if row is None:
            return
        labels = {"fabric": self.names["fabric"], "switch": device, "dlcp_plan": plan["plan"],
                  plan["labels"]["port"]: port, plan["labels"]["queue"]: queue["name"]}
        listed = ",".join(f'{key}="{value}"' for key, value in labels.items())
        listed += f',{row["where"]}' if "where" in row else ""
        self.rows[f"{row['prometheus']}{{{listed}}}"] = values

    def healthy(self):
        """Traffic and marks in all queues, and planned early drops of half of the droppable packets."""
        for plan, ports, queue in self.queues():
            for device in plan["switches"]:
                for port in ports["ports"]:
                    self.put(plan, device, port, queue, "packets", "0+60000x120")
                    self.put(plan, device, port, queue, "drops", "0+0x120")
                    self.put(plan, device, port, queue, "marks", "0+60x120")
                    self.put(plan, device, port, queue, "watermark", f"{queue['limit_bytes'] // 2}x120")
                    if "sheds" not in queue:
                        self.put(plan, device, port, queue, "early_drops", "0x120")
                        continue
                    shed = int(60000 * queue["shed_share"] * 0.5)
                    self.put(plan, device, port, queue, "early_drops", f"0+{shed}x120")
                    # If drops and early drops are separate counters (OTLP), the rules compute the total.
                    if "early_drops" in plan["counters"] and plan["system"] == "sonic":
                        self.put(plan, device, port, queue, "drops", f"0+{shed}x120")
        return self

    def one(self, part, system="sonic"):
        """The first queue of that kind: (plan, switch, port, queue)."""
        for plan, ports, queue in self.queues():
            if queue["part"] == part and plan["system"] == system and ports["ports"]:
                return plan, plan["switches"][0], ports["ports"][0], queue
        raise AssertionError(f"no {part} queue on {system}")


class Telemetry(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def written(self, fabric):
        """The files that the verb writes for a golden fabric."""
        done = run(PROGRAM, "telemetry", intent_of(fabric, self.folder), "-o", self.folder / "out")
        self.assertEqual(done.returncode, OK, done.stderr)
        return self.folder / "out" / "telemetry"

    def fires(self, fabric, change, expected, at="90m", every="4m"):
        """promtool's verdict on the rules of a fabric: after `change` of a healthy one exactly these alerts fire. The
        rules look back five minutes and more, so that evaluated `every` four minutes they say what they always say, for
        a quarter of the work."""
        rules = self.written(fabric) / "rules.yml"
        series = Series(json.loads((rules.parent / "names.json").read_text())).healthy()
        change(series)
        test = {"rule_files": [str(rules)], "evaluation_interval": every, "tests": [
            {"interval": "1m", "input_series": [{"series": key, "values": value} for key, value in series.rows.items()],
             "promql_expr_test": [
                 {"expr": 'count by (alertname, carries) (ALERTS{alertstate="firing"})', "eval_time": at,
                  "exp_samples": [{"labels": "{" + ",".join(f'{k}="{v}"' for k, v in labels.items()) + "}", "value": count}
                                  for labels, count in expected]}]}]}
        (self.folder / "test.json").write_text(json.dumps(test))
        done = run("promtool", "test", "rules", self.folder / "test.json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @NEEDS_PROMTOOL
    def test_rules_of_every_fabric_are_prometheus_rules(self):
        for fabric in ["sonic-202511", *sorted(path.name for path in FABRICS.iterdir())]:
            with self.subTest(fabric=fabric):
                rules = self.written(fabric) / "rules.yml"
                done = run("promtool", "check", "rules", rules)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("SUCCESS", done.stdout)
                self.assertNotIn("duplicate", done.stdout + done.stderr)  # only a warning of promtool

    @NEEDS_PROMTOOL
    def test_a_healthy_fabric_raises_no_alert(self):
        for fabric in ("sonic-202511", "sonic-roce", "data-leaves", "cumulus-roce", "mixed"):
            with self.subTest(fabric=fabric):
                self.fires(fabric, lambda series: None, [])

    @NEEDS_PROMTOOL
    def test_rules_give_the_same_result_if_evaluated_every_minute(self):

        def lossy(series):
            plan, device, port, queue = series.one("control")
            series.put(plan, device, port, queue, "drops", "0+60x120")
        self.fires("sonic-202511", lossy, [({"alertname": "DlcpSwitchControlLoss", "carries": "control"}, 1)], every="1m")

    @NEEDS_PROMTOOL
    def test_each_loss_raises_its_alert(self):
        def lossy(part, counters, system="sonic"):
            def change(series):
                plan, device, port, queue = series.one(part, system)
                for counter, values in counters.items():
                    series.put(plan, device, port, queue, counter, values)
            return change

        control = {"alertname": "DlcpSwitchControlLoss", "carries": "control"}
        self.fires("sonic-202511", lossy("control", {"drops": "0+60x120"}), [(control, 1)])
        self.fires("sonic-202511", lossy("exact", {"drops": "0+60x120"}),
                   [({"alertname": "DlcpSwitchExactLoss", "carries": "exact"}, 1)])
        self.fires("sonic-202511", lossy("exact", {"drops": "0+60x120", "early_drops": "0+60x120"}),
                   [({"alertname": "DlcpSwitchExactLoss", "carries": "exact"}, 1),
                    ({"alertname": "DlcpSwitchDropsProtected", "carries": "exact"}, 1)])
        self.fires("data-leaves", lossy("control", {"drops": "0+60x120"}, "srlinux"), [(control, 1)])
        self.fires("cumulus-roce", lossy("control", {"drops": "0+60x120"}, "cumulus"), [(control, 1)])

    @NEEDS_PROMTOOL
    def test_early_drops_are_compared_with_the_droppable_share(self):
        def change(marks=None, early=None, beside=0, depth=None):
            def put(series):
                plan, device, port, queue = series.one("sheds")
                shed = int(60000 * queue["shed_share"] * 0.5) if early is None else early(queue)
                series.put(plan, device, port, queue, "early_drops", f"0+{shed}x120")
                series.put(plan, device, port, queue, "drops", f"0+{shed + beside}x120")
                if marks is not None:
                    series.put(plan, device, port, queue, "marks", marks)
                if depth is not None:
                    series.put(plan, device, port, queue, "watermark", f"{int(queue['limit_bytes'] * depth)}x120")
            return put

        plan = Series(json.loads((self.written("sonic-202511") / "names.json").read_text())).one("sheds")[3]
        name = plan["carries"]
        self.fires("sonic-202511", change(beside=60), [({"alertname": "DlcpSwitchTailDrops", "carries": name}, 1)])
        self.fires("sonic-202511", change(early=lambda queue: 60000 * queue["shed_share"] / (1 - queue["shed_share"])),
                   [({"alertname": "DlcpSwitchShedsAll", "carries": name}, 1)])
        self.fires("sonic-202511", change(marks="0x120"), [({"alertname": "DlcpSwitchNeverMarks", "carries": name}, 1)])
        self.fires("sonic-202511", change(early=lambda queue: 0), [({"alertname": "DlcpSwitchNeverSheds", "carries": name}, 1)])
        self.fires("sonic-202511", change(depth=0.95), [({"alertname": "DlcpSwitchQueueDeep", "carries": name}, 1)])

    @NEEDS_PROMTOOL
    def test_pause_frames_lossless_drops_and_silence(self):
        def pause(priority_of):
            def change(series):
                plan, device, port, queue = series.one("exact")
                labels = f'fabric="{series.names["fabric"]}",switch="{device}",dlcp_plan="{plan["plan"]}",device="{port}"'
                series.rows[f'sonic_pfc_received_packets_total{{{labels},priority="{priority_of(queue)}"}}'] = "0+60x120"
            return change

        def lossless(series):
            plan, device, port, queue = series.one("exact")
            series.put(plan, device, port, {**queue, "name": "3"}, "drops", "0+60x120")

        def silent(series):
            device = series.one("exact")[1]
            for key in [key for key in series.rows if f'switch="{device}"' in key]:
                series.rows[key] = re.sub(r"x120", "x60", series.rows[key])

        self.fires("sonic-202511", pause(lambda queue: queue["queue"]), [({"alertname": "DlcpSwitchPfc"}, 1)])
        self.fires("sonic-202511", pause(lambda queue: 3), [])
        self.fires("sonic-202511", lossless, [({"alertname": "DlcpSwitchLosslessLoss"}, 1)])
        def never(series):
            device = series.one("exact")[1]
            series.rows = {key: row for key, row in series.rows.items() if f'switch="{device}"' not in key}

        self.fires("sonic-202511", silent, [({"alertname": "DlcpSwitchSilent"}, 1)], at="90m")
        self.fires("sonic-202511", silent, [({"alertname": "DlcpSwitchSilent"}, 1)], at="115m")
        self.fires("sonic-202511", never, [({"alertname": "DlcpSwitchSilent"}, 1)])

    @NEEDS_PROMTOOL
    def test_dashboards_query_series_that_rules_record(self):
        for fabric in ("sonic-202511", "sonic-roce", "data-leaves", "cumulus-roce", "mixed"):
            with self.subTest(fabric=fabric):
                folder = self.written(fabric)
                recorded = set(re.findall(r"- record: (\S+)", (folder / "rules.yml").read_text()))
                board = json.loads((folder / "dashboard.json").read_text())
                panels = board["panels"]
                self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
                cells = [(panel["gridPos"]["x"] + x, panel["gridPos"]["y"] + y) for panel in panels
                         for x in range(panel["gridPos"]["w"]) for y in range(panel["gridPos"]["h"])]
                self.assertEqual(len(set(cells)), len(cells), "panels lie over each other")
                asked = [target["expr"] for panel in panels for target in panel.get("targets", [])]
                self.assertGreater(len(asked), 8)
                for expression in asked:
                    self.assertEqual(set(re.findall(r"dlcp_switch_\w+:\w+", expression)) - recorded, set())
                # promtool reads only expressions in rules; Grafana fills in the variables.
                rules = {"groups": [{"name": "asked", "rules": [
                    {"record": f"asked:{i}:now".replace(":", "_"), "expr": re.sub(r"\$(switch|port)", ".*", expression)}
                    for i, expression in enumerate(asked)]}]}
                (self.folder / "asked.json").write_text(json.dumps(rules))
                done = run("promtool", "check", "rules", self.folder / "asked.json")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                carried = {queue["carries"] for _, _, queue in Series(json.loads((folder / "names.json").read_text())).queues()}
                titles = {panel["title"].split(":")[0] for panel in panels if panel["type"] == "row"}
                self.assertEqual(carried - titles, set())

    def test_equal_switches_share_one_plan_and_are_scraped_separately(self):
        folder = self.written("sonic-roce")
        names = json.loads((folder / "names.json").read_text())
        listed = [device for plan in names["plans"] for device in plan["switches"]]
        self.assertEqual(len(set(listed)), len(listed))
        targets = json.loads((folder / "targets.json").read_text())
        self.assertEqual(sorted(row["labels"]["switch"] for row in targets), sorted(listed))
        self.assertEqual({row["labels"]["dlcp_plan"] for row in targets}, {plan["plan"] for plan in names["plans"]})
        folder = self.written("data-leaves")
        gnmic = json.loads((folder / "gnmic.json").read_text())
        counted = [device for plan in json.loads((folder / "names.json").read_text())["plans"] if plan["counters"]
                   for device in plan["switches"]]
        self.assertEqual(sorted(gnmic["targets"]), sorted(counted))
        self.assertGreater(len(counted), 4)
        for target in gnmic["targets"].values():
            self.assertLessEqual(set(target["subscriptions"]), set(gnmic["subscriptions"]))

    def test_a_failed_write_leaves_no_files(self):
        (self.folder / "file").write_text("in the way")
        done = run(PROGRAM, "telemetry", FABRICS / "sonic-roce" / "intent.yaml", "-o", self.folder / "file")
        self.assertEqual(done.returncode, FILES)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["file"])
        wrong = self.folder / "dscp-collision.yaml"
        wrong.write_text(dict(bundle.split(SWITCH / "golden" / "errors.txt"))[wrong.name])
        done = run(PROGRAM, "telemetry", wrong, "-o", self.folder / "out")
        self.assertEqual(done.returncode, WRONG)
        self.assertFalse((self.folder / "out").exists())

    @NEEDS_PROMTOOL
    def test_the_script_for_sonic_prints_metrics(self):
        stub = self.folder / "swsscommon"
        stub.mkdir()
        (stub / "__init__.py").write_text("")
        (stub / "swsscommon.py").write_text('''
TABLES = {"COUNTERS_QUEUE_NAME_MAP": {"Ethernet0:3": "oid:1", "Ethernet0:4": "oid:2"}, "COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:9"},
          "COUNTERS:oid:1": {"SAI_QUEUE_STAT_WRED_DROPPED_PACKETS": "7", "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": "12"},
          "COUNTERS:oid:2": {"SAI_QUEUE_STAT_WRED_DROPPED_PACKETS": "N/A"}, "COUNTERS:oid:9": {"SAI_PORT_STAT_PFC_3_RX_PKTS": "5"}}
class SonicV2Connector:
    COUNTERS_DB = "COUNTERS_DB"
    def __init__(self, use_unix_socket_path): pass
    def connect(self, database): pass
    def get_all(self, database, key): return TABLES.get(key)
''')
        done = run(sys.executable, SCRIPT, env={**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn('sonic_queue_wred_dropped_packets_total{device="Ethernet0",queue="3"} 7\n', done.stdout)
        self.assertIn('sonic_pfc_received_packets_total{device="Ethernet0",priority="3"} 5\n', done.stdout)
        self.assertNotIn('queue="4"', done.stdout)
        checked = run("promtool", "check", "metrics", input=done.stdout)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))


class Verify(unittest.TestCase):
    """`verify --captured` with JSON."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.intent = intent_of("sonic-202511", self.folder)
        done = run(PROGRAM, "plan", self.intent, "--json")
        self.plan = json.loads(done.stdout)["switches"][0]
        self.port = self.plan["port_groups"][0]["ports"][0]
        self.queues = {queue["name"]: queue for queue in self.plan["port_groups"][0]["queues"]}
        self.bulk = next(name for name in self.queues if name.endswith("bulk"))

    def verify(self, captured, intent=None, device=None):
        text = captured if isinstance(captured, str) else json.dumps(captured)
        (self.folder / "captured.json").write_text(text)
        done = run(PROGRAM, "verify", intent or self.intent, "--switch", device or self.plan["name"], "--captured",
                   self.folder / "captured.json")
        return done.returncode, done.stdout + done.stderr

    def recorded(self, counts, device=None):
        """An answer of Prometheus: {(queue name, counter): rate}."""
        return {"status": "success", "data": {"resultType": "vector", "result": [
            {"metric": {"__name__": f"dlcp_switch_queue_{counter}:rate5m", "switch": device or self.plan["name"],
                        "port": self.port, "queue": str(self.queues[queue]["queue"]), "carries": queue},
             "value": [1700000000.5, str(value)]} for (queue, counter), value in counts.items()]}}

    def test_recorded_rates_are_compared_with_the_plan(self):
        good = {("control", "packets"): 9.5, ("control", "drops"): 0, (self.bulk, "drops"): 0.5,
                (self.bulk, "early_drops"): 0.5, (self.bulk, "marks"): 2}
        code, said = self.verify(self.recorded(good))
        self.assertEqual(code, OK, said)
        self.assertIn(f"{self.bulk}: 150 packets dropped early, 600 marked", said)
        code, said = self.verify(self.recorded({**good, ("control", "drops"): 0.001}))
        self.assertEqual(code, DIFFERS, said)
        self.assertIn("control: 1 packets dropped by a full queue", said)

    def test_raw_series_of_the_exporter_are_compared_with_the_plan(self):
        bulk = str(self.queues[self.bulk]["queue"])

        def series(name, value, **labels):
            return {"metric": {"__name__": name, "instance": f"{self.plan['name']}:9101", "device": self.port, "queue": bulk, **labels},
                    "value": [1, str(value)]}
        answer = {"status": "success", "data": {"resultType": "vector", "result": [
            series("sonic_queue_dropped_packets_total", 7), series("sonic_queue_wred_dropped_packets_total", 7),
            series("sonic_queue_ecn_marked_packets_total", 9), series("up", 1)]}}
        code, said = self.verify(answer)
        self.assertEqual(code, OK, said)
        self.assertIn(f"{self.bulk}: 7 packets dropped early, 9 marked", said)

    def test_gnmi_of_sonic(self):
        bulk = self.queues[self.bulk]["queue"]
        tree = {f"{self.port}:{bulk}": {"SAI_QUEUE_STAT_DROPPED_PACKETS": "9", "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS": "7",
                                        "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": "3"}}
        path = f"COUNTERS/{self.port}/Queues"
        answer = [{"source": f"{self.plan['name']}:8080", "prefix": "COUNTERS_DB", "updates": [{"Path": path, "values": {path: tree}}]}]
        code, said = self.verify(answer)
        self.assertEqual(code, DIFFERS, said)
        self.assertIn(f"{self.bulk}: 2 packets dropped by a full queue", said)

    def test_gnmi_trees_updates_and_events(self):
        intent = FABRICS / "data-leaves" / "intent.yaml"
        names = json.loads(run(PROGRAM, "telemetry", intent, "-o", self.folder / "out", "--json").stdout)
        self.assertIn("telemetry/names.json", names["files"])
        plans = json.loads((self.folder / "out" / "telemetry" / "names.json").read_text())["plans"]
        for device in ("leaf1", "leaf4"):
            plan = next(plan for plan in plans if device in plan["switches"])
            ports = plan["ports"][0]
            port, queue = ports["ports"][0], next(q for q in ports["queues"] if q["carries"] == "control")
            leaf = plan["counters"]["drops"]["gnmi_leaf"]
            path = queue["gnmi"]
            elements = [element.split("[")[0] for element in re.split(r"/(?![^\[]*\])", path.strip("/"))]
            keys = dict(re.findall(r"(\w[\w-]*)\[([\w-]+)=", path))
            bare = {leaf: "5"}
            for element in reversed(elements):
                bare = {element: [{keys[element]: port if element == "interface" else queue["name"], **bare}] if element in keys else bare}
            top = "openconfig-qos:qos" if plan["system"] == "openconfig" else "srl_nokia-qos:qos"
            shapes = {"tree": {top: bare["qos"]},
                      "update": [{"source": f"{device}:57400", "updates": [{"Path": path, "values": {"x": {leaf: "5"}}}]}],
                      "leaf": [{"source": device, "updates": [{"Path": f"{path}/{leaf}", "values": {"x": 5}}]}],
                      "event": [{"name": "queues", "tags": {"source": device, f"interface_{keys['interface']}": port,
                                                            f"queue_{keys['queue']}": queue["name"]},
                                 "values": {f"/a/b/{leaf}": "5"}}]}
            for shape, answer in shapes.items():
                with self.subTest(device=device, shape=shape):
                    code, said = self.verify(answer, intent, device)
                    self.assertEqual(code, DIFFERS, said)
                    self.assertIn("control: 5 packets dropped by a full queue", said)

    def test_malformed_answers_and_answers_of_other_switches_are_refused(self):
        good = self.recorded({("control", "drops"): 0})
        twice = self.recorded({("control", "drops"): 1})
        twice["data"]["result"] += self.recorded({("control", "drops"): 2})["data"]["result"]
        unnamed = self.recorded({("control", "drops"): 1})
        del unnamed["data"]["result"][0]["metric"]["__name__"]
        nameless = self.recorded({("control", "drops"): 1})
        del nameless["data"]["result"][0]["metric"]["switch"]
        for answer, said in (
                (json.dumps(good)[:-9], "begins like JSON but is not JSON"),
                ("{" * 200, "begins like JSON but is not JSON"),
                ({"status": "error", "errorType": "bad_data", "error": "parse error"}, "bad_data: parse error"),
                ({"status": "success", "data": {"resultType": "matrix", "result": []}}, "not belong to an instant query"),
                ({"status": "success", "data": 7}, "not belong to an instant query"),
                ({"status": "success", "data": {"resultType": "vector", "result": []}}, "an empty result"),
                ({"status": "success", "data": {"resultType": "vector", "result": [7]}}, "has no metric"),
                (self.recorded({("control", "drops"): 1}, "spine99"), "belongs to another switch"),
                (nameless, "no label with its name"), (unnamed, "the query computes"), (twice, "occurs twice"),
                (self.recorded({("control", "drops"): -1}), "out of range"),
                (self.recorded({("control", "drops"): "7 packets"}), "lacks a port or a value"),
                ([{"source": "other:8080", "updates": [{"Path": f"COUNTERS/{self.port}/Queues", "values": {
                    "x": {f"{self.port}:1": {"SAI_QUEUE_STAT_PACKETS": "1"}}}}]}], "belongs to another switch"),
                ([{"source": self.plan["name"], "updates": [{"Path": f"COUNTERS/{self.port}/Queues", "values": {
                    "x": {f"{self.port}:1": {"SAI_QUEUE_STAT_PACKETS": "many"}}}}]}], "is not a count"),
                ([], "no queue counters"), ({}, "no queue counters")):
            with self.subTest(said=said):
                code, text = self.verify(answer)
                self.assertEqual(code, WRONG, text)
                self.assertIn(said, text)


if __name__ == "__main__":
    unittest.main()
