// listen, connect, accept and the close calls. connect never blocks: the first call starts the
// handshake and stores a ticket in the handle; later calls check its progress.
#include <algorithm>
#include <memory>
#include <utility>

#include "nccl/context/comm.h"
#include "nccl/context/log.h"
#include "nccl/net/handle.h"
#include "nccl/net/net.h"
#include "nccl/net/rendezvous.h"

namespace dlcp::nccl::net {
namespace {

ResultCode refuse_unusable_setup(const Context& context) {
  const Status usable = check_setup(context);
  return usable ? ResultCode::kSuccess : refuse_on_stderr(usable.error());
}

engine::Opening::Over lanes_of_each(const Context& context) {
  return context.setup()->value().settings.bundle ? engine::Opening::Over::kAllLanes
                                                  : engine::Opening::Over::kOneLane;
}

ResultCode start_connecting(Context& context, int device, const Handle& peer, HandleBytes handle) {
  context.object_opened();
  engine::OpeningWays ways =
      ways_to(context, device, peer.address, context.setup()->value().settings.peer_timeout);
  const auto& all = ways.ways.all;
  auto port = context.port(all.empty() ? device : static_cast<int>(all.front().device));
  if (!port) {
    context.object_closed(false);
    return refuse(port.error());
  }
  const engine::Port lanes = port->for_connection();
  auto route = engine::choose_route(lanes, all.empty() ? peer.address : all.front().to);
  if (!route) {
    context.object_closed(true);
    return refuse(route.error());
  }
  core::Refusal why_not;
  if (auto alike = check_alike(context, peer, why_not); !alike) {
    // Without this message, NCCL on the peer would poll accept forever.
    lanes.over(*route->over)->engine->decline(context.id(), peer.listener, route->to, why_not);
    context.object_closed(true);
    return refuse(alike.error());
  }
  if (!route->fallback.empty()) context.registry().log_fallback(route->fallback);
  set_ticket(handle, context.keep_pending(engine::Opening(
                         lanes, context.id(), {peer.listener, peer.address}, route.value(),
                         carrier_patience(context), lanes_of_each(context), std::move(ways))));
  return ResultCode::kSuccess;
}

}  // namespace

ResultCode listen(void* opaque, int device, void* handle, void** listen_comm) noexcept {
  return guarded(
      "listen",
      [&] {
        *listen_comm = nullptr;
        Context& context = context_of(opaque);
        if (const ResultCode code = refuse_unusable_setup(context); code != ResultCode::kSuccess)
          return code;
        auto opened = open_listener(context, device,
                                    HandleBytes(static_cast<std::byte*>(handle), kHandleBytes),
                                    lanes_of_each(context), true);
        if (!opened) return refuse(opened.error());
        *listen_comm = std::move(opened).value().release();
        return ResultCode::kSuccess;
      });
}

ResultCode connect(void* opaque, int device, void* opaque_handle, void** send_comm,
                   int communicator_class) noexcept {
  return guarded(
      "connect",
      [&] {
        *send_comm = nullptr;
        Context& context = context_of(opaque);
        if (const ResultCode code = refuse_unusable_setup(context); code != ResultCode::kSuccess)
          return code;
        const HandleBytes handle(static_cast<std::byte*>(opaque_handle), kHandleBytes);
        auto peer = decode_handle(handle);
        if (!peer) return refuse(peer.error());
        auto opening = context.find_pending(ticket_of(handle), peer->listener);
        if (opening == nullptr) {
          if (const ResultCode code = start_connecting(context, device, peer.value(), handle);
              code != ResultCode::kSuccess)
            return code;
          opening = context.find_pending(ticket_of(handle), peer->listener);
        }
        const auto state = opening->poll();
        if (!opening->fallback().empty()) context.registry().log_fallback(opening->fallback());
        if (state == core::ConnectionState::kCalling || state == core::ConnectionState::kConnecting)
          return ResultCode::kSuccess;
        if (const engine::Way* way = opening->way();
            way != nullptr && state == core::ConnectionState::kOpen)
          context.registry().note_way(static_cast<std::size_t>(device), peer->address, *way);
        if (const auto failure = opening->failure()) {
          context.forget_pending(ticket_of(handle));
          set_ticket(handle, 0);
          context.fail(*failure);
          context.object_closed(true);
          return refuse(*failure);
        }
        engine::Connection* const connection = opening->connection();
        engine::Bundle bundle = opening->bundle();
        context.forget_pending(ticket_of(handle));
        set_ticket(handle, 0);
        if (state == core::ConnectionState::kClosed) {
          const ErrorCode code =
              connection->failed.load() ? connection->error.code : ErrorCode::kRemote;
          bundle.close();
          context.object_closed(true);
          return code_of(code);  // the engine has logged the reason
        }
        if (communicator_class == kUndefined) communicator_class = context.communicator_class();
        announce_terms(context, communicator_class);
        *send_comm = new Comm{&context, std::move(bundle), Licensing(context, communicator_class)};
        return ResultCode::kSuccess;
      });
}

ResultCode accept(void* listen_comm, void** recv_comm) noexcept {
  return guarded(
      "accept",
      [&] {
        *recv_comm = nullptr;
        auto& listening = *static_cast<ListenComm*>(listen_comm);
        const Duration patience = listening.context->setup()->value().settings.peer_timeout;
        auto accepted = listening.gathering.accept(listening.port, listening.own, listening.due(),
                                                   listening.context->id(), patience);
        if (!accepted)
          return listening.gathering.gave_up()
                     ? refuse(accepted.error())
                     : code_of(accepted.error().code);  // the engine has logged the reason
        if (accepted->empty()) return ResultCode::kSuccess;
        const auto& lanes = listening.port.lanes();
        const auto over =
            std::ranges::find(lanes, accepted->members().front().engine, &engine::Lane::engine)
                ->over;
        if (over != lanes[0].over)
          listening.context->registry().log_fallback(engine::fallback_words(
              *over, *lanes[0].over, "a peer connected this way; see its log for the reason"));
        listening.context->object_opened();
        *recv_comm =
            new Comm{listening.context, std::move(accepted).value(),
                     Licensing(*listening.context, listening.context->communicator_class())};
        return ResultCode::kSuccess;
      });
}

ResultCode close_comm(void* opaque) noexcept {
  return guarded(
      "close",
      [&] {
        const std::unique_ptr<Comm> comm(static_cast<Comm*>(opaque));
        if (comm != nullptr) {
          const bool aborted = comm->bundle.close();
          comm->context->object_closed(aborted);
        }
        return ResultCode::kSuccess;
      });
}

ResultCode close_listen(void* opaque) noexcept {
  return guarded(
      "closeListen",
      [&] {
        const std::unique_ptr<ListenComm> comm(static_cast<ListenComm*>(opaque));
        if (comm != nullptr) close_listener(*comm);
        return ResultCode::kSuccess;
      });
}

}  // namespace dlcp::nccl::net
