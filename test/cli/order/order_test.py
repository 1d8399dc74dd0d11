#!/usr/bin/env python3
"""`dlcp order`: simulated networks, the formats of launchers (checked with the launchers' own parsers if installed), new
ranks for a job's processes, and real sockets in network namespaces.

order_test.py DLCP"""

import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
sys.dont_write_bytecode = True
import rig  # noqa: E402

DLCP = "dlcp"
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMPI_", "PMIX_", "PMI_", "SLURM", "NCCL_")) and name not in ("RANK", "WORLD_SIZE")}
PREFIX = f"dlt{os.getpid() % 1000}x"


def order(*arguments, environment=None, text=None):
    return subprocess.run([DLCP, "order", *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False,
                          input=text, env={**CLEAN, **(environment or {})})


def simulate(spec, *arguments):
    done = order("--simulate", spec, "--json", *arguments)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def order_file(names, sequence=None, groups=None, slots=1, addresses=None):
    addresses = addresses or {}
    fabric = {"name": "fabric", "groups": [{"name": f"leaf{i}", "hosts": group} for i, group in enumerate(groups)]
              } if groups else {"name": "fabric"}
    return json.dumps({"version": 1, "fabric": fabric, "order": sequence or names, "hosts": [
        {"name": name, "slots": slots, "addresses": addresses.get(name, [])} for name in names]})


class Simulated(unittest.TestCase):
    def test_512_hosts(self):
        found = simulate("hosts=512,leaves=32,oversubscription=4,noise=0.3,seed=7")
        self.assertEqual(found["leaves_found"], 32)
        self.assertEqual(found["crossings_after"], 32)
        self.assertGreater(found["crossings_before"], 400)
        self.assertAlmostEqual(found["predicted_gain"], 4, places=1)
        self.assertLessEqual(found["probes"], 3 * 512 * math.log2(512))
        self.assertLessEqual(found["probe_seconds"], 5)
        self.assertLess(found["solver_seconds"], 3)  # 0.02 s on an idle machine, 0.5 s with sanitizers
        ring = found["algorithms"]["ring"]
        self.assertAlmostEqual(ring["seconds_after"], ring["seconds_bound"])

    def test_flat_network_keeps_the_order(self):
        found = simulate("hosts=64,noise=0.3,seed=3")
        self.assertTrue(found["kept"])
        self.assertEqual((found["leaves_found"], found["predicted_gain"]), (1, 1))

    def test_errors_are_named(self):
        found = simulate("hosts=128,leaves=8,oversubscription=2,slow_hosts=1,slow_leaves=1,silent=2,noise=0.2")
        self.assertEqual(found["slow_hosts"], ["host0"])
        self.assertEqual(len(found["slow_leaves"]), 1)
        self.assertEqual(found["silent"], ["host64", "host65"])

    def test_without_load_no_gain_is_claimed(self):
        found = simulate("hosts=64,leaves=4,noise=0.2", "--no-load")
        self.assertEqual((found["predicted_gain"], found["load_gb"]), (1, 0))
        self.assertEqual(found["crossings_after"], 4)

    def test_mesh(self):
        found = simulate("hosts=64,leaves=16,oversubscription=4", "--mesh", "pp=4,dp=16")
        self.assertIn("mesh", found["algorithms"])
        self.assertGreater(found["predicted_gain"], 1.5)
        done = order("--simulate", "hosts=8", "--mesh", "pp=3")
        self.assertEqual(done.returncode, 2)
        self.assertIn("make 3 nodes, but there are 8", done.stderr)

    def test_a_network_in_which_no_host_answers_gives_no_order(self):
        done = order("--simulate", "hosts=8,silent=8")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("no host answers", done.stderr)

    def test_few_hosts(self):
        for hosts in (1, 2, 3):
            self.assertTrue(simulate(f"hosts={hosts}")["kept"])

    def test_text_is_80_columns_wide(self):
        with tempfile.TemporaryDirectory() as folder:
            done = order("--simulate", "hosts=512,leaves=32,pods=4,oversubscription=4,noise=0.3,slow_hosts=20,silent=3",
                         "-o", pathlib.Path(folder, "order.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80, done.stdout)

    def test_wrong_words(self):
        for arguments, what in ((["--simulate", "hots=5"], "did you mean hosts?"),
                                (["--simulate", "hosts=0"], "hosts is '0'"),
                                (["--simulate", "hosts=4,leaves=5"], "each leaf needs at least one host"),
                                (["--from", "/nowhere"], "cannot read '/nowhere'"),
                                (["--netns", "nobody-has-this"], "there is no namespace nobody-has-this0"),
                                ([], "no launcher started this process"),
                                (["--simulate", "hosts=4", "-o", "/nowhere/x"], "cannot write '/nowhere/x'")):
            done = order(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(what, done.stderr)

    def test_file_and_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            file, plot = pathlib.Path(folder, "order.json"), pathlib.Path(folder, "order.svg")
            simulate("hosts=16,leaves=4,oversubscription=4", "-o", file, "--plot", plot)
            written = json.loads(file.read_text())
            self.assertEqual(len(written["order"]), 16)
            self.assertEqual(written["report"]["leaves_found"], 4)
            picture = plot.read_text()
            self.assertTrue(picture.startswith("<svg") and picture.rstrip().endswith("</svg>"))
            self.assertEqual(picture.count("<circle"), 32)
            again = order("--from", file, "--json")  # the order of the file is already the best
            self.assertTrue(json.loads(again.stdout)["kept"], again.stderr)


class Formats(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return pathlib.Path(self.folder.name, name)

    def write(self, names, form, **more):
        file = self.path("order.json")
        file.write_text(order_file(names, **more))
        done = order("write", file, form)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_lines(self):
        names, sequence = ["a", "b", "c"], ["c", "a", "b"]
        self.assertEqual(self.write(names, "hostfile", sequence=sequence, slots=8), "c slots=8\na slots=8\nb slots=8\n")
        self.assertEqual(self.write(names, "machinefile", sequence=sequence, slots=2), "c:2\na:2\nb:2\n")
        self.assertEqual(self.write(names, "slurm", sequence=sequence, slots=2), "c\nc\na\na\nb\nb\n")
        self.assertEqual(self.write(names, "horovod", sequence=sequence, slots=4), "c:4,a:4,b:4\n")
        self.assertEqual(self.write(names, "rankfile", sequence=sequence, slots=2),
                         "".join(f"rank {i}={h} slot={i % 2}\n" for i, h in enumerate("ccaabb")))
        commands = self.write(names, "torchrun", sequence=sequence, slots=8).splitlines()
        self.assertIn("a: torchrun --nnodes=3 --node-rank=1 --nproc-per-node=8 --rdzv-backend=static --master-addr=c",
                      commands[1])

    def test_groups_and_topology(self):
        groups = [["a", "b"], ["c"]]
        self.assertEqual(json.loads(self.write(["a", "b", "c"], "groups", groups=groups, addresses={"c": ["10.0.0.3"]})),
                         {"a": "leaf0", "b": "leaf0", "10.0.0.3": "leaf1"})
        self.assertEqual(self.write(["a", "b", "c"], "topology", groups=groups),
                         "SwitchName=leaf1 Nodes=c\nSwitchName=leaf0 Nodes=a,b\n"
                         "SwitchName=fabric Switches=leaf0,leaf1\n")

    def test_names_that_a_format_cannot_hold_are_refused(self):
        file = self.path("order.json")
        for name, form in (("two words", "hostfile"), ("a,b", "horovod"), ("fd00::1", "machinefile"), ("-x", "slurm"),
                           ("x=y", "rankfile"), ("n[1-2]", "topology")):
            file.write_text(order_file([name, "b"]))
            done = order("write", file, form)
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(f"host '{name}' cannot be used", done.stderr)
        file.write_text(order_file(["fd00::1", "k\u00f6ln"]))
        self.assertEqual(order("write", file, "hostfile").stdout, "fd00::1 slots=1\nk\u00f6ln slots=1\n")

    def test_unknown_format(self):
        file = self.path("order.json")
        file.write_text(order_file(["a"]))
        done = order("write", file, "hostfil")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean hostfile?", done.stderr)

    def mapped(self, *arguments):
        """The hosts that Open MPI itself assigns to ranks 0, 1, ..."""
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--display-map", *map(str, arguments), "true"],
                              capture_output=True, text=True, timeout=60, check=False, env=CLEAN)
        said, places, host = done.stdout + done.stderr, {}, None
        for line in said.splitlines():
            if "Data for node:" in line:
                host = line.split(":")[1].split()[0]
            elif "Process rank:" in line:
                places[int(line.split("Process rank:")[1].split()[0])] = host
        self.assertTrue(places, said)
        return [places[rank] for rank in sorted(places)]

    @unittest.skipUnless(shutil.which("mpirun") or os.environ.get("CI") == "true", "no mpirun (Debian: openmpi-bin)")
    def test_open_mpi_reads_a_hostfile(self):
        names, sequence = ["node1", "node2", "node3"], ["node3", "node1", "node2"]
        file = self.path("hostfile")
        file.write_text(self.write(names, "hostfile", sequence=sequence, slots=2))
        self.assertEqual(self.mapped("--do-not-launch", "--hostfile", file, "-np", 6), [h for h in sequence for _ in "12"])

    @unittest.skipUnless((shutil.which("mpirun") and os.cpu_count() > 1) or os.environ.get("CI") == "true",
                         "no mpirun (Debian: openmpi-bin), or one core")
    def test_open_mpi_reads_a_rankfile(self):
        file = self.path("rankfile")  # it maps only hosts whose cores it can read: this one
        file.write_text(self.write(["localhost"], "rankfile", slots=2))
        self.assertEqual(len(self.mapped("--rankfile", file, "-np", 2)), 2)

    @unittest.skipUnless(shutil.which("scontrol"), "no Slurm client (Debian: slurm-client)")
    def test_slurm_reads_names_and_topology(self):
        names, sequence = ["n1", "n2", "n3"], ["n3", "n1", "n2"]
        hosts = self.write(names, "slurm", sequence=sequence).split()
        conf = self.path("slurm.conf")
        conf.write_text("ClusterName=x\nSlurmctldHost=localhost\nNodeName=n[1-3]\nPartitionName=p Nodes=n[1-3]\n"
                        "TopologyPlugin=topology/tree\n")
        self.path("topology.conf").write_text(self.write(names, "topology", groups=[["n1", "n2"], ["n3"]]))
        environment = {**CLEAN, "SLURM_CONF": str(conf)}
        listed = subprocess.run(["scontrol", "show", "hostlist", ",".join(hosts)], capture_output=True, text=True, check=False,
                                env=environment)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        named = subprocess.run(["scontrol", "show", "hostnames", listed.stdout.strip()], capture_output=True, text=True,
                               check=False, env=environment)
        self.assertEqual(named.stdout.split(), sequence, named.stderr)


class Exec(unittest.TestCase):
    def run_rank(self, environment, *command, host="b", slots=1, file=None):
        text = file or order_file(["a", "b", "c"], sequence=["b", "c", "a"], addresses={"b": ["10.0.0.2"]}, slots=slots)
        return order("exec", "-", "--host", host, "--", *(command or ("env",)), environment=environment, text=text)

    def variables(self, environment, **more):
        done = self.run_rank(environment, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)

    def test_torchrun(self):
        # Two processes on each of three hosts; c is the second host of the order.
        seen = self.variables({"RANK": "5", "WORLD_SIZE": "6", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "2",
                               "MASTER_ADDR": "a", "MASTER_PORT": "29500"}, host="c")
        self.assertEqual((seen["RANK"], seen["GROUP_RANK"], seen["LOCAL_RANK"]), ("3", "1", "1"))
        self.assertEqual((seen["MASTER_ADDR"], seen["MASTER_PORT"]), ("10.0.0.2", "29500"))

    def test_torchruns_own_store_keeps_its_address(self):
        seen = self.variables({"RANK": "0", "WORLD_SIZE": "3", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
                               "MASTER_ADDR": "a", "TORCHELASTIC_USE_AGENT_STORE": "True"}, host="a")
        self.assertEqual((seen["RANK"], seen["MASTER_ADDR"]), ("2", "a"))

    def test_slurm_and_open_mpi(self):
        seen = self.variables({"SLURM_PROCID": "1", "SLURM_NTASKS": "3", "SLURM_NODEID": "1", "SLURM_LOCALID": "0"})
        self.assertEqual((seen["SLURM_PROCID"], seen["SLURM_NODEID"]), ("0", "0"))
        seen = self.variables({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
                               "OMPI_COMM_WORLD_NODE_RANK": "0"}, host="a")
        self.assertEqual((seen["OMPI_COMM_WORLD_RANK"], seen["OMPI_COMM_WORLD_NODE_RANK"]), ("2", "0"))

    def test_all_ranks_occur_once(self):
        ranks = [self.variables({"RANK": "0", "WORLD_SIZE": "12", "LOCAL_RANK": str(local)}, host=host)["RANK"]
                 for host in "abc" for local in range(4)]
        self.assertEqual(sorted(map(int, ranks)), list(range(12)))

    def test_contradictions_are_refused(self):
        for environment, what in (({}, "no launcher gave this process a rank"),
                                  ({"RANK": "0", "WORLD_SIZE": "4"}, "WORLD_SIZE is 4, but the order has 3 hosts"),
                                  ({"RANK": "0", "WORLD_SIZE": "6"}, "LOCAL_RANK is not set"),
                                  ({"RANK": "0", "WORLD_SIZE": "6", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "3"},
                                   "LOCAL_WORLD_SIZE is 3")):
            done = self.run_rank(environment)
            self.assertEqual(done.returncode, 2)
            self.assertIn(what, done.stderr)
        done = self.run_rank({"RANK": "0", "WORLD_SIZE": "3"}, host="nobody")
        self.assertIn("contains no host called nobody", done.stderr)
        done = self.run_rank({"RANK": "0", "WORLD_SIZE": "3"}, "/no/such/program")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot run '/no/such/program'", done.stderr)

    def test_the_commands_exit_code_and_its_arguments_pass(self):
        done = self.run_rank({"RANK": "0", "WORLD_SIZE": "3"}, "sh", "-c", "echo $RANK \"$0\"; exit 7", "--json")
        self.assertEqual((done.returncode, done.stdout), (7, "0 --json\n"))

    def test_rank(self):
        done = order("rank", "-", "--host", "a", text=order_file(["a", "b"], sequence=["b", "a"]))
        self.assertEqual(done.stdout, "1\n")

    @unittest.skipUnless(shutil.which("mpirun") or os.environ.get("CI") == "true", "no mpirun (Debian: openmpi-bin)")
    def test_launched_by_open_mpi_on_one_host(self):
        """All ranks are on this host: it becomes one host with that many slots."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "order.json")
            done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "3", DLCP, "order", "--no-load",
                                   "-o", file], capture_output=True, text=True, timeout=120, check=False,
                                  env={**CLEAN, "NCCL_SOCKET_IFNAME": "lo"})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual([host.get("slots") for host in json.loads(file.read_text())["hosts"]], [3])


@unittest.skipIf(rig.permitted(), f"no networks here: {rig.permitted()}")
class Namespaces(unittest.TestCase):
    def test_leaves_and_capacities_of_a_real_network(self):
        with rig.Network(PREFIX, 8, "topo=spine", "leaves=2", "rate=25mbit") as network:
            network.set("at=hosts", "rate=50mbit")
            done = order("--netns", PREFIX, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["leaves_found"], found["crossings_before"], found["crossings_after"]), (2, 8, 2))
        self.assertGreater(found["predicted_gain"], 2.5)
        self.assertEqual((found["silent"], found["slow_hosts"]), ([], []))

    def test_a_host_that_does_not_answer_is_named(self):
        with rig.Network(PREFIX, 4):
            subprocess.run(["ip", "netns", "exec", f"{PREFIX}sw", "ip", "link", "set", "p2", "nomaster"], check=True)
            done = order("--netns", PREFIX, "--no-load", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["silent"], found["leaves_found"], found["kept"]), ([f"{PREFIX}2"], 1, True))


if __name__ == "__main__":
    DLCP = sys.argv.pop(1)
    unittest.main()
