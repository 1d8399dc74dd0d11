// Measures how far compression would shorten the job's own buffers. Only host memory can be read
// here: samples are copied by process_vm_readv, which returns an error for memory of a GPU instead
// of raising a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compression/format.h"
#include "util/time.h"
#include "whatif/run/run.h"

namespace dlcp::nccl {

// "float32" of NCCL's "ncclFloat32".
std::string short_type_name(const char* nccl_name);
std::size_t element_bytes(const std::string& short_name);

class BufferSampler {
 public:
  // Samples the buffer, at most once in kInterval. A sample takes about 50 us.
  void look(Time now, const std::string& type, const void* buffer, std::uint64_t bytes);

  // Fills `run.samples` and `run.buffers`.
  void copy_to(whatif::Run& run);

 private:
  static constexpr Duration kInterval = std::chrono::milliseconds(100);

  struct Sum {
    std::uint64_t samples = 0;
    double parts = 0;  // sum of bytes after, per byte before
  };

  std::mutex mutex_;
  std::map<std::string, Sum> sums_;
  Time next_ = Time::min();
  std::uint64_t unreadable_ = 0;
  int error_ = 0;  // of the last unreadable buffer
};

}  // namespace dlcp::nccl
