#include "nccl/rendezvous.h"

#include <algorithm>

namespace dlcp::nccl {
namespace {

// A peer that lives answers in less than a round trip; its process may be busy starting.
constexpr Duration kCarrierPatience = 3s;

wire::Key site_secret(const Context& context) {
  const auto setup = context.setup();
  return setup->ok() ? setup->value().settings.site_secret : wire::Key{};
}

}  // namespace

Context& context_of(void* context) {
  return context != nullptr ? *static_cast<Context*>(context) : Context::of_process();
}

Status check_setup(const Context& context) {
  const auto setup = context.setup();
  return setup->ok() ? Status(Unit{}) : Status(setup->error());
}

Result<std::unique_ptr<ListenComm>> open_listener(Context& context, int device, HandleBytes bytes,
                                                  engine::Opening::Over lanes) {
  context.object_opened();  // first, so that a close elsewhere does not take the engines away
  auto port = context.port(device);
  if (!port) {
    context.object_closed(false);
    return port.error();
  }
  auto comm = std::make_unique<ListenComm>();
  comm->context = &context;
  comm->port = port->for_listener();
  if (lanes == engine::Opening::Over::kOneLane) comm->port = comm->port.first_of_each();
  Handle handle{{},
                comm->port.address(),
                wire::fingerprint(site_secret(context)),
                DLCP_VERSION,
                agreed_terms(context)};
  // One invitation for all lanes: it hangs on the number, and on what the process keeps to itself.
  const std::uint32_t number = context.registry().new_listener();
  for (const engine::Lane& lane : comm->port.lanes()) {
    const auto listening =
        lane.engine->listen(context.id(), number, comm->port.addresses_beside(lane));
    comm->listeners.push_back(listening.id);
    handle.listener = listening.invitation;
  }
  encode_handle(handle, bytes);
  return comm;
}

void close_listener(const ListenComm& comm) {
  for (std::size_t i = 0; i < comm.listeners.size(); ++i)
    comm.port.lanes()[i].engine->close_listener(comm.listeners[i]);
  comm.context->object_closed(false);
}

Status check_alike(const Context& context, const Handle& peer, core::Refusal& why_not) {
  const AgreedTerms ours = agreed_terms(context);
  const wire::Key secret = site_secret(context);
  if (auto alike = check_secret(wire::fingerprint(secret), peer.secret_fingerprint); !alike) {
    const auto seen_there = check_secret(peer.secret_fingerprint, wire::fingerprint(secret));
    why_not = {seen_there.error().what, true};
    return alike;
  }
  auto alike = check_terms(ours, peer.terms);
  if (!alike) why_not = {check_terms(peer.terms, ours).error().what, false};
  return alike;
}

Duration carrier_patience(const Context& context) {
  return std::min(kCarrierPatience, context.setup()->value().settings.peer_timeout / 4);
}

}  // namespace dlcp::nccl
