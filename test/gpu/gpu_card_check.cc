// Checks on a host with a GPU and an RDMA card that the card can access the GPU's memory as
// messages need it: registration, a write by the card from itself, which is how packets that were
// not placed get there, and a flush. Needs no second host. Prints one line for each check of each
// port.
//
// Exit: 0 all passed, 1 one failed, 77 no RDMA card or no GPU here.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "datapath/verbs/device/roce_ports.h"
#include "datapath/verbs/placement/placement_ability.h"
#include "datapath/verbs/verbs_datapath.h"
#include "datapath/verbs/verbs_options.h"
#include "engine/host/clock.h"
#include "gpu/cuda_driver.h"

using namespace dlcp;

namespace {

constexpr int kExitSkipped = 77;
constexpr std::size_t kBytes = std::size_t{4} << 20;
constexpr Duration kPatience = 2s;

bool all_passed = true;

bool report(const char* check, const Status& result) {
  all_passed = all_passed && result.ok();
  fmt::print("  {:<28} {}\n", check, result ? "ok" : result.error().message());
  return result.ok();
}

Status require(bool holds, std::string otherwise) {
  if (holds) return Unit{};
  return Error{ErrorCode::kInternal, std::move(otherwise), ""};
}

Status require(cudaError_t result, const char* action) {
  return require(result == cudaSuccess,
                 fmt::format("CUDA cannot {}: {}", action, cudaGetErrorString(result)));
}

// Calls `count` until it has returned a number above 0.
template <class Count>
Status await(const char* what, Count count) {
  const Time end = engine::steady_now() + kPatience;
  while (engine::steady_now() < end) {
    if (count(engine::steady_now()) > 0) return Unit{};
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return require(false, fmt::format("the card has not finished its {} within 2 s", what));
}

Status check_write(datapath::Placer& placer, std::span<std::byte> memory) {
  std::vector<std::byte> bytes(4096);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  if (!placer.write(memory.subspan(8192, bytes.size()), bytes))
    return require(false, "the card refuses it");
  if (auto done = await("write", [&](Time now) { return placer.written(now); }); !done) return done;
  std::vector<std::byte> copy(bytes.size());
  if (auto read = require(
          cudaMemcpy(copy.data(), memory.data() + 8192, copy.size(), cudaMemcpyDeviceToHost),
          "copy the bytes to the host");
      !read)
    return read;
  return require(copy == bytes, "the GPU sees other bytes");
}

Status check_flush(datapath::Placer& placer, std::span<std::byte> memory) {
  if (!placer.flush(memory)) return require(false, "the card refuses it");
  return await("flush", [&](Time now) { return placer.flushed(now); });
}

struct CudaFree {
  void operator()(void* at) const { cudaFree(at); }
};

// The memory of the current GPU, for as long as this function runs.
void check_memory(const gpu::CudaDriver& driver, const datapath::PlacementAbility& ability,
                  datapath::Datapath& datapath) {
  void* at = nullptr;
  if (auto done = require(cudaMalloc(&at, kBytes), "allocate 4 MiB"); !done) {
    report("GPU memory", done);
    return;
  }
  const std::unique_ptr<void, CudaFree> owner(at);
  const std::span memory(static_cast<std::byte*>(at), kBytes);
  datapath::GpuMemory described{memory};
  gpu::DmaBuf exported;
  if (ability.places_in_gpus().dma_buf) {
    auto made = driver.export_dma_buf(memory);
    if (!report("export as dma-buf", made ? Status(Unit{}) : Status(made.error()))) return;
    exported = std::move(made).value();
    described.dma_buf = exported.descriptor.get();
    described.offset = exported.offset;
  }
  datapath::Placer& placer = *datapath.placer();
  if (report("registration", placer.register_gpu_memory(described))) {
    report("write by the card", check_write(placer, memory));
    report("flush", check_flush(placer, memory));
    datapath.release_memory(memory);
  }
}

void check_port(const gpu::CudaDriver& driver, const datapath::RocePort& port) {
  auto ability = datapath::test_placement(port);
  if (!report("self-test", ability ? Status(Unit{}) : Status(ability.error()))) return;
  const datapath::GpuAccess access = ability.value().places_in_gpus();
  if (!access.dma_buf && !access.peer_memory) {
    fmt::print("  {:<28} not offered: {}; {}\n", "GPU memory", to_string(ability.value()),
               "load nvidia-peermem, or use a driver that registers dma-bufs");
    return;
  }
  datapath::VerbsOptions options;
  options.port = port;
  options.placement = ability.value();
  auto library = datapath::verbs_library();
  if (!report("library", library ? Status(Unit{}) : Status(library.error()))) return;
  auto opened = datapath::VerbsDatapath::open(library.value(), options);
  if (!report("device", opened ? Status(Unit{}) : Status(opened.error()))) return;
  for (int index = 0; index < driver.devices(); ++index) {
    fmt::print(" GPU {}\n", index);
    if (auto chosen = require(cudaSetDevice(index), "use this GPU"); !chosen)
      report("GPU", chosen);
    else
      check_memory(driver, ability.value(), *opened.value());
  }
}

}  // namespace

int main() {
  auto existing = datapath::list_roce_ports();
  std::erase_if(existing, [](const datapath::RocePort& port) { return port.pci_path.empty(); });
  const auto ports = datapath::choose_roce_ports("", -1, existing);
  if (existing.empty() || !ports) {
    fmt::print("skipped: no RDMA card\n");
    return kExitSkipped;
  }
  auto driver = gpu::CudaDriver::load();
  if (!driver) {
    fmt::print("skipped: {}\n", driver.error().message());
    return kExitSkipped;
  }
  for (const datapath::RocePort& port : ports.value()) {
    fmt::print("{} port {} ({})\n", port.device, port.port, port.driver);
    check_port(*driver.value(), port);
  }
  return all_passed ? 0 : 1;
}
