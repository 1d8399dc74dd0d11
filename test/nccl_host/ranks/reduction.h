// One all-reduce with values for which every element of the result is known.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace nccl_host {

struct Shape {
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;
  std::size_t count = 0;  // elements
  int seed = 0;
};

struct Found {
  std::size_t wrong = 0;
  std::uint64_t digest = 0;
  std::string first;  // text about the first wrong element
};

class Reduction {
 public:
  // For this rank among `ranks`: generates the input, and fills the output with wrong bytes.
  Reduction(const Shape& shape, int rank, int ranks);
  ~Reduction();
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  ncclResult_t enqueue(ncclComm_t comm, cudaStream_t stream) const;
  Found check() const;  // after the stream has completed

  const Shape& shape() const { return shape_; }
  void* input() const { return input_; }
  void* output() const { return output_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Shape shape_;
  int ranks_;
  std::size_t bytes_;
  void* input_ = nullptr;
  void* output_ = nullptr;
};

}  // namespace nccl_host
