"""Every rule of scripts/check-layers reports a sample that breaks it, once, and nothing else."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "check-layers"
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("check_layers", str(SCRIPT))
check_layers = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", LOADER))
LOADER.exec_module(check_layers)
HEAD = "// A sample.\n"


def run(files):
    """Output lines and exit status of the check over a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as directory:
        for path, text in files.items():
            target = pathlib.Path(directory, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        output = io.StringIO()
        with mock.patch.object(sys, "argv", [str(SCRIPT), "--root", directory, "--quiet"]), \
                contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = check_layers.main()
        return [line for line in output.getvalue().splitlines() if ": [" in line], status


class CheckLayers(unittest.TestCase):
    def breaks(self, rule, path, text, line=None):
        lines, status = run({path: text})
        self.assertEqual(status, 1, lines)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(f"[{rule}]", lines[0])
        if line:
            self.assertTrue(lines[0].startswith(f"{path}:{line}:"), lines[0])

    def passes(self, files):
        lines, status = run(files)
        self.assertEqual((lines, status), ([], 0))

    def test_includes_of_lower_layers_pass(self):
        self.passes({"src/core/a.cc": HEAD + '#include "core/b.h"\n#include "wire/packet.h"\n#include <vector>\n',
                     "src/nccl/a.cc": HEAD + '#include "engine/engine.h"\n',
                     "src/datapath/udp/a.cc": HEAD + '#include <sys/socket.h>\n#include "dlcp/traffic_class.h"\n'})

    def test_includes_of_higher_or_equal_layers_fail(self):
        for layer, target in (("core", "datapath/datapath.h"), ("datapath", "core/endpoint.h"),
                              ("util", "wire/packet.h"), ("wire", "core/config.h"), ("core", "engine/engine.h"),
                              ("engine", "nccl/net.h"), ("nccl", "cli/main.h"), ("cli", "nccl/net_v8.h")):
            with self.subTest(layer=layer):
                self.breaks("arrow", f"src/{layer}/a.cc", HEAD + f'#include "{target}"\n', line=2)

    def test_the_tool_may_use_the_abi_structs(self):
        self.passes({"src/cli/bench/a.cc": HEAD + '#include "nccl/abi/net/net_v8.h"\n'})

    def test_switch_and_public_headers_see_include_only(self):
        self.breaks("arrow", "switch/a.cc", HEAD + '#include "util/time.h"\n')
        self.breaks("arrow", "include/dlcp/a.h", HEAD + '#pragma once\n#include "util/time.h"\n')
        self.passes({"switch/a.cc": HEAD + '#include "dlcp/traffic_class.h"\n#include "vendor.h"\n'})

    def test_dotted_paths_fail(self):
        self.breaks("include-path", "src/core/a.cc", HEAD + '#include "../core/b.h"\n')

    def test_core_has_no_clock_thread_or_system(self):
        for header in ("thread", "mutex", "sys/socket.h", "random", "unistd.h", "time.h", "atomic"):
            with self.subTest(header=header):
                self.breaks("pure", "src/core/a.cc", HEAD + f"#include <{header}>\n")
        for code in ("auto t = std::chrono::steady_clock::now();", "int r = rand();", "thread_local int x;",
                     "clock_gettime(CLOCK_MONOTONIC, &t);"):
            with self.subTest(code=code):
                self.breaks("pure", "src/wire/a.cc", HEAD + f"void f() {{ {code} }}\n", line=2)
        self.passes({"src/core/a.cc": HEAD + "#include <chrono>\nvoid f() { on_time(now); runtime(); }\n"})

    def test_core_has_no_global_state(self):
        self.breaks("pure", "src/core/a.cc", HEAD + "static int calls = 0;\n")
        self.passes({"src/core/a.cc": HEAD + "static constexpr int kOne = 1;\nstatic int f(int a) { return a; }\n"
                     "static_assert(kOne == 1);\n"})

    def test_a_guest_does_not_exit_or_print(self):
        for code in ("exit(1);", "std::abort();", "std::cout << 1;", 'printf("x");', "signal(SIGINT, f);", "assert(a);"):
            with self.subTest(code=code):
                self.breaks("guest", "src/engine/a.cc", HEAD + f"void f() {{ {code} }}\n")
        self.passes({"src/engine/a.cc": HEAD + 'void f() { fprintf(stderr, "exit(1)"); on_exit_(); w.signal(); }\n',
                     "src/cli/a.cc": HEAD + "void f() { std::cout << 1; }\n"})

    def test_the_environment_is_read_in_one_place(self):
        self.breaks("getenv", "src/engine/a.cc", HEAD + 'auto v = std::getenv("X");\n')
        self.passes({"src/engine/a.cc": HEAD + 'auto v = std::getenv("X");\n',
                     "scripts/layer-exceptions.txt": "getenv src/engine/a.cc the one file\n"})

    def test_tests_use_the_common_subset_of_catch2_versions(self):
        self.breaks("catch", "test/core/a.cc", 'void f() {\n  CHECK_THAT(said, Catch::Contains("x"));\n}\n', line=2)
        self.passes({"test/core/a.cc": 'void f() { CHECK_THAT(said, Contains("Catch::Contains")); }\n',
                     "test/catch.h": "using Catch::Matchers::Contains;\n"})

    def test_comments_and_literals_are_not_code(self):
        self.passes({"src/core/a.cc": HEAD + '// std::abort()\n/* rand() */\nconst char* s = "exit(1) {{{";\n'
                     'const char c = \'{\';\nconst char* r = R"(abort() { )";\n#define X(a) { a\n'})

    def test_long_files_headers_and_functions_fail(self):
        self.breaks("file-size", "src/core/a.cc", HEAD + "int a;\n" * 400)
        self.passes({"src/core/a.cc": HEAD + "int a;\n" * 399})
        self.breaks("header-size", "src/core/a.h", HEAD + "#pragma once\n" + "int a;\n" * 119)
        self.passes({"src/core/a.h": HEAD + "#pragma once\n" + "int a;\n" * 118})

    def test_a_folder_of_more_than_twelve_sources_fails(self):
        def folder(path, count):
            return {f"{path}/a{number}.cc": HEAD for number in range(count)}

        for path in ("src/core/streams", "switch/cli", "test/core/streams"):
            with self.subTest(path=path):
                self.passes(folder(path, 12) | {f"{path}/README.md": "", f"{path}/CMakeLists.txt": ""}
                            | folder(f"{path}/inner", 12))
                lines, status = run(folder(path, 11) | {f"{path}/b.h": HEAD + "#pragma once\n", f"{path}/b.cc": HEAD})
                self.assertEqual((len(lines), status), (1, 1), lines)
                self.assertIn(f"{path}:1: [folder-size] 13 ", lines[0])
        self.passes(folder("src/core", 13) | {"scripts/layer-exceptions.txt": "folder-size src/core one file per format\n"})

    def test_scripts_count_as_sources_in_test_and_data_does_not(self):
        scripts = {f"test/rig/a{number}.cc": HEAD for number in range(10)} | {"test/rig/b.py": "", "test/rig/c.sh": ""}
        data = {"test/rig/plain": "text\n", "test/rig/d.json": "", "test/rig/e.txt": "", "test/rig/CMakeLists.txt": ""}
        self.passes(scripts | data)
        self.passes({f"src/cli/a{number}.cc": HEAD for number in range(12)} | {"src/cli/b.py": ""})
        for one, text in (("e.py", ""), ("guest", "#!/bin/bash\n")):
            with self.subTest(one=one):
                lines, status = run(scripts | data | {f"test/rig/{one}": text})
                self.assertEqual((len(lines), status), (1, 1), lines)
                self.assertIn("test/rig:1: [folder-size] 13 sources, headers and scripts", lines[0])

    def test_the_length_of_a_function_counts_from_its_signature_to_its_brace(self):
        def function(body_lines, head="int Type::f(int a,\n            int b) const noexcept {\n"):
            return HEAD + "namespace x {\nstruct S { int a = 0; };\n" + head + "  g();\n" * body_lines + "}\n}\n"

        self.passes({"src/core/a.cc": function(67)})
        self.breaks("function-size", "src/core/a.cc", function(68), line=4)
        lambdas = "auto f() {\n  auto g = [&](int i) {\n    return i;\n  };\n"
        self.breaks("function-size", "src/core/a.cc", function(68, lambdas), line=4)
        self.breaks("function-size", "test/core/a.cc",
                    function(71, 'TEST_CASE("a sentence, with (brackets) {", "[x]") {\n'), line=4)

    def test_methods_in_a_class_and_initialiser_lists_are_found(self):
        body = "    g();\n" * 70
        self.breaks("function-size", "src/core/a.cc", HEAD + "class A {\n public:\n  void f() {\n" + body + "  }\n};\n", line=4)
        self.breaks("function-size", "src/core/a.cc", HEAD + "A::A(int b)\n    : b_(b) {\n" + body + "}\n", line=2)
        self.breaks("function-size", "src/core/a.cc", HEAD + "A::A(int b)\n    : b_{b}, c_{{1}, 2} {\n" + body + "}\n", line=2)
        self.passes({"src/core/a.cc": HEAD + "constexpr T kTable[] = {\n" + "    {f(1), 2},\n" * 80 + "};\n"})

    def test_a_file_has_a_head(self):
        self.breaks("head", "src/core/a.h", "#pragma once\n")
        self.breaks("head", "src/core/a.h", HEAD)
        self.passes({"src/core/a.cc": '#include "core/a.h"\n', "src/core/a.h": HEAD + "#pragma once\n"})

    def test_exceptions_need_a_reason_and_a_use(self):
        long = HEAD + "int a;\n" * 400
        self.passes({"src/core/a.cc": long, "scripts/layer-exceptions.txt": "# why\nfile-size src/core/a.cc generated\n"})
        lines, status = run({"src/core/a.cc": HEAD, "scripts/layer-exceptions.txt": "file-size src/core/a.cc generated\n"})
        self.assertEqual((len(lines), status), (1, 1))
        lines, status = run({"src/core/a.cc": long, "scripts/layer-exceptions.txt": "file-size src/core/a.cc\n"})
        self.assertEqual((len(lines), status), (2, 1))

    def test_an_empty_tree_is_not_a_pass(self):
        self.assertEqual(run({})[1], 2)


if __name__ == "__main__":
    unittest.main()
