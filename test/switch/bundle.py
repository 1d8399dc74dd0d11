"""Joins text files into one, each after a line "==> NAME <==": the format of the golden files of a system."""

import pathlib
import re

HEAD = re.compile(r"^==> (.+) <==\n", re.MULTILINE)
NO_NEWLINE = "\n(no newline at the end)\n"


def join(files):
    """Returns the bundle of (name, text) pairs."""
    parts = []
    for name, text in files:
        if HEAD.search(text):
            raise ValueError(f"{name} has a line like a bundle's own")
        parts.append(f"==> {name} <==\n{text}{NO_NEWLINE if text and not text.endswith(chr(10)) else ''}")
    return "".join(parts)


def split(path):
    """(name, text) of each file in a bundle, in its order."""
    _, *found = HEAD.split(pathlib.Path(path).read_text())
    return [(name, text.removesuffix(NO_NEWLINE)) for name, text in zip(found[::2], found[1::2])]


def unpack(path, folder):
    """Writes a bundle's files below a folder."""
    for name, text in split(path):
        file = pathlib.Path(folder) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
