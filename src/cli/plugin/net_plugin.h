// A net plugin as the bench drives it: one interface over all ABI versions, the newest's shape.
// Every call is passed on as NCCL's own adapters pass it; nothing is queued or retried here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "cli/plugin/collnet_plugin.h"
#include "cli/plugin/nccl_part.h"
#include "cli/plugin/registrar.h"
#include "nccl/abi/types.h"
#include "util/result.h"

namespace dlcp::cli {

struct DeviceProperties {
  std::string name;
  int speed_mbps = 0;
  int ptr_support = 0;
  int max_recvs = 0;
};

class NetPlugin : public Registrar {
 public:
  virtual ~NetPlugin() = default;

  virtual int abi() const = 0;
  virtual const char* name() const = 0;

  // The communicator's, before init; -1: none.
  virtual void set_communicator_class(int communicator_class) = 0;
  virtual ResultCode init(std::uint64_t comm_id, nccl::DebugLogger logger) = 0;
  virtual ResultCode devices(int& count) = 0;
  virtual ResultCode properties(int dev, DeviceProperties& out) = 0;
  virtual ResultCode listen(int dev, void* handle, void** listen_comm) = 0;
  virtual ResultCode connect(int dev, void* handle, void** send_comm) = 0;
  virtual ResultCode accept(void* listen_comm, void** recv_comm) = 0;
  // `phandle`: a ProxyOperation's, null for messages of no collective.
  virtual ResultCode isend(void* comm, void* data, std::size_t size, int tag, void* mhandle,
                           void** request, void* phandle = nullptr) = 0;
  // `optional`: as NCCL does for LL and LL128, tell the plugin that completion need not be
  // reported.
  virtual ResultCode irecv(void* comm, void* data, std::size_t size, int tag, void* mhandle,
                           bool optional, void** request, void* phandle = nullptr) = 0;
  virtual ResultCode test(void* request, int& done, int& size) = 0;
  virtual ResultCode close_send(void* comm) = 0;
  virtual ResultCode close_recv(void* comm) = 0;
  virtual ResultCode close_listen(void* comm) = 0;
  // Versions before 11 have neither: success, nothing done.
  virtual ResultCode finalize() = 0;
  virtual ResultCode set_attributes(std::uint32_t op, std::uint32_t algo, std::uint32_t proto) = 0;
};

// A plugin's shared object, open as NCCL opens it (RTLD_NOW | RTLD_LOCAL), at its highest version.
class LoadedPlugin {
 public:
  // `name` as in NCCL_NET_PLUGIN: a path, a soname, or X for libnccl-net-X.so; empty for ours,
  // which lies beside this executable (../lib). `abi`: that version alone; 0 for the highest.
  static Result<LoadedPlugin> open(const std::string& name, int abi = 0);
  LoadedPlugin(LoadedPlugin&& other) noexcept;
  LoadedPlugin& operator=(LoadedPlugin&&) = delete;
  ~LoadedPlugin();

  NetPlugin& net() { return *net_; }
  // Its profiler's part of NCCL, at that version or the highest (0); null if it has none.
  std::unique_ptr<NcclPart> nccl_part(int version = 0) { return NcclPart::open(library_, version); }
  // Its CollNet table of that version or the highest (0); null if it has none.
  std::unique_ptr<CollNetPlugin> collnet(int version = 0) {
    return CollNetPlugin::open(library_, version);
  }
  const std::string& path() const { return path_; }

 private:
  LoadedPlugin(void* library, std::unique_ptr<NetPlugin> net, std::string path);
  void* library_;
  std::unique_ptr<NetPlugin> net_;
  std::string path_;
};

}  // namespace dlcp::cli
