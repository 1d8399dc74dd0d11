// Picks the highest CollNet table that a plugin exports.
#include <dlfcn.h>

#include "cli/bench/collnet_adapter.h"
#include "nccl/abi/collnet.h"

namespace dlcp::cli {
namespace {

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
