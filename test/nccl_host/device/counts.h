// How many all-reduces of this process went which way, for a case that says which it expects.
#pragma once

extern "C" {
struct NcclHostCounts {
  long chains;  // per operation and channel
  long rings;
};
NcclHostCounts nccl_host_counts(void);
}
