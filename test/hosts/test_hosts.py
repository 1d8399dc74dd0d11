#!/usr/bin/env python3
"""Layouts of two hosts, each with the reference TCP plugin and with DLCP: where TCP works, DLCP must work without
further settings; where UDP cannot pass, DLCP's error must give the reason.

test_hosts.py BUILD [NAME...]      BUILD: folder with bin/dlcp and lib/. Prints a table; exits with 77 where namespaces are
not permitted. A layout that this kernel cannot build is skipped by name; most of these run in the guest of test/rig/guest:

  test/rig/guest --timeout 900 --memory 3000 --modules "veth bridge dummy bonding 8021q ipvlan macvlan vxlan ipip ip_gre vrf
  nf_tables nft_chain_nat nft_reject_inet nft_masq nft_redir" -- python3 test/hosts/test_hosts.py "$PWD/build/release" """

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import changes  # noqa: E402,F401 pylint: disable=unused-import
import marks  # noqa: E402,F401 pylint: disable=unused-import
import rig  # noqa: E402
import surroundings  # noqa: E402,F401 pylint: disable=unused-import
from layouts import LAYOUTS  # noqa: E402
from network import Network, Unsupported  # noqa: E402

SIDE_BY_SIDE = 3
PORT = 29777


class NotChanged(Exception):
    """The change that a layout makes during the transfer has failed."""


def change_once_data_flows(net, change, ranks):
    """Calls change() when host a has sent more than the ranks' meeting needs."""
    ports = [port for host, port in net.ports if host == "a"]
    before = sum(net.sent_by("a", *ports))
    while all(rank.poll() is None for rank in ranks):
        if sum(net.sent_by("a", *ports)) - before > 1_000_000:
            change()
            return
        time.sleep(0.05)
    raise NotChanged("the ranks ended before they had sent 1 MB")


def run_pair(net, build, plugin, case):
    """Runs one rank on each host. Returns the worse exit code, and the output of both. Raises NotChanged."""
    host = f"[{case.meet}]" if ":" in case.meet else case.meet
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("DLCP_", "NCCL_"))}
    environment.update(case.env, LD_LIBRARY_PATH=str(build.folder / "lib"))
    if plugin == build.tcp:
        environment = {key: value for key, value in environment.items() if not key.startswith("DLCP_")}
    ranks = []
    options = case.options or ("--mode", "bw")
    if plugin == build.tcp and "direct" in options:  # which it does not have
        options = tuple("ring" if option == "direct" else option for option in options)
    for rank, name in enumerate("ab"):
        wrap = case.wrap or (case.wrap_b if name == "b" else ())
        command = ["ip", "netns", "exec", net.name(name), *wrap, str(build.dlcp), "bench", "--plugin", str(plugin), "--rank",
                   str(rank), "--world", "2", "--rendezvous", f"{host}:{PORT}", "--timeout", str(case.timeout), "--seconds",
                   str(case.seconds), "--size", "64K", *options]
        ranks.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    pool = concurrent.futures.ThreadPoolExecutor(1)
    changer = pool.submit(change_once_data_flows, net, case.meanwhile, ranks) if case.meanwhile else None
    worst, said = 0, []
    for process in ranks:
        try:
            text, _ = process.communicate(timeout=2 * case.timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
        said.append(text)
        worst = max(worst, abs(process.returncode))
    pool.shutdown()
    if changer and changer.exception():
        raise NotChanged(f"{changer.exception()!r}; the ranks: {said}") from changer.exception()
    return worst, "\n".join(said)


# Layouts that are known not to work yet, each with the reason. They are reported, but do not fail the test.
NOT_YET = {
}


def judge(case, tcp, code, said):
    """The error, or None."""
    if case.refused_with:
        if code == 0:
            return "DLCP passes although UDP cannot"
        missing = [word for word in case.refused_with if word not in said]
        return f"the error lacks {missing}: {said[-400:]}" if missing else None
    if code != 0:
        return f"TCP works, DLCP does not: {said[-400:]}" if tcp == 0 else None
    missing = [word for word in case.says if word not in said]
    if missing:
        return f"the log lacks {missing}: {said[-400:]}"
    return case.check() if case.check else None


def run_layout(build, index):
    """Name, the outcomes of TCP and DLCP, the error (None: no error), and a note."""
    function = LAYOUTS[index]
    name = function.__name__
    with Network(f"hos{os.getpid() % 10000}n{index}") as net:
        try:
            case = function(net)
        except Unsupported as lacking:
            return name, "-", "-", None, f"skipped: {lacking}"
        try:
            tcp, _ = run_pair(net, build, build.tcp, case)
            net.count_from_now()
            code, said = run_pair(net, build, build.plugin, case)
        except NotChanged as error:
            return name, "-", "-", str(error), ""
        works = {True: "works", False: "fails"}
        return name, works[tcp == 0], works[code == 0], judge(case, tcp, code, said), ""


def main():
    build = rig.build_for_test()
    wanted = sys.argv[1:]
    indices = [i for i, function in enumerate(LAYOUTS) if not wanted or function.__name__ in wanted]
    failures = known = 0
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for name, tcp, dlcp, wrong, note in pool.map(lambda index: run_layout(build, index), indices):
            verdict = "right"
            if wrong and name in NOT_YET:
                verdict = f"not yet: {NOT_YET[name]}"
                known += 1
            elif wrong:
                verdict = f"wrong: {wrong}"
                failures += 1
            print(f"{name:40} TCP {tcp:6} DLCP {dlcp:6} {note or verdict}", flush=True)
    print(f"{len(indices)} layouts, {failures} wrong, {known} known not to work yet")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
