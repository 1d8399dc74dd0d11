// Who takes memory for a connection, or for a group of ranks: both kinds of plugins do it alike.
#pragma once

#include <cstddef>

#include "nccl/abi/types.h"

namespace dlcp::cli {

using nccl::ResultCode;

class Registrar {
 public:
  virtual ResultCode reg_mr(void* comm, void* data, std::size_t size, void** mhandle) = 0;
  virtual ResultCode dereg_mr(void* comm, void* mhandle) = 0;

 protected:
  ~Registrar() = default;
};

}  // namespace dlcp::cli
