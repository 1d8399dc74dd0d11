// init, finalize, devices and their properties. With unusable settings, one placeholder device is
// reported, so that NCCL calls listen, which fails. Otherwise NCCL would silently use another
// network on this rank only.
#include <fmt/format.h>

#include <atomic>

#include "engine/settings/environment.h"
#include "nccl/abi/net/net_v11.h"
#include "nccl/loss/licensing.h"
#include "nccl/net/net.h"
#include "nccl/net/net_attributes.h"
#include "nccl/profiler/profiler.h"
#include "util/system/fork_guard.h"

namespace dlcp::nccl::net {
namespace {

std::atomic<bool> prepared = false;

void prepare(DebugLogger logger) {
  arm_fork_guard();
  prepared = true;
  set_logger(logger);
  auto& registry = engine::Registry::of_process();
  registry.set_log(say);
  registry.refresh();
}

// Many applications end without destroying their communicators. Their last messages usually arrive,
// too, unless the process ends by _exit(), quick_exit() or a signal.
[[gnu::destructor]] void deliver_at_exit() noexcept {
  if (prepared && !in_forked_child()) engine::Registry::of_process().await_last_delivery();
}

}  // namespace

ResultCode init_process(DebugLogger logger, ProfilerCallback callback) noexcept {
  return guarded(
      "init",
      [&] {
        prepare(logger);
        profiler::set_callback(callback);
        // Its connections have the contexts of their threads.
        static auto* const process =
            new Context(engine::Registry::of_process(), 0, kUndefined, Context::Lifetime::kThread);
        process->take_setup();
        announce_terms(*process, kUndefined);
        return ResultCode::kSuccess;
      });
}

ResultCode init_communicator(void** context, std::uint64_t comm_id, int communicator_class,
                             DebugLogger logger, ProfilerCallback callback) noexcept {
  return guarded(
      "init",
      [&] {
        *context = nullptr;
        prepare(logger);
        profiler::set_callback(callback);
        auto* const opened = new Context(engine::Registry::of_process(), comm_id,
                                         communicator_class, Context::Lifetime::kUntilFinalize);
        *context = opened;
        announce_terms(*opened, communicator_class);
        return ResultCode::kSuccess;
      });
}

ResultCode set_attributes(void* context, NetAttrV11* attributes) noexcept {
  return guarded(
      "setNetAttr",
      [&] {
        if (context != nullptr && attributes != nullptr)
          remember_attributes(static_cast<Context*>(context)->id(),
                              {attributes->op, attributes->algo, attributes->proto});
        return ResultCode::kSuccess;
      });
}

ResultCode finalize_communicator(void* context) noexcept {
  return guarded(
      "finalize",
      [&] {
        auto* owned = static_cast<Context*>(context);
        if (owned == nullptr) return ResultCode::kSuccess;
        forget_terms(*owned);
        owned->finish();
        return ResultCode::kSuccess;
      });
}

ResultCode devices(int* count) noexcept {
  return guarded(
      "devices",
      [&] {
        const auto setup = engine::Registry::of_process().setup();
        *count = setup->ok() ? static_cast<int>(setup->value().devices.size()) : 1;
        return ResultCode::kSuccess;
      });
}

Result<DeviceProperties> properties(int device) {
  const auto setup = engine::Registry::of_process().setup();
  const std::size_t count = setup->ok() ? setup->value().devices.size() : 1;
  if (device < 0 || static_cast<std::size_t>(device) >= count) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("getProperties of device {}, but there are {} devices", device, count),
                 ""};
  }
  if (!setup->ok()) return describe_unusable();
  const auto index = static_cast<std::size_t>(device);
  const engine::Device& from = setup->value().devices[index];
  // NCCL asks for both plugins together, and direct exchange adds in host memory.
  const auto gpu = engine::nccl_offers_collnet()
                       ? datapath::GpuAccess{}
                       : engine::gpu_access(setup->value().devices, index, setup->value().settings);
  return describe(from, setup->value().measured[index], gpu);
}

}  // namespace dlcp::nccl::net
