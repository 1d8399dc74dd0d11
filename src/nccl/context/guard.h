// The wrapper of every exported function: no exception crosses the C boundary, and a forked child
// gets an error before it can change anything.
#pragma once

#include <exception>
#include <utility>

#include "nccl/abi/types.h"
#include "nccl/context/log.h"
#include "util/system/fork_guard.h"

namespace dlcp::nccl {

template <class Function>
ResultCode guarded(const char* name, Function&& function) noexcept {
  if (in_forked_child()) return ResultCode::kSystemError;
  const char* what = "unknown exception";
  try {
    try {
      return std::forward<Function>(function)();
    } catch (const std::exception& exception) {
      what = exception.what();
      return refuse({ErrorCode::kInternal, std::string(name) + " failed: " + what,
                     "please report this message, unless the system is out of memory"});
    }
  } catch (...) {
    return ResultCode::kInternalError;
  }
}

}  // namespace dlcp::nccl
