// A CollNet plugin as the bench drives it: one interface over all ABI versions, the newest's shape.
// What the net plugin has as well (devices, properties) is asked there, as they are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cli/plugin/registrar.h"

namespace dlcp::cli {

class CollNetPlugin : public Registrar {
 public:
  // The table of that version in a plugin's shared object, or its highest (0); null if it has none.
  static std::unique_ptr<CollNetPlugin> open(void* library, int version = 0);
  virtual ~CollNetPlugin() = default;

  virtual int abi() const = 0;

  virtual ResultCode init(std::uint64_t comm_id, nccl::DebugLogger logger) = 0;
  virtual ResultCode listen(int dev, void* handle, void** listen_comm) = 0;
  // Blocks. `handles`: of all ranks.
  virtual ResultCode connect(std::vector<void*>& handles, int rank, void* listen_comm,
                             void** comm) = 0;
  virtual ResultCode reduce_support(int type, int op, int& supported) = 0;
  // `count` elements. A null request: ask again.
  virtual ResultCode iallreduce(void* comm, void* input, void* result, std::size_t count, int type,
                                int op, void* input_mhandle, void* result_mhandle,
                                void** request) = 0;
  virtual ResultCode test(void* request, int& done) = 0;
  virtual ResultCode close_coll(void* comm) = 0;
  virtual ResultCode close_listen(void* listen_comm) = 0;
  virtual ResultCode finalize() = 0;  // before version 11: success, nothing done
};

}  // namespace dlcp::cli
