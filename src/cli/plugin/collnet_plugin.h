// A CollNet plugin: one interface for all ABI versions, in the form of the newest. Functions that
// the net table has as well (devices, properties) are left out, as NetPlugin gives the same
// answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cli/plugin/registrar.h"

namespace dlcp::cli {

class CollNetPlugin : public Registrar {
 public:
  // The table of `version` in a plugin's shared object, or the highest (0); null if there is none.
  static std::unique_ptr<CollNetPlugin> open(void* library, int version = 0);
  virtual ~CollNetPlugin() = default;

  virtual int abi() const = 0;

  virtual ResultCode init(std::uint64_t comm_id, nccl::DebugLogger logger) = 0;
  virtual ResultCode listen(int dev, void* handle, void** listen_comm) = 0;
  // Blocks. `handles`: of all ranks.
  virtual ResultCode connect(std::vector<void*>& handles, int rank, void* listen_comm,
                             void** comm) = 0;
  virtual ResultCode reduce_support(int type, int op, int& supported) = 0;
  // `count`: elements. A null request: try again later.
  virtual ResultCode iallreduce(void* comm, void* input, void* result, std::size_t count, int type,
                                int op, void* input_mhandle, void* result_mhandle,
                                void** request) = 0;
  virtual ResultCode test(void* request, int& done) = 0;
  virtual ResultCode close_coll(void* comm) = 0;
  virtual ResultCode close_listen(void* listen_comm) = 0;
  virtual ResultCode finalize() = 0;  // before version 11: success, nothing done
};

}  // namespace dlcp::cli
