#!/usr/bin/env python3
"""The output of `dlcp stats` for Prometheus, checked by Prometheus' own promtool: the metrics with a running job and
without one, and the alert rules of docs/monitoring with their unit tests.

metrics_test.py DLCP PLUGIN      exits with 77 (skipped) without promtool, but never in CI"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import rig  # noqa: E402

DLCP, PLUGIN = "dlcp", "libnccl-net-dlcp.so"


def run(*command, text_in=None):
    return subprocess.run(command, input=text_in, capture_output=True, text=True, timeout=60, check=False)


def sample(metrics, name, **labels):
    """The value of the single sample with these labels."""
    found = [line.rsplit(" ", 1)[1] for line in metrics.splitlines() if line.startswith(name + "{")
             and all(f'{key}="{value}"' in line for key, value in labels.items())]
    assert len(found) == 1, (name, labels, found)
    return float(found[0])


class Metrics(unittest.TestCase):
    def lint(self, metrics):
        done = run("promtool", "check", "metrics", text_in=metrics)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_a_running_job(self):
        job = subprocess.Popen(
            [DLCP, "bench", "--plugin", PLUGIN, "--mode", "bw", "--size", "64k", "--seconds", "20", "--timeout", "60"],
            stdout=subprocess.DEVNULL, env={**os.environ, "SLURM_JOB_ID": "4711"})
        self.addCleanup(job.wait)
        self.addCleanup(job.terminate)
        pids, end = [], time.monotonic() + 20
        while len(pids) < 2 and time.monotonic() < end:
            time.sleep(0.3)
            children = run("ps", "-o", "pid=", "--ppid", str(job.pid)).stdout.split()
            pids = [pid for pid in children if '"sent_gbps"' in run(DLCP, "top", "--json", "--interval", "0.2", "--pid", pid).stdout]
        self.assertEqual(len(pids), 2)
        time.sleep(1)
        done = run(DLCP, "stats", "--prometheus", *(word for pid in pids for word in ("--pid", pid)))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.lint(done.stdout)
        metrics = done.stdout
        self.assertIn('job_id="4711"', metrics)
        buckets = [float(n) for n in re.findall(r'dlcp_message_seconds_bucket\{[^}]*pid="%s"[^}]*side="send"[^}]*\} (\S+)'
                                                % pids[0], metrics)]
        self.assertEqual(buckets, sorted(buckets))
        count = sample(metrics, "dlcp_message_seconds_count", pid=pids[0], side="send")
        self.assertEqual(buckets[-1], count)
        messages = sum(sample(metrics, "dlcp_message_seconds_count", pid=pid, side="send") for pid in pids)
        self.assertGreater(messages, 10)
        self.assertGreater(sum(sample(metrics, "dlcp_message_seconds_sum", pid=pid, side="send") for pid in pids), 0)

    def test_no_job_at_all(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "dlcp.prom")
            done = run(DLCP, "stats", "--user", "nobody", "--textfile", str(path))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.assertEqual(os.listdir(folder), ["dlcp.prom"])
            self.lint(path.read_text())
            self.assertEqual(sample(path.read_text(), "dlcp_processes"), 0)

    def test_the_alert_rules(self):
        for command in (("check", "rules", ROOT / "docs/monitoring/alerts.yml"),
                        ("test", "rules", ROOT / "test/monitoring/alerts_test.yml")):
            done = run("promtool", *map(str, command))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_metric_of_a_rule_exists(self):
        names = set(re.findall(r"\bdlcp_[a-z_]+", re.sub(r"#.*", "", (ROOT / "docs/monitoring/alerts.yml").read_text())))
        self.assertGreater(len(names), 4)
        heads = set(re.findall(r"# TYPE (\S+)", run(DLCP, "stats", "--user", "nobody", "--prometheus").stdout))
        self.assertEqual(names - heads, set())


if __name__ == "__main__":
    DLCP, PLUGIN = sys.argv[1:3]
    del sys.argv[1:3]
    if not shutil.which("promtool"):
        rig.skip("no promtool (Debian: prometheus)")
    unittest.main()
