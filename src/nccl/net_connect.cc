// listen, connect, accept and the closes. connect never blocks: its first call starts the handshake
// and leaves a ticket in the handle, later ones ask how far it is.
#include <algorithm>
#include <memory>

#include "nccl/comm.h"
#include "nccl/handle.h"
#include "nccl/net.h"

namespace dlcp::nccl::net {
namespace {

// A peer that lives answers in less than a round trip; its process may be busy starting.
constexpr Duration kCarrierPatience = 3s;

Context& context_of(void* context) {
  return context != nullptr ? *static_cast<Context*>(context) : Context::of_process();
}

wire::Key site_secret() {
  const auto setup = engine::Registry::of_process().setup();
  return setup->ok() ? setup->value().settings.site_secret : wire::Key{};
}

ResultCode refuse_unusable_setup() {
  const auto setup = engine::Registry::of_process().setup();
  return setup->ok() ? ResultCode::kSuccess : refuse_on_stderr(setup->error());
}

ResultCode start_listening(Context& context, int device, HandleBytes bytes, void** listen_comm) {
  context.object_opened();  // first, so that a close elsewhere does not take the engines away
  auto port = context.port(device);
  if (!port) {
    context.object_closed(false);
    return refuse(port.error());
  }
  auto comm = std::make_unique<ListenComm>();
  comm->context = &context;
  comm->port = port->for_listener();
  Handle handle{{},
                comm->port.address(),
                wire::fingerprint(site_secret()),
                DLCP_VERSION,
                agreed_terms(context)};
  // One invitation for all lanes: it hangs on the number, and on what the process keeps to itself.
  const std::uint32_t number = engine::Registry::of_process().new_listener();
  for (const engine::Lane& lane : comm->port.lanes()) {
    const auto listening = lane.engine->listen(context.id(), number);
    comm->listeners.push_back(listening.id);
    handle.listener = listening.invitation;
  }
  encode_handle(handle, bytes);
  *listen_comm = comm.release();
  return ResultCode::kSuccess;
}

// Whether both ranks were set alike; and if not, what the peer should hear of it, from its side.
Status check_alike(const AgreedTerms& ours, const Handle& peer, core::Refusal& why_not) {
  const wire::Key secret = site_secret();
  if (auto alike = check_secret(wire::fingerprint(secret), peer.secret_fingerprint); !alike) {
    const auto seen_there = check_secret(peer.secret_fingerprint, wire::fingerprint(secret));
    why_not = {seen_there.error().what, true};
    return alike;
  }
  auto alike = check_terms(ours, peer.terms);
  if (!alike) {
    why_not = {check_terms(peer.terms, ours).error().what, false};
  }
  return alike;
}

ResultCode start_connecting(Context& context, int device, const Handle& peer, HandleBytes handle) {
  context.object_opened();
  auto port = context.port(device);
  if (!port) {
    context.object_closed(false);
    return refuse(port.error());
  }
  const engine::Port lanes = port->for_connection();
  auto route = engine::choose_route(lanes, peer.address);
  if (!route) {
    context.object_closed(true);
    return refuse(route.error());
  }
  core::Refusal why_not;
  if (auto alike = check_alike(agreed_terms(context), peer, why_not); !alike) {
    // NCCL polls accept there for ever unless it hears of this.
    lanes.over(*route->over)->engine->decline(context.id(), peer.listener, route->to, why_not);
    context.object_closed(true);
    return refuse(alike.error());
  }
  if (!route->fallback.empty()) {
    engine::Registry::of_process().say_fallback(route->fallback);
  }
  const Duration peer_timeout =
      engine::Registry::of_process().setup()->value().settings.peer_timeout;
  set_ticket(handle, context.keep_pending(engine::Opening(
                         lanes, context.id(), {peer.listener, peer.address}, route.value(),
                         std::min(kCarrierPatience, peer_timeout / 4))));
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
    auto peer = decode_handle(handle);
    if (!peer) {
      return refuse(peer.error());
    }
    engine::Opening* opening = context.find_pending(ticket_of(handle), peer->listener);
    if (opening == nullptr) {
      if (const ResultCode code = start_connecting(context, device, peer.value(), handle);
          code != ResultCode::kSuccess) {
        return code;
      }
      opening = context.find_pending(ticket_of(handle), peer->listener);
    }
    auto port = context.port(device);
    if (!port) {
      return refuse(port.error());
    }
    const auto state = opening->poll();
    if (!opening->fallback().empty()) {
      engine::Registry::of_process().say_fallback(opening->fallback());
    }
    if (state == core::ConnectionState::kCalling || state == core::ConnectionState::kConnecting) {
      return ResultCode::kSuccess;
    }
    engine::Connection* const connection = opening->connection();
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
    *send_comm = new Comm{&context, port->holder_of(connection->engine), connection,
                          Licensing(context, traffic_class)};
    return ResultCode::kSuccess;
  });
}

ResultCode accept(void* listen_comm, void** recv_comm) noexcept {
  return guarded("accept", [&] {
    *recv_comm = nullptr;
    auto& listening = *static_cast<ListenComm*>(listen_comm);
    const auto& lanes = listening.port.lanes();
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const auto accepted =
          lanes[i].engine->accept(listening.listeners[i], listening.context->id());
      if (!accepted) {
        return code_of(accepted.error().code);  // the engine has logged why
      }
      if (accepted.value() == nullptr) {
        continue;
      }
      if (i > 0) {
        engine::Registry::of_process().say_fallback(engine::fallback_words(
            *lanes[i].over, *lanes[0].over, "a peer has connected so; its log says why"));
      }
      listening.context->object_opened();
      *recv_comm = new Comm{listening.context, lanes[i].engine, accepted.value(),
                            Licensing(*listening.context, listening.context->traffic_class())};
      break;
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
      for (std::size_t i = 0; i < comm->listeners.size(); ++i) {
        comm->port.lanes()[i].engine->close_listener(comm->listeners[i]);
      }
      comm->context->object_closed(false);
    }
    return ResultCode::kSuccess;
  });
}

}  // namespace dlcp::nccl::net
