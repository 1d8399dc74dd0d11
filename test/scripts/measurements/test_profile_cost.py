"""scripts/profile-cost sorts functions into parts by their names; nothing is profiled here."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "profile-cost"
sys.path.insert(0, str(SCRIPT.parent))  # of the module that it imports
LOADER = importlib.machinery.SourceFileLoader("profile_cost", str(SCRIPT))
profile_cost = importlib.util.module_from_spec(importlib.util.spec_from_loader("profile_cost", LOADER))
LOADER.exec_module(profile_cost)

PLUGIN = "libnccl-net-dlcp.so"


class Parts(unittest.TestCase):
    def test_a_function_belongs_to_the_part_that_its_name_tells(self):
        for kind, where, function, part in (
                ("k", "[kernel.kallsyms]", "_copy_from_iter", "kernel: copy"),
                ("k", "[kernel.kallsyms]", "ep_poll_callback", "kernel: waiting, switching"),
                ("k", "[kernel.kallsyms]", "udp_sendmsg", "kernel: network, the rest"),
                ("u", PLUGIN, "dlcp::(anonymous namespace)::copy_avx2", "plugin: copy"),
                ("u", PLUGIN, "dlcp::(anonymous namespace)::lanes_avx2", "plugin: tags"),
                ("u", PLUGIN, "dlcp::core::Dispatch::take_data", "plugin: core"),
                ("u", PLUGIN, "dlcp::wire::decode_data", "plugin: wire format"),
                ("u", PLUGIN, "dlcp::datapath::BurstSender::build_message", "plugin: datapath"),
                ("u", PLUGIN, "dlcp::engine::Engine::step", "plugin: engine and calls of NCCL"),
                ("u", "libnccl-net-reftcp.so", "test", "plugin: engine and calls of NCCL"),
                ("u", "dlcp", "dlcp::cli::Stream::step_all", "dlcp bench"),
                ("u", "libc.so.6", "clock_gettime", "dlcp bench")):
            self.assertEqual(profile_cost.part_of(kind, where, function), part, function)


if __name__ == "__main__":
    unittest.main()
