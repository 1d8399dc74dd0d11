// Opens a plugin and picks the highest table it exports.
#include <dlfcn.h>
#include <fmt/format.h>

#include "cli/bench/net_adapter.h"
#include "cli/bench/net_plugin.h"
#include "cli/own_plugin.h"
#include "nccl/abi/net_v12.h"
#include "nccl/abi/net_v6.h"
#include "nccl/abi/net_v7.h"
#include "nccl/abi/net_v8.h"

namespace dlcp::cli {
namespace {

// The plugin's table of one version; null if it has none, or if another one is `wanted`.
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

Result<LoadedPlugin> LoadedPlugin::open(const std::string& name, int abi) {
  std::string tries[3] = {name, "", ""};
  if (name.empty()) {
    tries[0] = own_plugin_path();
    tries[1] = kPluginFile;  // by the loader, as NCCL finds it
  } else if (name.find('/') == std::string::npos) {
    tries[1] = "libnccl-net-" + name + ".so";
    if (name == "dlcp") tries[2] = own_plugin_path();
  }
  std::string why;
  for (const std::string& path : tries) {
    if (path.empty()) continue;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
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
               "give --plugin a path, or X for libnccl-net-X.so on LD_LIBRARY_PATH"};
}

}  // namespace dlcp::cli
