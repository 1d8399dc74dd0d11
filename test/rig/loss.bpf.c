// Drops a share of the packets that leave a switch port: LOSS_PPM in a million, each independently.
// With RUN > 1 it drops runs of that many packets at the same average share. scripts/netns compiles
// it with the numbers filled in and attaches it to the port's egress; it counts the packets seen
// and dropped. BY_DSCP gives some code points a loss rate of their own, like a queue with early
// drop by class: DSCP(14, 80000) DSCP(10, 0) and so on.

// bpf_helpers.h needs the types of bpf.h and does not include it.
// clang-format off
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#ifndef LOSS_PPM
#define LOSS_PPM 0
#endif
#ifndef RUN
#define RUN 1
#endif
#ifndef BY_DSCP
#define BY_DSCP
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

// In a million; LOSS_PPM for code points without a rate of their own.
static __always_inline __u32 loss_of(struct __sk_buff* skb) {
  __u8 head[2] = {0, 0};
  if (bpf_skb_load_bytes(skb, ETH_HLEN, head, sizeof head) < 0) return LOSS_PPM;
  __u8 dscp = 0;
  if (skb->protocol == bpf_htons(ETH_P_IP))
    dscp = head[1] >> 2;
  else if (skb->protocol == bpf_htons(ETH_P_IPV6))
    dscp = (__u8)(head[0] << 4 | head[1] >> 4) >> 2;
  else
    return LOSS_PPM;
  switch (dscp) {
#define DSCP(point, ppm) \
  case point:            \
    return ppm;
    BY_DSCP
    default:
      return LOSS_PPM;
  }
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
    if (draw >= loss_of(skb) / RUN) return TC_ACT_OK;
    if (RUN > 1) *left = RUN - 1;
  }
  __sync_fetch_and_add(dropped, 1);
  return TC_ACT_SHOT;
}

char _license[] SEC("license") = "Apache-2.0";
