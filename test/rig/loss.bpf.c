// Drops a share of the packets that leave a switch port: LOSS_PPM in a million, each on its own.
// With RUN > 1 it drops runs of that many packets at the same average share. scripts/netns compiles
// it with the numbers filled in and attaches it to the port's egress; it counts what it saw and
// dropped.

// bpf_helpers.h needs the types of bpf.h and does not include it.
// clang-format off
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#ifndef LOSS_PPM
#define LOSS_PPM 0
#endif
#ifndef RUN
#define RUN 1
#endif

enum { kSeen, kDropped, kLeftOfRun, kCounters };

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, kCounters);
  __type(key, __u32);
  __type(value, __u64);
} counters SEC(".maps");

static __always_inline __u64* counter(__u32 index) {
  return bpf_map_lookup_elem(&counters, &index);
}

SEC("tc")
int loss(struct __sk_buff* skb) {
  __u64* seen = counter(kSeen);
  __u64* dropped = counter(kDropped);
  __u64* left = counter(kLeftOfRun);
  if (!seen || !dropped || !left) return TC_ACT_OK;
  __sync_fetch_and_add(seen, 1);
  if (RUN > 1 && *left > 0) {
    *left -= 1;
  } else {
    __u64 draw = (__u64)bpf_get_prandom_u32() * 1000000 >> 32;
    if (draw >= LOSS_PPM / RUN) return TC_ACT_OK;
    if (RUN > 1) *left = RUN - 1;
  }
  __sync_fetch_and_add(dropped, 1);
  return TC_ACT_SHOT;
}

char _license[] SEC("license") = "Apache-2.0";
