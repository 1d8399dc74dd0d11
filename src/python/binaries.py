"""Puts the built plugin and tools into the wheel, and names the systems that it runs on.

DLCP_BUILD is the build folder (default: build/release of the project), DLCP_WHEEL_PLATFORM the wheel's platform
tag (default: this machine's own, since an ordinary build needs this machine's C library)."""

import os
import pathlib
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROJECT = pathlib.Path(__file__).resolve().parents[2]
FILES = ("lib/libnccl-net-dlcp.so", "bin/dlcp", "bin/dlcp-aggregator", "bin/dlcp-hub", "bin/dlcp-switch")


class Binaries(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version, build_data):
        build = pathlib.Path(os.environ.get("DLCP_BUILD") or PROJECT / "build" / "release")
        for name in FILES:
            if not (build / name).is_file():
                raise FileNotFoundError(f"{build / name} is not there: build first (cmake --preset release && "
                                        "cmake --build --preset release), or name another folder in DLCP_BUILD")
            build_data["force_include"][str(build / name)] = f"dlcp/{name}"
        build_data["force_include"][str(PROJECT / "LICENSE")] = "dlcp/licences/LICENSE"
        # The licences of the libraries whose code is compiled in require that their authors are named.
        for library in ("libfmt", "libcli11", "nlohmann-json3", "libyaml-cpp", "liblemon", "libkainjow-mustache"):
            terms = pathlib.Path(f"/usr/share/doc/{library}-dev/copyright")
            if terms.is_file():
                build_data["force_include"][str(terms)] = f"dlcp/licences/{library}"
            elif os.environ.get("DLCP_WHEEL_PLATFORM"):  # a wheel for other machines
                raise FileNotFoundError(f"{terms} is not there: the wheel must contain the licence of {library}")
        platform = os.environ.get("DLCP_WHEEL_PLATFORM") or sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
