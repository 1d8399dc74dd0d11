// A net plugin: one interface for all ABI versions, in the form of the newest. Every call goes to
// the plugin as NCCL's adapters pass it; nothing is queued or retried here.
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

  // The communicator's trafficClass, to be set before init; -1: none.
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
  // `optional`: tells the plugin that it need not report the completion, as NCCL does for LL and
  // LL128.
  virtual ResultCode irecv(void* comm, void* data, std::size_t size, int tag, void* mhandle,
                           bool optional, void** request, void* phandle = nullptr) = 0;
  virtual ResultCode test(void* request, int& done, int& size) = 0;
  virtual ResultCode close_send(void* comm) = 0;
  virtual ResultCode close_recv(void* comm) = 0;
  virtual ResultCode close_listen(void* comm) = 0;
  // Versions before 11 have neither; the calls then succeed without effect.
  virtual ResultCode finalize() = 0;
  virtual ResultCode set_attributes(std::uint32_t op, std::uint32_t algo, std::uint32_t proto) = 0;
};

// A plugin's shared object, opened as NCCL opens it (RTLD_NOW | RTLD_LOCAL).
class LoadedPlugin {
 public:
  // `name` as in NCCL_NET_PLUGIN: a path, a soname, or X for libnccl-net-X.so; empty for our
  // plugin, in ../lib of this executable. `abi`: the version to use; 0 for the highest. `apart`: if
  // this process has loaded the same file before, loads a copy, which shares no variables with it.
  static Result<LoadedPlugin> open(const std::string& name, int abi = 0, bool apart = false);
  LoadedPlugin(LoadedPlugin&& other) noexcept;
  LoadedPlugin& operator=(LoadedPlugin&&) = delete;
  ~LoadedPlugin();

  NetPlugin& net() const { return *net_; }
  // NCCL's side of the plugin's profiler, of that version or the highest (0); null if there is
  // none.
  std::unique_ptr<NcclPart> nccl_part(int version = 0) { return NcclPart::open(library_, version); }
  // The CollNet table of that version or the highest (0); null if there is none.
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
