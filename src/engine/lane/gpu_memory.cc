// The engine's calls for memory of a GPU: registration, and flushes.
#include <fmt/format.h>

#include "datapath/placer.h"
#include "engine/lane/engine.h"
#include "engine/lane/hold.h"

namespace dlcp::engine {
namespace {

constexpr const char* kWithoutGpu =
    "set NCCL_NET_GDR_LEVEL=LOC on all ranks, so that NCCL copies GPU memory through host memory";

}  // namespace

Status Engine::register_gpu_memory(const Connection& connection,
                                   const datapath::GpuMemory& memory) {
  Hold hold(*this);
  datapath::Placer* const card = datapath_->placer();
  const auto gpu = card != nullptr ? card->placement_limits().gpu : datapath::GpuAccess{};
  const bool is_dma_buf = memory.dma_buf >= 0;
  if (!(is_dma_buf ? gpu.dma_buf : gpu.peer_memory)) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("this connection uses the datapath {}{}, which cannot access GPU memory {}",
                    datapath_->name(), card == nullptr ? " without placement by the card" : "",
                    is_dma_buf ? "as dma-buf" : "by its address"),
        fmt::format("see the log for the reason why another path was chosen, or {}", kWithoutGpu)};
  }
  if (connection.sends && endpoint_.reads_payloads(connection.id)) {
    return Error{ErrorCode::kInvalidUsage,
                 "the peer asks for tags over payloads or for encryption, for which the processor "
                 "would have to read GPU memory",
                 fmt::format("set DLCP_CHECKSUM and DLCP_ENCRYPT to the same values on all ranks, "
                             "or {}",
                             kWithoutGpu)};
  }
  return card->register_gpu_memory(memory);
}

Result<Request*> Engine::flush_gpu(Connection& connection, const Memory& memory) {
  Hold hold(*this);
  if (connection.failed.load(std::memory_order_relaxed)) return connection.error;
  datapath::Placer* const card = datapath_->placer();
  Request* const request = connection.free_slot();
  if (request == nullptr)
    return Error{ErrorCode::kInternal, "a flush found no free request", "please report this"};
  const std::span<const std::byte> flushed(memory.data, memory.bytes);
  if (card == nullptr || !card->flush(flushed)) return static_cast<Request*>(nullptr);
  request->memory = flushed;
  request->registration = memory.registration;
  request->outcome = {};
  request->posted_at = hold.now();
  request->licence = {};
  request->state.store(Request::State::kPending, std::memory_order_relaxed);
  request->waited_for = connection.waited_for;
  if (request->waited_for) presence_.waits();
  flushes_.add(connection, *request);
  return request;
}

}  // namespace dlcp::engine
