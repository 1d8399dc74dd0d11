// The common part of net and CollNet plugins: result codes and the registration of memory.
#pragma once

#include <cstddef>

#include "nccl/abi/types.h"

namespace dlcp::cli {

using nccl::ResultCode;

// Throws BenchError unless `code` is success. `call`: name of the plugin's function.
void require(ResultCode code, const char* call);
const char* name_of(ResultCode code);

class Registrar {
 public:
  virtual ResultCode reg_mr(void* comm, void* data, std::size_t size, void** mhandle) = 0;
  virtual ResultCode dereg_mr(void* comm, void* mhandle) = 0;

 protected:
  ~Registrar() = default;
};

}  // namespace dlcp::cli
