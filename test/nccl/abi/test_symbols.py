"""The plugin exports only NCCL's tables and its version, and depends only on the C library."""
import re
import subprocess
import sys

ALLOWED_LIBRARIES = re.compile(r"(libc|libm|libpthread|libdl|librt|ld-linux[-\w]*)\.so")
EXPORTED = {f"ncclNetPlugin_v{version}" for version in (6, 8, 9, 10, 11, 12)}
EXPORTED |= {f"ncclCollNetPlugin_v{version}" for version in (8, 9, 10, 11, 12)}
EXPORTED |= {f"ncclProfiler_v{version}" for version in (4, 5, 6)}
EXPORTED |= {f"ncclTunerPlugin_v{version}" for version in (3, 4, 5, 6)}
EXPORTED |= {"dlcp_plugin_version"}


def main(plugin: str) -> int:
    problems = []
    defined = subprocess.run(["nm", "-D", "--defined-only", plugin], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in defined.splitlines()}
    if names != EXPORTED:
        problems.append(f"exported: {sorted(names ^ EXPORTED)} too many or missing")
    undefined = subprocess.run(["nm", "-D", "--undefined-only", plugin], capture_output=True, text=True, check=True).stdout
    for line in undefined.splitlines():
        kind, name = line.split()[-2:]
        if kind != "w" and "@GLIBC_" not in name:
            problems.append(f"undefined: {name}")
    dynamic = subprocess.run(["readelf", "-dW", plugin], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not ALLOWED_LIBRARIES.match(library):
            problems.append(f"needs {library}")
    if "NODELETE" not in dynamic:
        problems.append("not linked with -z nodelete")
    print("\n".join(problems) or "the exported symbols are correct")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
