// Memory registration, isend, irecv and test. `request` is the engine's object and refers to its
// connection and engine.
#include <fmt/format.h>

#include <cstdint>
#include <memory>

#include "nccl/context/comm.h"
#include "nccl/net/net.h"
#include "wire/data_header.h"

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
        if (comm == nullptr || type != kPtrHost)
          return refuse({ErrorCode::kInvalidUsage,
                         fmt::format("regMr of memory of type {}: only host memory (type {}) is "
                                     "supported",
                                     type, kPtrHost),
                         "NCCL copies GPU memory through its host buffers"});
        Comm& owner = *static_cast<Comm*>(comm);
        auto made =
            std::make_unique<Registration>(Registration{static_cast<std::byte*>(data), bytes});
        owner.bundle.register_memory({made->data, made->bytes, made.get()});
        *registration = made.release();
        return ResultCode::kSuccess;
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
              {registration->data, registration->bytes, registration.get()});
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
        return store(comm.bundle.send({static_cast<std::byte*>(data), bytes, registration},
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
        return store(comm.bundle.receive({static_cast<std::byte*>(data[0]), bytes[0], registration},
                                         comm.licensing.next_receive(phandle, bytes[0])),
                     request);
      });
}

ResultCode flush(void** request) noexcept {
  return guarded(
      "iflush",
      [&] {
        *request = nullptr;  // nothing to wait for: host memory only
        return ResultCode::kSuccess;
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
