// What both kinds of plugins have alike: result codes, and who takes memory for a connection or for
// a group of ranks.
#pragma once

#include <cstddef>

#include "nccl/abi/types.h"

namespace dlcp::cli {

using nccl::ResultCode;

// Throws unless `code` is success; `call` is the plugin's function.
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
