// Opens a plugin and picks the highest table that it exports. Versions differ in a few arguments
// only, so one template serves all of them; the tables are in nccl/abi.
#include "cli/plugin/net_plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>

#include <climits>
#include <fstream>
#include <utility>

#include "cli/own_plugin.h"
#include "nccl/abi/net/net_v11.h"
#include "nccl/abi/net/net_v12.h"
#include "nccl/abi/net/net_v6.h"
#include "nccl/abi/net/net_v7.h"
#include "nccl/abi/net/net_v8.h"

namespace dlcp::cli {
namespace {

template <int kVersion, class Table, class Properties>
class NetAdapter final : public NetPlugin {
 public:
  explicit NetAdapter(const Table& table) : t_(table) {}

  int abi() const override { return kVersion; }
  const char* name() const override { return t_.name; }

  void set_communicator_class(int communicator_class) override {
    config_.trafficClass = communicator_class;
  }
  ResultCode init(std::uint64_t comm_id, nccl::DebugLogger logger) override {
    if constexpr (kVersion >= 11)
      return t_.init(&ctx_, comm_id, &config_, logger, NcclPart::callback);
    else if constexpr (kVersion == 10)
      return t_.init(logger, NcclPart::callback);
    else
      return t_.init(logger);
  }
  ResultCode devices(int& count) override { return t_.devices(&count); }
  ResultCode properties(int dev, DeviceProperties& out) override {
    Properties p{};
    const ResultCode code = t_.getProperties(dev, &p);
    if (code == ResultCode::kSuccess)
      out = {p.name != nullptr ? p.name : "", p.speed, p.ptrSupport, p.maxRecvs};
    return code;
  }
  ResultCode listen(int dev, void* handle, void** listen_comm) override {
    if constexpr (kVersion >= 11)
      return t_.listen(ctx_, dev, handle, listen_comm);
    else
      return t_.listen(dev, handle, listen_comm);
  }
  ResultCode connect(int dev, void* handle, void** send_comm) override {
    nccl::NetDeviceHandle* device = nullptr;
    if constexpr (kVersion >= 11)
      return t_.connect(ctx_, dev, handle, send_comm, &device);
    else if constexpr (kVersion == 10)
      return t_.connect(dev, &config_, handle, send_comm, &device);
    else if constexpr (kVersion >= 7)
      return t_.connect(dev, handle, send_comm, &device);
    else
      return t_.connect(dev, handle, send_comm);
  }
  ResultCode accept(void* listen_comm, void** recv_comm) override {
    nccl::NetDeviceHandle* device = nullptr;
    if constexpr (kVersion >= 7)
      return t_.accept(listen_comm, recv_comm, &device);
    else
      return t_.accept(listen_comm, recv_comm);
  }
  ResultCode reg_mr(void* comm, void* data, std::size_t size, void** mhandle) override {
    if constexpr (kVersion >= 8) {
      return t_.regMr(comm, data, size, nccl::kPtrHost, mhandle);
    } else {
      if (size > INT_MAX) return ResultCode::kInvalidArgument;
      return t_.regMr(comm, data, static_cast<int>(size), nccl::kPtrHost, mhandle);
    }
  }
  ResultCode dereg_mr(void* comm, void* mhandle) override { return t_.deregMr(comm, mhandle); }
  ResultCode isend(void* comm, void* data, std::size_t size, int tag, void* mhandle, void** request,
                   void* phandle) override {
    if constexpr (kVersion >= 10)
      return t_.isend(comm, data, size, tag, mhandle, phandle != nullptr ? phandle : &no_step_,
                      request);
    else if constexpr (kVersion == 9)
      return t_.isend(comm, data, size, tag, mhandle, request);
    else
      return t_.isend(comm, data, static_cast<int>(size), tag, mhandle, request);
  }
  ResultCode irecv(void* comm, void* data, std::size_t size, int tag, void* mhandle, bool optional,
                   void** request, void* phandle) override {
    *request = nullptr;
    if constexpr (kVersion >= 9) {
      if (optional) *request = reinterpret_cast<void*>(nccl::kOptionalRecvCompletion);
    }
    if constexpr (kVersion >= 10) {
      if (phandle == nullptr) phandle = &no_step_;
      return t_.irecv(comm, 1, &data, &size, &tag, &mhandle, &phandle, request);
    } else if constexpr (kVersion == 9) {
      return t_.irecv(comm, 1, &data, &size, &tag, &mhandle, request);
    } else {
      int bytes = static_cast<int>(size);
      return t_.irecv(comm, 1, &data, &bytes, &tag, &mhandle, request);
    }
  }
  ResultCode test(void* request, int& done, int& size) override {
    return t_.test(request, &done, &size);
  }
  ResultCode close_send(void* comm) override { return t_.closeSend(comm); }
  ResultCode close_recv(void* comm) override { return t_.closeRecv(comm); }
  ResultCode close_listen(void* comm) override { return t_.closeListen(comm); }
  ResultCode finalize() override {
    if constexpr (kVersion >= 11) {
      if (t_.finalize != nullptr) return t_.finalize(ctx_);
    }
    return ResultCode::kSuccess;
  }
  ResultCode set_attributes(std::uint32_t op, std::uint32_t algo, std::uint32_t proto) override {
    if constexpr (kVersion >= 11) {
      constexpr nccl::NetCommAttrV11 kUnknown{nccl::kUndefined, nccl::kUndefined, nccl::kUndefined,
                                              nccl::kUndefined};
      nccl::NetAttrV11 attributes{kUnknown, kUnknown, op, algo, proto};
      if (t_.setNetAttr != nullptr) return t_.setNetAttr(ctx_, &attributes);
    }
    return ResultCode::kSuccess;
  }

