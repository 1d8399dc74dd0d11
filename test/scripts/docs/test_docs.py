"""README is short, every page can be reached from it, and no link between pages is dead."""

import os
import pathlib
import re
import unittest

try:
    import yaml
except ImportError:  # no need of the project's own
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[3]
README_LINES_MAX = 110
# Quoted in docs/troubleshooting.md: messages of other programs, and messages that the code composes.
FOREIGN = re.compile(r"NET/Plugin|Using network|not found|Failed to initialize any NET plugin|supported wheel")
COMPOSED = {"(from environment)", "the peer has not answered for", "lanes over UDP instead of"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages():
    tops = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
    folders = [path for top in ("docs", "src", "switch", "test") for path in (ROOT / top).rglob("*.md")]
    # Files that dlcp-switch generated for the golden fabrics have tests of their own.
    return tops + [path for path in folders if "golden" not in path.parts and "data" not in path.parts]


def anchors(page):
    """The fragment that names each heading, computed as by hosting sites."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            path, _, fragment = target.partition("#")
            yield target, (page.parent / path).resolve() if path else page, fragment


def messages():
    """All string literals of the sources; adjacent ones are joined, with a line break for each placeholder."""
    text = []
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in {".h", ".cc"}:
            source = re.sub(r"^\s*//.*$|^#.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            text += re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", source))
    return re.sub(r"\{[^{}]*\}", "\n", "\n".join(text))


class Docs(unittest.TestCase):
    def test_readme_is_short(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()), README_LINES_MAX)

    def test_every_link_leads_somewhere(self):
        for page in pages():
            for target, path, fragment in links(page):
                with self.subTest(page=str(page.relative_to(ROOT)), link=target):
                    self.assertTrue(path.exists())
                    if fragment:
                        self.assertIn(fragment, anchors(path))

    def test_every_page_of_src_names_entry_points_and_allowed_includes(self):
        for page in sorted((ROOT / "src").rglob("README.md")):
            with self.subTest(page=str(page.relative_to(ROOT))):
                text = page.read_text(encoding="utf-8")
                self.assertRegex(text, r"\*\*Entry\s+points?:\*\*")
                self.assertRegex(text, r"\*\*May\s+(include|import):\*\*")

    def test_every_folder_of_sources_is_described(self):
        """By a page of its own, or by name in the page of the nearest folder above it that has one."""
        folders = {path.parent for top in ("src", "switch", "test") for path in (ROOT / top).rglob("*")
                   if path.suffix in {".h", ".cc", ".cu", ".c"} or top == "test" and path.suffix in {".py", ".sh"}}
        for folder in sorted(folders):
            above = [folder, *folder.parents]
            pages_above = [(path, page) for path in above[: above.index(ROOT)] for page in
                           (path / "README.md", path / "ARCHITECTURE.md") if page.exists()]
            path, page = pages_above[0]
            with self.subTest(folder=str(folder.relative_to(ROOT)), page=str(page.relative_to(ROOT))):
                if path != folder:
                    self.assertRegex(page.read_text(encoding="utf-8"), rf"[`\[/]{re.escape(folder.name)}\b")

    def test_every_script_is_listed(self):
        text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        rows = re.search(r"\| scripts \| purpose \|\n\|---\|---\|\n((?:\|.*\n)+)", text).group(1)
        listed = [name for row in rows.splitlines() for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]
        scripts = [path.name for path in (ROOT / "scripts").iterdir() if path.is_file() and os.access(path, os.X_OK)]
        self.assertEqual(sorted(listed), sorted(scripts))

    def test_every_folder_of_test_has_a_page(self):
        """The first level of folders. The page says what these tests need, and how to run them."""
        folders = [path for path in (ROOT / "test").iterdir() if path.is_dir() and path.name != "__pycache__"]
        self.assertGreater(len(folders), 20)
        for folder in sorted(folders):
            with self.subTest(folder=folder.name):
                text = (folder / "README.md").read_text(encoding="utf-8")
                self.assertIn("**Needs:**", text)
                self.assertIn("```", text)

    def test_every_page_is_reached_from_readme(self):
        seen, ahead = set(), [ROOT / "README.md"]
        while ahead:
            page = ahead.pop()
            if page not in seen and page.suffix == ".md":
                seen.add(page)
                ahead += [path for _, path, _ in links(page)]
        self.assertEqual({page for page in (ROOT / "docs").rglob("*.md")} - seen, set())

    def test_troubleshooting_quotes_messages_that_exist(self):
        known, found = messages(), 0
        page = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
        for symptom in re.findall(r"^\| (.*?) \| ", page, flags=re.MULTILINE):
            for quoted in re.findall(r"`([^`]+)`", symptom):
                for piece in () if FOREIGN.search(quoted) else re.split(r"\.\.\.|[A-Z_]{4,}[A-Z_:]*|: ", quoted):
                    piece = piece.strip(" :,='")
                    if len(piece) > 8 and piece not in COMPOSED:
                        found += 1
                        with self.subTest(message=quoted):
                            self.assertIn(piece, known)
        self.assertGreater(found, 20)

    @unittest.skipUnless(yaml, "no PyYAML")
    def test_kubernetes_manifests_open_the_ports_that_data_uses(self):
        objects = list(yaml.safe_load_all((ROOT / "docs/recipes/kubernetes/dlcp.yaml").read_text(encoding="utf-8")))
        self.assertEqual([one["kind"] for one in objects], ["NetworkPolicy", "MPIJob", "DaemonSet"])
        ports = {port["protocol"]: port for port in objects[0]["spec"]["ingress"][0]["ports"]}
        source = (ROOT / "src/datapath/address/device_address.h").read_text(encoding="utf-8")
        lowest = re.search(r"kUdpPortMin = (\d+)", source).group(1)
        self.assertEqual((ports["UDP"]["port"], ports["UDP"]["endPort"]), (int(lowest), 65535))
        chosen = objects[0]["spec"]["podSelector"]["matchLabels"]
        for one in objects[1]["spec"]["mpiReplicaSpecs"].values():
            self.assertEqual(one["template"]["metadata"]["labels"], chosen)  # the policy lets its own pods in
            given = {variable["name"] for variable in one["template"]["spec"]["containers"][0]["env"]}
            self.assertEqual(given, {"LD_LIBRARY_PATH", "NCCL_NET_PLUGIN", "NCCL_NET"})


if __name__ == "__main__":
    unittest.main()
