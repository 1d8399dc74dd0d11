#!/usr/bin/env python3
"""The messages of `dlcp` about a wrong command line, the width of its help, and JSON output of every verb.

command_line_test.py DLCP"""

import json
import os
import subprocess
import sys
import unittest

DLCP = "dlcp"


def dlcp(*arguments, **environment):
    done = subprocess.run([DLCP, *arguments], capture_output=True, text=True, timeout=60, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def verbs():
    """The verbs that `dlcp --help` lists, two blanks before each."""
    listed = dlcp("--help")[1].split("Subcommands:\n", 1)[1].split("\n\n", 1)[0]
    return [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "]


class CommandLine(unittest.TestCase):
    def test_a_wrong_word_is_named_with_a_suggestion(self):
        for arguments, said in (
                (["docter"], "dlcp: there is no command 'docter'; did you mean doctor? (dlcp --help)"),
                ([], "dlcp: a command is missing (dlcp --help)"),
                (["doctor", "--per", "B"],
                 "dlcp doctor: there is no option --per; did you mean --peer? (dlcp doctor --help)"),
                (["stats", "--jsn"], "dlcp stats: there is no option --jsn; did you mean --json? (dlcp stats --help)"),
                (["doctor", "--strict", "B"], "dlcp doctor: unexpected argument 'B' (dlcp doctor --help)"),
                (["bench", "--size"], "dlcp bench: --size needs a value (dlcp bench --help)"),
                (["bench", "--size", "1", "--size", "2", "--size", "3"],
                 "dlcp bench: --size is given 3 times; give it once (dlcp bench --help)"),
                (["stats", "--pid"], "dlcp stats: --pid needs a value (dlcp stats --help)")):
            code, out, error = dlcp(*arguments)
            self.assertEqual((code, out, error.strip()), (2, "", said))

    def test_a_wrong_value_is_named_with_valid_ones(self):
        for arguments, words in (
                (["doctor", "--listen", "--port", "70000"], ("--port", "'70000'", "1..65535")),
                (["doctor", "--listen", "--port", "0"], ("--port", "'0'", "1..65535")),
                (["doctor", "--listen", "--seconds", "-1"], ("--seconds", "'-1'")),
                (["doctor", "--listen", "--seconds", "nan"], ("--seconds", "'nan'")),
                (["doctor", "--peer", ""], ("--peer", "contains no host")),
                (["doctor", "--seconds", "3"], ("--seconds", "--listen")),
                (["doctor", "--paths", "3"], ("--paths", "--peer")),
                (["doctor", "--peer", "no-such-host.invalid"], ("no-such-host.invalid", "resolves")),
                (["bench", "--ranks", "100000"], ("--ranks 100000", "at most 512")),
                (["bench", "--seconds", "nan"], ("--seconds", "'nan'")),
                (["stats", "--pid", "1,x"], ("--pid", "'x'", "1..2147483647")),
                (["stats", "--pid", "99999999999"], ("--pid", "'99999999999'", "1..2147483647")),
                (["stats", "--pid", "-1"], ("--pid", "'-1'", "1..2147483647")),
                (["bench", "--size", "4KX"], ("--size", "'4KX'", "1MiB")),
                (["traffic-class", "--budget", "0.01", "--type", "fp64"], ("--type", "'fp64'", "fp32")),
                (["traffic-class", "--budget", "nan"], ("--budget", "'nan'", "1%")),
                (["traffic-class", "--budget", "1e-9"], ("--budget", "'1e-9'", "1e-06..0.25")),
                (["traffic-class"], ("--budget or --decode",)),
                (["knobs", "nothing-of-it"], ("'nothing-of-it'", "dlcp knobs"))):
            code, out, error = dlcp(*arguments)
            self.assertEqual((code, out, len(error.splitlines())), (2, "", 1), (arguments, out, error))
            self.assertTrue(error.startswith(f"dlcp {arguments[0]}: "), error)
            for word in words:
                self.assertIn(word, error)

    def test_the_same_budget_in_any_form_is_the_same_class(self):
        self.assertEqual(dlcp("traffic-class", "--budget", "1%"), (0, "1140860688\n", ""))
        self.assertEqual(dlcp("traffic-class", "--budget", "0.01"), (0, "1140860688\n", ""))
        code, out, _ = dlcp("traffic-class", "--decode", "1140860688", "--json")
        self.assertEqual((code, json.loads(out)["budget"]), (0, 0.01))
        self.assertEqual(dlcp("traffic-class", "--decode", "7")[0], 1)

    def test_output_that_cannot_be_written_is_reported(self):
        for arguments in (["knobs"], ["--help"], ["counters", "--json"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([DLCP, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                                      check=False)
            self.assertEqual(done.returncode, 3, (arguments, done.stderr))
            self.assertIn("No space left on device", done.stderr)

    def test_options_that_would_have_no_effect_are_refused(self):
        for arguments in (["doctor", "--listen", "--json"], ["stats", "--paths", "--prometheus"]):
            self.assertEqual(dlcp(*arguments)[0], 2)

    def test_the_bench_reads_nccls_list_of_plugins(self):
        run = ["bench", "--mode", "lat", "--size", "8", "--iterations", "1", "--warmup", "0"]
        for value in ("dlcp,other", "none"):
            code, out, error = dlcp(*run, NCCL_NET_PLUGIN=value)
            self.assertEqual(code, 0, out + error)
        code, out, error = dlcp(*run, NCCL_NET_PLUGIN="no-such,dlcp")
        self.assertEqual(code, 2, out + error)
        self.assertIn("NCCL_NET_PLUGIN", error)
        self.assertNotIn("no-such,", error)

    def test_a_wrong_setting_is_a_usage_error_printed_once(self):
        code, out, error = dlcp("bench", "--seconds", "0.1", DLCP_PATHS="0")
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(error.count("DLCP_PATHS = '0'"), 1)

    def test_doctor_fails_with_settings_that_stop_every_job(self):
        for name, value, words in (("DLCP_ORDER", "/nonexistent", "DLCP_ORDER"), ("DLCP_FAULT", "x", "DLCP_FAULT"),
                                   ("DLCP_FAULT", "corrupt=0.1", "DLCP_CHECKSUM"),
                                   ("DLCP_IFNAME", "=no-such", "no-such")):
            code, out, _ = dlcp("doctor", "--json", **{name: value})
            failed = [check for check in json.loads(out)["findings"] if check["level"] == "fail"]
            self.assertEqual(code, 3, (name, value))
            self.assertIn(words, json.dumps(failed))

    def test_no_line_is_wider_than_a_terminal(self):
        for arguments in [["--help"], ["knobs"], ["counters"], ["abi"], ["doctor"], *([v, "--help"] for v in verbs())]:
            out = dlcp(*arguments)[1]
            for line in out.splitlines():  # a path is not wrapped, however long
                self.assertTrue(len(line) <= 80 or (len(line.split()) == 1 and "/" in line), (arguments, line))

    def test_help_is_not_an_error(self):
        self.assertIn("synth", verbs())
        for verb in verbs():
            code, out, error = dlcp(verb, "--help")
            self.assertEqual((code, error), (0, ""))
            self.assertIn("--json", out)

    def test_json_replaces_bytes_that_are_not_utf8(self):
        code, out, error = dlcp("doctor", "--json", NCCL_NET="x\udcff")  # the byte 0xff
        self.assertIn(code, (0, 3), error)
        self.assertIn("x\ufffd", json.dumps(json.loads(out), ensure_ascii=False))

    def test_tables_are_json_and_markdown_too(self):
        shown = (("knobs", "DLCP_PATHS"), ("counters", "peer_timeouts"), ("counters", "udp.rx_queue_drops"), ("abi", "2.19"))
        for verb, name in shown:
            self.assertIn(name, {next(iter(row.values())) for row in json.loads(dlcp(verb, "--json")[1])})
            self.assertIn(name, dlcp(verb)[1])
            self.assertTrue(dlcp(verb, "--markdown")[1].startswith("| "))
        self.assertEqual(len(json.loads(dlcp("knobs", "dlcp_eager", "--json")[1])), 1)


if __name__ == "__main__":
    DLCP = sys.argv.pop(1)
    unittest.main()
