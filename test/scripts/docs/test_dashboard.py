"""The Grafana dashboard of docs/monitoring: its queries are valid PromQL and use metrics that exist."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
VARIABLES = {"$__rate_interval": "1m", "$job_id": ".*", "$host": ".*"}


def load_script(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.path.insert(0, str(ROOT / "scripts"))
    loader.exec_module(module)
    return module


def queries():
    for panel in json.loads((ROOT / "docs" / "monitoring" / "dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def metrics():
    """Names as `dlcp stats --prometheus` writes them: some fixed ones, and one for each counter."""
    names = set()
    for source in (ROOT / "src" / "cli" / "stats").rglob("*.cc"):
        names |= set(re.findall(r'"(dlcp_[a-z_]+)"', source.read_text()))
    counters = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "counters.md").read_text(), re.MULTILINE)
    return names | {f"dlcp_{name}_total" for name in counters if not name.startswith("dropped_")}


class Dashboard(unittest.TestCase):
    def test_every_metric_in_a_query_exists(self):
        known = metrics()
        for title, query in queries():
            for name in re.findall(r"\bdlcp_[a-z_]+", query):
                self.assertIn(re.sub(r"_bucket$", "", name), known, title)

    def test_every_panel_has_an_explanation(self):
        for panel in json.loads((ROOT / "docs" / "monitoring" / "dashboard.json").read_text())["panels"]:
            self.assertTrue(panel["description"].endswith("."), panel["title"])

    def test_the_picture_supports_every_unit_and_names_every_series(self):
        picture = load_script("dashboard-picture")
        for panel in json.loads((ROOT / "docs" / "monitoring" / "dashboard.json").read_text())["panels"]:
            self.assertIn(panel["fieldConfig"]["defaults"]["unit"], picture.UNITS, panel["title"])
            for target in panel["targets"]:
                self.assertTrue(target["legendFormat"], panel["title"])
        for _, query in queries():
            self.assertNotIn("$", picture.filled_in(query))
        self.assertEqual(picture.filled_in("{{host}} rank {{rank}}", {"host": "a", "rank": "3"}), "a rank 3")

    @unittest.skipUnless(shutil.which("promtool") or os.environ.get("CI") == "true", "no promtool (package prometheus)")
    def test_prometheus_accepts_every_query(self):
        rules = []
        for number, (_, query) in enumerate(queries()):
            for variable, value in VARIABLES.items():
                query = query.replace(variable, value)
            rules.append({"record": f"dashboard:{number}", "expr": query})
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)  # JSON is YAML
            file.flush()
            done = subprocess.run(["promtool", "check", "rules", file.name], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{len(rules)} rules found", done.stdout)


if __name__ == "__main__":
    unittest.main()
