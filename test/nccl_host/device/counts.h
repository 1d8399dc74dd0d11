// The number of this process's all-reduces per algorithm, for cases that expect a certain one.
#pragma once

extern "C" {
struct NcclHostCounts {
  long chains;  // per operation and channel
  long rings;
};
NcclHostCounts nccl_host_counts(void);
}
