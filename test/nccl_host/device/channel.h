// One channel of one launch, which corresponds to one thread block of the GPU.
#pragma once

#include <immintrin.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "device.h"  // NCCL's

namespace nccl_host {

[[noreturn]] inline void die(const char* what, int value) {
  std::fprintf(stderr, "nccl_host: %s %d is not done here\n", what, value);
  std::abort();
}

class Channel {
 public:
  Channel(ncclKernelCommAndChannels* all, int id) : all_(all), id_(id) {}

  int id() const { return id_; }
  const ncclKernelComm& comm() const { return all_->comm; }
  ncclDevChannel& device() const { return all_->channels[id_]; }

  // Once true, every operation ends: NCCL has aborted the communicator.
  bool is_aborted() const { return aborted_; }
  void join(const Channel& other) { aborted_ = aborted_ || other.aborted_; }

  // Waits for ready() or the abort. Spins, then yields, then sleeps: there are more ranks than
  // processors.
  template <class Ready>
  void wait(Ready ready) {
    for (unsigned rounds = 0; !aborted_ && !ready(); ++rounds) {
      if (rounds < 64) {
        _mm_pause();
        continue;
      }
      const volatile std::uint32_t* const flag = comm().abortFlag;
      aborted_ = flag != nullptr && *flag != 0;
      if (rounds < 256)
        sched_yield();
      else
        usleep(20);
    }
  }

 private:
  ncclKernelCommAndChannels* all_;
  int id_;
  bool aborted_ = false;
};

inline std::uint64_t read_counter(const std::uint64_t* counter) {
  return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}
inline void write_counter(std::uint64_t* counter, std::uint64_t value) {
  __atomic_store_n(counter, value, __ATOMIC_RELEASE);
}

}  // namespace nccl_host
