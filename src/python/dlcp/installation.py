"""Where this package's plugin and tools are."""

import pathlib

_FOLDER = pathlib.Path(__file__).resolve().parent


def _installed(name):
    path = _FOLDER / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: the package nccl-dlcp is damaged or was not built as a wheel; "
                                "install it again (pip install --force-reinstall nccl_dlcp-*.whl)")
    return str(path)


def plugin_path():
    """The path of libnccl-net-dlcp.so. FileNotFoundError if the package came without it."""
    return _installed("lib/libnccl-net-dlcp.so")


def tool_path(name):
    """The path of a tool, as "dlcp" or "dlcp-switch". FileNotFoundError if the package came without it."""
    return _installed(f"bin/{name}")
