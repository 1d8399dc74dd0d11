"""Reads include/dlcp/traffic_class.h, the table of traffic classes, for tests."""

import pathlib
import re

TABLE = pathlib.Path(__file__).resolve().parents[2] / "include" / "dlcp" / "traffic_class.h"


def traffic_classes():
    """{number: (name, DSCP, ECN)}"""
    ecn = {"kNotEct": 0, "kEct1": 1, "kEct0": 2}
    rows = re.findall(r'\{TrafficClass::\w+, "([\w-]+)", SwitchQueue::\w+, (\d+), \d, Ecn::(\w+),', TABLE.read_text())
    return {i: (name, int(dscp), ecn[mark]) for i, (name, dscp, mark) in enumerate(rows)}
