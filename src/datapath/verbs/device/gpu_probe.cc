#include "datapath/verbs/device/gpu_probe.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace dlcp::datapath {
namespace {

// A driver that has dma-buf reports the wrong descriptor instead (EBADF).
bool has_dma_buf(Verbs& verbs, ibv_pd* pd) {
  errno = 0;
  const MrPtr mr(verbs.reg_dmabuf_mr(pd, 0, 0, 0, -1, 0), {&verbs});
  return mr != nullptr || (errno != EOPNOTSUPP && errno != EPROTONOSUPPORT);
}

// The module was called nv_peer_mem before it became a part of NVIDIA's driver.
bool has_peer_memory(const std::string& sys_root) {
  constexpr const char* kSigns[] = {"module/nvidia_peermem/version",
                                    "kernel/mm/memory_peers/nv_mem/version",
                                    "kernel/mm/memory_peers/nv_mem_nc/version"};
  return std::ranges::any_of(kSigns, [&](const char* sign) {
    std::error_code error;
    return std::filesystem::exists(std::filesystem::path(sys_root) / sign, error);
  });
}

}  // namespace

GpuAccess probe_gpu_access(Verbs& verbs, ibv_pd* pd, const RocePort& port,
                           const std::string& sys_root) {
  if (is_software(port)) return {};
  return {has_dma_buf(verbs, pd), has_peer_memory(sys_root)};
}

}  // namespace dlcp::datapath
