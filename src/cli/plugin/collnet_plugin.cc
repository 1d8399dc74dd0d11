// Picks the highest CollNet table that a plugin exports, as net_plugin.cc does for the net table.
#include "cli/plugin/collnet_plugin.h"

#include <dlfcn.h>

#include <climits>

#include "nccl/abi/collnet.h"

namespace dlcp::cli {
namespace {

template <int kVersion, class Table>
class CollNetAdapter final : public CollNetPlugin {
 public:
  explicit CollNetAdapter(const Table& table) : t_(table) {}

  int abi() const override { return kVersion; }

  ResultCode init(std::uint64_t comm_id, nccl::DebugLogger logger) override {
    if constexpr (kVersion >= 11)
      return t_.init(&ctx_, comm_id, logger);
    else
      return t_.init(logger);
  }
  ResultCode listen(int dev, void* handle, void** listen_comm) override {
    if constexpr (kVersion >= 11)
      return t_.listen(ctx_, dev, handle, listen_comm);
    else
      return t_.listen(dev, handle, listen_comm);
  }
  ResultCode connect(std::vector<void*>& handles, int rank, void* listen_comm,
                     void** comm) override {
    return t_.connect(handles.data(), static_cast<int>(handles.size()), rank, listen_comm, comm);
  }
  ResultCode reduce_support(int type, int op, int& supported) override {
    return t_.reduceSupport(type, op, &supported);
  }
  ResultCode reg_mr(void* comm, void* data, std::size_t size, void** mhandle) override {
    return t_.regMr(comm, data, size, nccl::kPtrHost, mhandle);
  }
  ResultCode dereg_mr(void* comm, void* mhandle) override { return t_.deregMr(comm, mhandle); }
  ResultCode iallreduce(void* comm, void* input, void* result, std::size_t count, int type, int op,
                        void* input_mhandle, void* result_mhandle, void** request) override {
    if constexpr (kVersion >= 9) {
      return t_.iallreduce(comm, input, result, count, type, op, input_mhandle, result_mhandle,
                           request);
    } else {
      if (count > INT_MAX) return ResultCode::kInvalidArgument;
      return t_.iallreduce(comm, input, result, static_cast<int>(count), type, op, input_mhandle,
                           result_mhandle, request);
    }
  }
  ResultCode test(void* request, int& done) override {
    int bytes = 0;
    return t_.test(request, &done, &bytes);
  }
  ResultCode close_coll(void* comm) override { return t_.closeColl(comm); }
  ResultCode close_listen(void* comm) override { return t_.closeListen(comm); }
  ResultCode finalize() override {
    if constexpr (kVersion >= 11) {
      if (t_.finalize != nullptr) return t_.finalize(ctx_);
    }
    return ResultCode::kSuccess;
  }

 private:
  const Table& t_;
  void* ctx_ = nullptr;
};

template <int kVersion, class Table>
std::unique_ptr<CollNetPlugin> adapt(void* library, const char* symbol, int wanted) {
  if (wanted != 0 && wanted != kVersion) return nullptr;
  const auto* table = static_cast<const Table*>(dlsym(library, symbol));
  if (table == nullptr) return nullptr;
  return std::make_unique<CollNetAdapter<kVersion, Table>>(*table);
}

}  // namespace

std::unique_ptr<CollNetPlugin> CollNetPlugin::open(void* library, int version) {
  using namespace nccl;
  std::unique_ptr<CollNetPlugin> plugin;
  if (!plugin) plugin = adapt<12, CollNetV12>(library, kCollNetSymbolV12, version);
  if (!plugin) plugin = adapt<11, CollNetV11>(library, kCollNetSymbolV11, version);
  if (!plugin) plugin = adapt<10, CollNetV10>(library, kCollNetSymbolV10, version);
  if (!plugin) plugin = adapt<9, CollNetV9>(library, kCollNetSymbolV9, version);
  if (!plugin) plugin = adapt<8, CollNetV8>(library, kCollNetSymbolV8, version);
  return plugin;
}

}  // namespace dlcp::cli
