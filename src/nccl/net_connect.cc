// listen, connect, accept and the closes. connect never blocks: its first call starts the handshake
// and leaves a ticket in the handle, later ones ask how far it is.
#include <memory>

#include "nccl/comm.h"
#include "nccl/handle.h"
#include "nccl/net.h"

namespace dlcp::nccl::net {
namespace {

Context& context_of(void* context) {
  return context != nullptr ? *static_cast<Context*>(context) : Context::of_process();
}

ResultCode refuse_unusable_setup() {
  const auto setup = engine::Registry::of_process().setup();
  return setup->ok() ? ResultCode::kSuccess : refuse_on_stderr(setup->error());
}

ResultCode start_listening(Context& context, int device, HandleBytes handle, void** listen_comm) {
  context.object_opened();  // first, so that a close elsewhere does not take the engine away
  auto engine = context.engine(device);
  if (!engine) {
    context.object_closed(false);
    return refuse(engine.error());
  }
  auto comm = std::make_unique<ListenComm>();
  comm->context = &context;
  comm->engine = std::move(engine).value();
  const auto listening = comm->engine->listen(context.id());
  comm->listener = listening.id;
  encode_handle({listening.token, comm->engine->address(), DLCP_VERSION, agreed_terms(context)},
                handle);
  *listen_comm = comm.release();
  return ResultCode::kSuccess;
}

ResultCode start_connecting(Context& context, int device, HandleBytes handle) {
  auto peer = decode_handle(handle);
  if (!peer) {
    return refuse(peer.error());
  }
  context.object_opened();
  auto engine = context.engine(device);
  if (!engine) {
    context.object_closed(false);
    return refuse(engine.error());
  }
  if (auto reachable = engine.value()->check_reachable(peer->address); !reachable) {
    context.object_closed(true);
    return refuse(reachable.error());
  }
  if (auto alike = check_terms(agreed_terms(context), peer->terms); !alike) {
    context.object_closed(true);
    return refuse(alike.error());
  }
  set_ticket(handle, context.keep_pending(engine.value()->connect(
                         context.id(), peer->listener_token, peer->address)));
  return ResultCode::kSuccess;
}

}  // namespace

ResultCode listen(void* context, int device, void* handle, void** listen_comm) noexcept {
  return guarded("listen", [&] {
    *listen_comm = nullptr;
    if (const ResultCode code = refuse_unusable_setup(); code != ResultCode::kSuccess) {
      return code;
    }
    return start_listening(context_of(context), device,
                           HandleBytes(static_cast<std::byte*>(handle), kHandleBytes), listen_comm);
  });
}

ResultCode connect(void* opaque, int device, void* opaque_handle, void** send_comm,
                   int traffic_class) noexcept {
  return guarded("connect", [&] {
    *send_comm = nullptr;
    if (const ResultCode code = refuse_unusable_setup(); code != ResultCode::kSuccess) {
      return code;
    }
    Context& context = context_of(opaque);
    const HandleBytes handle(static_cast<std::byte*>(opaque_handle), kHandleBytes);
    engine::Connection* connection = context.find_pending(ticket_of(handle));
    if (connection == nullptr) {
      if (const ResultCode code = start_connecting(context, device, handle);
          code != ResultCode::kSuccess) {
        return code;
      }
      connection = context.find_pending(ticket_of(handle));
    }
    auto engine = context.engine(device);
    if (!engine) {
      return refuse(engine.error());
    }
    const auto state = connection->engine->poll_state(*connection);
    if (state == core::ConnectionState::kConnecting) {
      return ResultCode::kSuccess;
    }
    context.forget_pending(ticket_of(handle));
    set_ticket(handle, 0);
    if (state == core::ConnectionState::kClosed) {
      const ErrorCode code =
          connection->failed.load() ? connection->error.code : ErrorCode::kRemote;
      connection->engine->close(connection);
      context.object_closed(true);
      return code_of(code);  // the engine has logged why
    }
    if (traffic_class == kUndefined) {
      traffic_class = context.traffic_class();
    }
    announce_terms(context, traffic_class, true);
    *send_comm = new Comm{&context, std::move(engine).value(), connection,
                          Licensing(context, traffic_class)};
    return ResultCode::kSuccess;
  });
}

ResultCode accept(void* listen_comm, void** recv_comm) noexcept {
  return guarded("accept", [&] {
    *recv_comm = nullptr;
    auto& listening = *static_cast<ListenComm*>(listen_comm);
    const auto accepted = listening.engine->accept(listening.listener, listening.context->id());
    if (!accepted) {
      return code_of(accepted.error().code);  // the engine has logged why
    }
    if (engine::Connection* connection = accepted.value(); connection != nullptr) {
      listening.context->object_opened();
      *recv_comm = new Comm{listening.context, listening.engine, connection,
                            Licensing(*listening.context, listening.context->traffic_class())};
    }
    return ResultCode::kSuccess;
  });
}

ResultCode close_comm(void* opaque) noexcept {
  return guarded("close", [&] {
    const std::unique_ptr<Comm> comm(static_cast<Comm*>(opaque));
    if (comm != nullptr) {
      const bool aborted = comm->engine->close(comm->connection);
      comm->context->object_closed(aborted);
    }
    return ResultCode::kSuccess;
  });
}

ResultCode close_listen(void* opaque) noexcept {
  return guarded("closeListen", [&] {
    const std::unique_ptr<ListenComm> comm(static_cast<ListenComm*>(opaque));
    if (comm != nullptr) {
      comm->engine->close_listener(comm->listener);
      comm->context->object_closed(false);
    }
    return ResultCode::kSuccess;
  });
}

}  // namespace dlcp::nccl::net
