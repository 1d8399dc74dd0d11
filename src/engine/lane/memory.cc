// The engine's calls for memory: registration, its end, and flushes of GPU memory.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "datapath/placer.h"
#include "engine/host/clock.h"
#include "engine/lane/engine.h"
#include "engine/lane/hold.h"

namespace dlcp::engine {
namespace {

constexpr Duration kReclaimPatience = 10ms;
constexpr const char* kWithoutGpu =
    "set NCCL_NET_GDR_LEVEL=LOC on all ranks, so that NCCL copies GPU memory through host memory";

}  // namespace

void Engine::register_memory(const Connection& connection, const Memory& registered) {
  if (!connection.sends && datapath_->placer() == nullptr) return;  // received data is copied
  Hold hold(*this);
  const auto done = datapath_->register_memory({registered.data, registered.bytes});
  if (!done && !logged_copies_) {
    logged_copies_ = true;
    Error error = done.error();
    error.what += "; data sent from it will be copied, which takes more processor time";
    notices_.log(LogLevel::kWarn, error.message());
  }
}

void Engine::release_memory(Connection& connection, const Memory& registered) {
  {
    Hold hold(*this);
    if (connection.uses(registered)) {
      endpoint_.close(hold.now(), connection.id);
      const Error error{ErrorCode::kInternal, "memory was deregistered while requests used it",
                        "the connection is aborted; this is expected only while a communicator "
                        "aborts"};
      if (!connection.failed.load(std::memory_order_relaxed))
        notices_.log(LogLevel::kWarn, error.message());
      failures_.end(connection, error);
      take_events(hold.now());
      flush(hold.now());
    }
  }
  // Otherwise no receive in this memory is pending.
  if (connection.failed.load(std::memory_order_relaxed)) end_placing(connection);
  if (connection.sends || datapath_->placer() != nullptr)
    reclaim({registered.data, registered.bytes});
}

// Waits, without the lock, until the datapath no longer uses the memory; after kReclaimPatience it
// forces this, because hardware may be delayed by a port that is down.
void Engine::reclaim(std::span<std::byte> memory) {
  const Time end = steady_now() + kReclaimPatience;
  constexpr timespec kPause{0, 20'000};
  for (;; nanosleep(&kPause, nullptr)) {
    Hold hold(*this);
    const bool read = datapath_->reads(memory);
    if (read && hold.now() < end) continue;
    if (read) datapath_->abandon(memory);
    datapath_->release_memory(memory);
    return;
  }
}

// Waits, without the lock, until no data is being placed for receives of the connection. After
// kReclaimPatience the placer stops; one that cannot is waited for without limit.
void Engine::end_placing(const Connection& connection) {
  if (connection.sends) return;
  const Time end = steady_now() + kReclaimPatience;
  constexpr timespec kPause{0, 20'000};
  const auto is_written = [&](const Request& request) {
    return request.state.load(std::memory_order_acquire) != Request::State::kFree &&
           placer_->writes(request.memory);
  };
  for (;; nanosleep(&kPause, nullptr)) {
    Hold hold(*this);
    pump_.take_placed(hold.now());
    if (std::ranges::none_of(connection.requests, is_written)) return;
    if (hold.now() < end) continue;
    endpoint_.close(hold.now(), connection.id);  // its peer must not count the data as received
    for (const Request& request : connection.requests)
      if (is_written(request)) placer_->stop(request.memory);
  }
}

Status Engine::register_gpu_memory(const Connection& connection,
                                   const datapath::GpuMemory& memory) {
  Hold hold(*this);
  datapath::Placer* const card = datapath_->placer();
  const auto gpu = card != nullptr ? card->gpu_access() : datapath::GpuAccess{};
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
