// Memory registration, isend, irecv and test. `request` is the engine's object and refers to its
// connection and engine.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>

#include "nccl/context/comm.h"
#include "nccl/net/net.h"
#include "wire/data/data_header.h"

namespace dlcp::nccl::net {
namespace {

Error wrong_side(const char* call, const char* side) {
  return {ErrorCode::kInvalidArgument, fmt::format("{} on a {}", call, side),
          "the caller confuses the two ends of a connection; please report this message"};
}

Error too_large(std::size_t bytes) {
  return {ErrorCode::kInvalidUsage,
          fmt::format("a message has {} bytes, but the limit is {}", bytes, wire::kMessageBytesMax),
          "the caller must respect maxP2pBytes, as NCCL does"};
}

Error no_connection(const char* call) {
  return {ErrorCode::kInvalidArgument, fmt::format("{} without a connection", call),
          "the caller must pass a sendComm or recvComm; please report this message"};
}

Error wrong_type(int type) {
  return {ErrorCode::kInvalidUsage,
          fmt::format("memory of type {} cannot be registered: only host memory (type {}) and GPU "
                      "memory (type {}) can",
                      type, kPtrHost, kPtrCuda),
          "the caller must respect ptrSupport, as NCCL does"};
}

ResultCode register_gpu(Comm& comm, const datapath::GpuMemory& memory, void** registration) {
  // NCCL 2.20 to 2.23 try this when an application registers a buffer, whatever ptrSupport says.
  if (const auto setup = comm.context->setup();
      setup->ok() && setup->value().settings.placement == engine::PlacementChoice::kOff) {
    return refuse({ErrorCode::kInvalidUsage,
                   "GPU memory cannot be registered: no network card accesses it, because "
                   "DLCP_ROCE_PLACEMENT is off",
                   "NCCL copies GPU memory through its host buffers"});
  }
  if (const Status done = comm.bundle.register_gpu_memory(memory); !done)
    return refuse(done.error());
  *registration =
      new Registration{memory.bytes.data(), memory.bytes.size(), core::MemoryKind::kDevice};
  return ResultCode::kSuccess;
}

engine::Memory memory_of(void* data, std::size_t bytes, const void* registration) {
  const auto* known = static_cast<const Registration*>(registration);
  return {static_cast<std::byte*>(data), bytes, registration,
          known != nullptr ? known->kind : core::MemoryKind::kHost};
}

// Failed connections were logged when they failed.
ResultCode store(Result<engine::Request*> posted, void** request) {
  if (!posted) return code_of(posted.error().code);
  *request = posted.value();
  return ResultCode::kSuccess;
}

}  // namespace

ResultCode register_memory(void* comm, void* data, std::size_t bytes, int type,
                           void** registration) noexcept {
  return guarded(
      "regMr",
      [&] {
        *registration = nullptr;
        const std::span<std::byte> memory(static_cast<std::byte*>(data), bytes);
        if (comm == nullptr) return refuse(no_connection("regMr"));
        if (type == kPtrCuda)
          return register_gpu(*static_cast<Comm*>(comm), {memory}, registration);
        if (type != kPtrHost) return refuse(wrong_type(type));
        auto made = std::make_unique<Registration>(Registration{memory.data(), bytes});
        static_cast<Comm*>(comm)->bundle.register_memory({made->data, made->bytes, made.get()});
        *registration = made.release();
        return ResultCode::kSuccess;
      });
}

ResultCode register_dma_buf(void* comm, void* data, std::size_t bytes, int type,
                            std::uint64_t offset, int descriptor, void** registration) noexcept {
  return guarded(
      "regMrDmaBuf",
      [&] {
        *registration = nullptr;
        if (comm == nullptr) return refuse(no_connection("regMrDmaBuf"));
        if (type == kPtrHost || descriptor < 0)
          return refuse(
              {ErrorCode::kInvalidArgument,
               fmt::format("regMrDmaBuf of memory of type {} with descriptor {}", type, descriptor),
               "only GPU memory has a dma-buf; please report this message"});
        const std::span<std::byte> memory(static_cast<std::byte*>(data), bytes);
        return register_gpu(*static_cast<Comm*>(comm), {memory, descriptor, offset}, registration);
      });
}

ResultCode deregister_memory(void* opaque, void* opaque_registration) noexcept {
  return guarded(
      "deregMr",
      [&] {
        const std::unique_ptr<Registration> registration(
            static_cast<Registration*>(opaque_registration));
        if (registration != nullptr && opaque != nullptr)
          static_cast<Comm*>(opaque)->bundle.release_memory(
              {registration->data, registration->bytes, registration.get(), registration->kind});
        return ResultCode::kSuccess;
      });
}

ResultCode send(void* opaque, void* data, std::size_t bytes, void* registration, void* phandle,
                void** request) noexcept {
  return guarded(
      "isend",
      [&] {
        *request = nullptr;
        if (bytes > wire::kMessageBytesMax) return refuse(too_large(bytes));
        Comm& comm = *static_cast<Comm*>(opaque);
        if (!comm.bundle.sends()) return refuse(wrong_side("isend", "recvComm"));
        return store(comm.bundle.send(memory_of(data, bytes, registration),
                                      comm.licensing.next_send(phandle, bytes)),
                     request);
      });
}

ResultCode receive(void* opaque, int count, void** data, const std::size_t* bytes,
                   void** registrations, void** phandles, void** request) noexcept {
  return guarded(
      "irecv",
      [&] {
        *request = nullptr;  // NCCL may have set it to 1 (kOptionalRecvCompletion)
        if (count != 1)
          return refuse(
              {ErrorCode::kInvalidUsage,
               fmt::format("irecv of {} buffers at once: this plugin supports 1 (maxRecvs)", count),
               ""});
        if (bytes[0] > wire::kMessageBytesMax) return refuse(too_large(bytes[0]));
        Comm& comm = *static_cast<Comm*>(opaque);
        if (comm.bundle.sends()) return refuse(wrong_side("irecv", "sendComm"));
        const void* registration = registrations != nullptr ? registrations[0] : nullptr;
        void* const phandle = phandles != nullptr ? phandles[0] : nullptr;
        return store(comm.bundle.receive(memory_of(data[0], bytes[0], registration),
                                         comm.licensing.next_receive(phandle, bytes[0])),
                     request);
      });
}

ResultCode flush(void* recv_comm, int count, void** data, int* sizes, void** registrations,
                 void** request) noexcept {
  return guarded(
      "iflush",
      [&] {
        *request = nullptr;
        if (count != 1 || registrations == nullptr || registrations[0] == nullptr)
          return ResultCode::kSuccess;
        const auto bytes = static_cast<std::size_t>(sizes != nullptr ? sizes[0] : 0);
        const engine::Memory memory = memory_of(data[0], bytes, registrations[0]);
        if (memory.kind == core::MemoryKind::kHost || bytes == 0) return ResultCode::kSuccess;
        return store(static_cast<Comm*>(recv_comm)->bundle.flush_gpu(memory), request);
      });
}

ResultCode test(void* opaque, int* done, int* sizes) noexcept {
  return guarded(
      "test",
      [&] {
        *done = 0;
        if (opaque == nullptr) return ResultCode::kInvalidArgument;
        auto& request = *static_cast<engine::Request*>(opaque);
        const engine::Connection& connection = *request.connection;
        engine::Request::Outcome outcome;
        switch (connection.engine->test(request, outcome)) {
          case engine::Request::State::kDone:
            *done = 1;
            if (sizes != nullptr)
              sizes[0] = static_cast<int>(outcome.bytes);  // NCCL only tests whether it is 0
            return ResultCode::kSuccess;
          case engine::Request::State::kFailed:
            return code_of(connection.error.code);
          case engine::Request::State::kPending:
            return ResultCode::kSuccess;
          case engine::Request::State::kFree:
            break;
        }
        return ResultCode::kInvalidArgument;
      });
}

}  // namespace dlcp::nccl::net
