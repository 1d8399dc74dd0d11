#!/usr/bin/env python3
"""Prints counters of SONiC's queues and pause frames that public exporters lack, for Prometheus: early drops and ECN
marks (SONiC 202505 and later, after `counterpoll wredqueue enable`), trimmed packets, pause frames per priority.

  queue-counters.py            prints metrics, for the node exporter's textfile collector

Runs on the switch, as a user who may read its databases. Counters that the platform does not have are left out."""

QUEUES = (("SAI_QUEUE_STAT_WRED_DROPPED_PACKETS", "sonic_queue_wred_dropped_packets_total", "Packets dropped by WRED"),
          ("SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", "sonic_queue_ecn_marked_packets_total", "Packets marked with CE"),
          ("SAI_QUEUE_STAT_TRIM_PACKETS", "sonic_queue_trimmed_packets_total", "Packets trimmed instead of dropped"))
PFC = ("SAI_PORT_STAT_PFC_{}_RX_PKTS", "sonic_pfc_received_packets_total", "Pause frames received")


def samples(database):
    """[(metric, help, labels, value)] in the order of the tables."""
    rows = []

    def read(key):
        return database.get_all(database.COUNTERS_DB, key) or {}

    def put(metric, text, labels, value):
        if value is not None and str(value).isdigit():
            rows.append((metric, text, labels, int(value)))

    queues = {name: read(f"COUNTERS:{oid}") for name, oid in sorted(read("COUNTERS_QUEUE_NAME_MAP").items())}
    ports = {name: read(f"COUNTERS:{oid}") for name, oid in sorted(read("COUNTERS_PORT_NAME_MAP").items())}
    for field, metric, text in QUEUES:
        for name, counters in queues.items():
            port, _, queue = name.rpartition(":")
            put(metric, text, {"device": port, "queue": queue}, counters.get(field))
    for name, counters in ports.items():
        for priority in range(8):
            put(PFC[1], PFC[2], {"device": name, "priority": str(priority)}, counters.get(PFC[0].format(priority)))
    return rows


def main():
    from swsscommon.swsscommon import SonicV2Connector  # pylint: disable=import-outside-toplevel
    database = SonicV2Connector(use_unix_socket_path=True)
    database.connect(database.COUNTERS_DB)
    last = None
    for metric, text, labels, value in samples(database):
        if metric != last:
            print(f"# HELP {metric} {text}\n# TYPE {metric} counter")
            last = metric
        listed = ",".join(f'{key}="{text}"' for key, text in labels.items())
        print(f"{metric}{{{listed}}} {value}")


if __name__ == "__main__":
    main()