 private:
  const Table& t_;
  void* ctx_ = nullptr;
  nccl::NetCommConfigV11 config_{nccl::kUndefined};
  ProxyOperation::StepHandle no_step_;  // NCCL never passes a null handle in a collective
};

// The plugin's table of one version; null if there is none or if another version is `wanted`.
template <int kVersion, class Table, class Properties>
std::unique_ptr<NetPlugin> adapt(void* library, const char* symbol, int wanted) {
  if (wanted != 0 && wanted != kVersion) return nullptr;
  const auto* table = static_cast<const Table*>(dlsym(library, symbol));
  if (table == nullptr) return nullptr;
  return std::make_unique<NetAdapter<kVersion, Table, Properties>>(*table);
}

std::unique_ptr<NetPlugin> adapt_highest(void* library, int wanted) {
  using namespace nccl;
  std::unique_ptr<NetPlugin> net;
  if (!net) net = adapt<12, NetV12, NetPropertiesV12>(library, kNetSymbolV12, wanted);
  if (!net) net = adapt<11, NetV11, NetPropertiesV11>(library, kNetSymbolV11, wanted);
  if (!net) net = adapt<10, NetV10, NetPropertiesV10>(library, kNetSymbolV10, wanted);
  if (!net) net = adapt<9, NetV9, NetPropertiesV9>(library, kNetSymbolV9, wanted);
  if (!net) net = adapt<8, NetV8, NetPropertiesV8>(library, kNetSymbolV8, wanted);
  if (!net) net = adapt<7, NetV7, NetPropertiesV7>(library, kNetSymbolV7, wanted);
  if (!net) net = adapt<6, NetV6, NetPropertiesV6>(library, kNetSymbolV6, wanted);
  return net;
}

// The loader never loads a file twice, but it takes a copy in memory for a different file. The
// copy's descriptor stays open, because the loader knows the copy by the descriptor's number.
void* load_copy(const std::string& path) {
  const int fd = memfd_create("plugin", MFD_CLOEXEC);
  if (fd < 0) return nullptr;
  const std::string copy = fmt::format("/proc/self/fd/{}", fd);
  std::ofstream(copy, std::ios::binary) << std::ifstream(path, std::ios::binary).rdbuf();
  return dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
}

void* load(const std::string& path, bool apart) {
  void* const present = apart ? dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (present == nullptr) return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const link_map* file = nullptr;
  void* copy = nullptr;
  if (dlinfo(present, RTLD_DI_LINKMAP, &file) == 0) copy = load_copy(file->l_name);
  dlclose(present);
  return copy;
}

}  // namespace

LoadedPlugin::LoadedPlugin(void* library, std::unique_ptr<NetPlugin> net, std::string path)
    : library_(library), net_(std::move(net)), path_(std::move(path)) {}

LoadedPlugin::LoadedPlugin(LoadedPlugin&& other) noexcept
    : library_(std::exchange(other.library_, nullptr)),
      net_(std::move(other.net_)),
      path_(std::move(other.path_)) {}

LoadedPlugin::~LoadedPlugin() {
  net_.reset();
  if (library_ != nullptr) dlclose(library_);
}

Result<LoadedPlugin> LoadedPlugin::open(const std::string& name, int abi, bool apart) {
  std::string tries[3] = {name, "", ""};
  if (name.empty()) {
    tries[0] = own_plugin_path();
    tries[1] = kPluginFile;  // through the loader's search path, as NCCL does
  } else if (name.find('/') == std::string::npos) {
    tries[1] = "libnccl-net-" + name + ".so";
    if (name == "dlcp") tries[2] = own_plugin_path();
  }
  std::string why;
  for (const std::string& path : tries) {
    if (path.empty()) continue;
    void* library = load(path, apart);
    if (library == nullptr) {
      const char* text = dlerror();
      why += (why.empty() ? "" : "; ") + std::string(text != nullptr ? text : path);
      continue;
    }
    if (auto net = adapt_highest(library, abi)) return LoadedPlugin(library, std::move(net), path);
    dlclose(library);
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("{} exports no ncclNetPlugin_v{}", path,
                             abi == 0 ? "6 to _v12" : std::to_string(abi)),
                 "give --plugin the path of an NCCL net plugin"};
  }
  return Error{ErrorCode::kInvalidUsage, fmt::format("cannot load the plugin: {}", why),
               "give --plugin (or NCCL_NET_PLUGIN) a path, or X for a libnccl-net-X.so in "
               "LD_LIBRARY_PATH"};
}

}  // namespace dlcp::cli
