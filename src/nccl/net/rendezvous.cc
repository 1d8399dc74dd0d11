#include "nccl/net/rendezvous.h"

#include <algorithm>
#include <vector>

#include "datapath/address/address_alternatives.h"
#include "datapath/address/device_address.h"
#include "nccl/context/guard.h"

namespace dlcp::nccl {
namespace {

// A live peer usually answers within a round trip; its process may be busy starting.
constexpr Duration kCarrierPatience = 3s;
// Spare devices of a listener: enough for several failed rails. Each one is opened for this
// purpose.
constexpr std::size_t kSparesMax = 3;

// Ends with its thread, or with the last object that is still open then.
struct ThreadContext {
  ThreadContext() = default;
  ~ThreadContext() {
    guarded(
        "end of a thread",
        [&] {
          forget_terms(context);
          context.finish();
          return ResultCode::kSuccess;
        });
  }
  ThreadContext(const ThreadContext&) = delete;
  ThreadContext& operator=(const ThreadContext&) = delete;

  Context& context =
      *new Context(engine::Registry::of_process(), 0, kUndefined, Context::Lifetime::kThread);
};

wire::Key site_secret(const Context& context) {
  const auto setup = context.setup();
  return setup->ok() ? setup->value().settings.site_secret : wire::Key{};
}

// The first lane of each of the devices after this one, wrapping around. Their other lanes, with
// sockets and a thread each, are opened when NCCL uses them. If a device cannot be opened,
// the error is reported when NCCL asks for that device.
std::vector<engine::Lane> spare_lanes(Context& context, int device) {
  const auto setup = context.setup();
  const auto& devices = setup->value().devices;
  std::vector<engine::Lane> lanes;
  if (!devices[static_cast<std::size_t>(device)].is_udp_alone()) return lanes;
  for (std::size_t turn = 1; turn < devices.size() && lanes.size() < kSparesMax; ++turn) {
    const std::size_t other = (static_cast<std::size_t>(device) + turn) % devices.size();
    if (!devices[other].is_udp_alone()) continue;
    if (auto port = context.port(static_cast<int>(other), engine::Registry::Extent::kFirstLanes))
      lanes.push_back(*port->over(engine::kUdp));
  }
  return lanes;
}

wire::EndpointAddress with_spares_in(const wire::EndpointAddress& own,
                                     const std::vector<engine::Lane>& spares) {
  const auto first = datapath::decode_device_address(own);
  std::vector<datapath::DeviceAddress> others;
  for (const engine::Lane& lane : spares)
    if (const auto address = datapath::decode_device_address(lane.engine->address()))
      others.push_back(*address);
  return first && !others.empty() ? datapath::with_alternatives(*first, others) : own;
}

}  // namespace

Context& context_of(void* context) {
  if (context != nullptr) return *static_cast<Context*>(context);
  thread_local const ThreadContext own;
  own.context.take_setup();
  return own.context;
}

Status check_setup(const Context& context) {
  const auto setup = context.setup();
  return setup->ok() ? Status(Unit{}) : Status(setup->error());
}

Result<std::unique_ptr<ListenComm>> open_listener(Context& context, int device, HandleBytes bytes,
                                                  engine::Opening::Over lanes, bool with_spares) {
  context.object_opened();  // first, so that a close on another thread does not release the engines
  auto port = context.port(device);
  if (!port) {
    context.object_closed(false);
    return port.error();
  }
  auto comm = std::make_unique<ListenComm>();
  comm->context = &context;
  comm->own = port->for_listener();
  if (lanes == engine::Opening::Over::kOneLane) comm->own = comm->own.first_of_each();
  const engine::Port& own = comm->own;
  comm->port = own;
  std::vector<engine::Lane> spares;
  if (with_spares) {
    spares = spare_lanes(context, device);
    std::vector<engine::Lane> all = own.lanes();
    all.insert(all.end(), spares.begin(), spares.end());
    comm->port = engine::Port(std::move(all));
  }
  Handle handle{{},
                with_spares_in(own.address(), spares),
                wire::fingerprint(site_secret(context)),
                DLCP_VERSION,
                agreed_terms(context)};
  // One invitation is valid on all lanes: it depends on the number and on a secret of the process.
  const std::uint32_t number = context.registry().new_listener();
  for (const engine::Lane& lane : comm->port.lanes()) {
    const bool is_spare = comm->listeners.size() >= own.lanes().size();
    const auto listening =
        lane.engine->listen(context.id(), number, own.addresses_beside(lane), is_spare);
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

engine::OpeningWays ways_to(Context& context, int device, const wire::EndpointAddress& peer,
                            Duration until) {
  engine::OpeningWays to;
  to.ways = context.registry().ways().ways(context.setup()->value().devices,
                                           static_cast<std::size_t>(device), peer);
  to.port_of = [&context](std::size_t number) { return context.port(static_cast<int>(number)); };
  to.until = until;
  return to;
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
