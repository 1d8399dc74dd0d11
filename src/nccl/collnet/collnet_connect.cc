// init, listen, connect and the close calls of the collective plugin.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "collective/exchange/exchange.h"
#include "collective/exchange/watched.h"
#include "engine/group/group_opening.h"
#include "nccl/collnet/collnet.h"
#include "nccl/collnet/direct_terms.h"
#include "nccl/collnet/group_comm.h"
#include "nccl/collnet/setup/group_handles.h"
#include "nccl/collnet/setup/hub_group.h"
#include "nccl/collnet/setup/rails.h"
#include "nccl/loss/licensing.h"
#include "nccl/net/rendezvous.h"
#include "nccl/plan/plan_setting.h"
#include "nccl/profiler/profiler.h"

namespace dlcp::nccl::collnet {
namespace {

// With more ranks, each rank's share of a call is too small for packets, and a ring is faster.
constexpr int kRanksMax = 256;
// The payload of a packet over IPv6 at an MTU of 1500: blocks consist of whole packets, and are
// small enough to distribute a short call over the ranks.
constexpr std::uint32_t kGranule = 1408;
// The amount that a receiver with sufficient memory accepts from one connection at once
// (Config::eager_bytes).
constexpr std::uint32_t kBlockBytesMax = 42 * kGranule;
constexpr timespec kPause{0, 20'000};

// Why this rank does not take part, as far as it can decide alone; empty if it does.
std::string reluctance(const Result<engine::Setup>& setup) {
  if (!setup) return setup.error().what;
  const engine::Settings& settings = setup.value().settings;
  if (settings.collnet == engine::CollnetChoice::kOff) return "DLCP_COLLNET=off";
  if (const auto hubs = hub_places(settings); !hubs) return hubs.error().what;
  const Status good = check_plan_setting(settings);
  return good.ok() ? "" : good.error().what;
}

Result<std::unique_ptr<ListenComm>> try_to_listen(Context& context, int device,
                                                  HandleBytes handle) {
  const auto setup = context.setup();
  if (const std::string why_not = reluctance(*setup); !why_not.empty())
    return Error{ErrorCode::kInvalidUsage, why_not, ""};
  auto listening = open_listener(context, device, handle, engine::Opening::Over::kOneLane, true);
  if (listening && !setup->value().settings.collnet_switch.empty()) {
    auto written = decode_handle(handle);
    written->terms.by_switch = true;
    encode_handle(written.value(), handle);
  }
  return listening;
}

struct OpenedGroup {
  engine::GroupLinks links;
  engine::HubLeases leases;
  std::uint32_t mbps = 0;  // of the slowest rank
  std::uint32_t rails = 1;
};

engine::Group::MakeAlgorithm exact_algorithm_of(const engine::GroupWord& us,
                                                const std::optional<CollectivePlan>& plan) {
  return [&us, &plan](std::span<std::byte> staging) -> std::unique_ptr<collective::AllReduce> {
    if (plan) return std::make_unique<collective::PlannedExchange>(us.ranks, plan->sizes, staging);
    return std::make_unique<collective::Exchange>(
        collective::Terms{us.ranks, us.rank, us.granule, us.block_bytes_max, us.loss_ppm, us.fill,
                          us.hubs},
        staging);
  };
}

engine::Group::MakeAlgorithm algorithm_of(const engine::GroupWord& us,
                                          const std::optional<CollectivePlan>& plan,
                                          bool by_switch) {
  auto exact = exact_algorithm_of(us, plan);
  if (!by_switch) return exact;
  return [&us, exact](std::span<std::byte> staging) {
    return std::make_unique<collective::Watched>(us.ranks, us.rank, staging, exact);
  };
}

// `why_not`: the error that this rank has found and reports to the others.
Result<OpenedGroup> open_group(const CollectiveListenComm& comm, const std::vector<Handle>& handles,
                               const engine::GroupWord& us, const Rails& rails,
                               Result<engine::VisitedHubs> hubs, const Error* why_not) {
  auto port = comm.context->port(comm.device);
  if (!port) return port.error();
  engine::GroupOpening::Plan plan;
  plan.context = comm.context->id();
  plan.us = us;
  for (const Handle& handle : handles)
    plan.peers.push_back({handle.listener, handle.address});
  if (hubs) plan.peers.insert(plan.peers.end(), hubs->peers.begin(), hubs->peers.end());
  plan.peers.resize(us.members());
  plan.listeners = comm.listening->listeners;
  plan.rails = rails.rails();
  plan.carrier_patience = carrier_patience(*comm.context);
  plan.timeout = comm.context->setup()->value().settings.collnet_timeout;
  plan.ways_to = [&comm, until = plan.timeout](const wire::EndpointAddress& peer) {
    return ways_to(*comm.context, comm.device, peer, until);
  };
  engine::GroupOpening opening(port.value(), comm.listening->port, std::move(plan));
  if (why_not != nullptr || !hubs) opening.fail(why_not != nullptr ? *why_not : hubs.error());
  for (;;) {
    switch (opening.poll()) {
      case engine::GroupOpening::State::kReady:
        return OpenedGroup{opening.take(), std::move(hubs->leases), opening.slowest_mbps(),
                           opening.rails()};
      case engine::GroupOpening::State::kFailed:
        if (hubs) hubs->leases.leave();
        return opening.error();
      case engine::GroupOpening::State::kPending:
        nanosleep(&kPause, nullptr);
    }
  }
}

Result<engine::Group::Staging> allocate_staging(std::size_t bytes, bool at_hubs) {
  try {
    return engine::Group::Staging(bytes, at_hubs);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kSystem,
                 fmt::format("it cannot allocate DLCP_COLLNET_MEMORY={} bytes", bytes),
                 "lower the setting on all ranks, or raise the limit on memory (ulimit -v)"};
  }
}

// Fails on all ranks or on none, and then releases everything.
Result<std::unique_ptr<SwitchGroup>> switch_for(engine::Group& group, const engine::GroupWord& us,
                                                const engine::Settings& settings) {
  constexpr Duration kSetUpMax = 5s;  // for a switch to answer ranks that all send now
  SwitchGroup::Terms terms;
  terms.communicator = us.group;
  terms.ranks = us.ranks;
  terms.rank = us.rank;
  terms.times = {settings.collnet_timeout, std::min(settings.collnet_timeout, kSetUpMax),
                 settings.peer_timeout};
  auto opened = SwitchGroup::open(group, settings.collnet_switch, terms);
  if (opened) {
    say({engine::LogLevel::kInfo,
         fmt::format("float32 sums of {} ranks use the switch {}, with rounding; other sums are "
                     "exact",
                     us.ranks, opened.value()->switch_name())});
  }
  return opened;
}

// The description for `dlcp stats`.
void describe(const GroupComm& comm, const engine::GroupWord& us, std::uint32_t rails) {
  comm.context->describe_rank(static_cast<int>(us.rank), static_cast<int>(us.ranks));
  const char* const exact =
      us.loss_ppm == 0 ? "loss is not allowed (DLCP_LOSS_BUDGET, trafficClass)" : "plans are exact";
  comm.context->describe(us.loss_ppm, comm.loss_ppm > 0 ? "" : exact);
  const std::string hubs = comm.context->setup()->value().settings.collnet_hubs;
  const std::string direct =
      rails == 1 ? "direct exchange" : fmt::format("direct exchange over {} devices", rails);
  const std::string others = us.plan != 0   ? "follows DLCP_PLAN"
                             : us.hubs != 0 ? "hubs " + hubs
                                            : direct;
  comm.context->describe_all_reduce(comm.by_switch == nullptr
                                        ? others
                                        : fmt::format("switch {} for float32 sums, else {}",
                                                      comm.by_switch->switch_name(), others),
                                    comm.group->blocks());
}

Result<std::unique_ptr<GroupComm>> set_up(void* handles[], int ranks, int rank,
                                          const CollectiveListenComm& comm) {
  if (ranks < 2 || ranks > kRanksMax || rank < 0 || rank >= ranks) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("rank {} of {} ranks: direct exchange needs 2 to {} ranks", rank,
                             ranks, kRanksMax),
                 ""};
  }
  const auto read = read_handles(handles, static_cast<std::size_t>(ranks));
  if (!read) return read.error();
  if (const auto alike = check_all_alike(read.value()); !alike) return alike.error();
  engine::GroupWord us;
  us.rank = static_cast<std::uint32_t>(rank);
  us.ranks = static_cast<std::uint32_t>(ranks);
  us.group = comm.context->comm_id();
  us.granule = kGranule;
  const auto setup = comm.context->setup();
  const engine::Settings& settings = setup->value().settings;
  auto properties = net::properties(comm.device);
  us.speed_mbps = static_cast<std::uint32_t>(properties ? properties->speed_mbps : 0);
  const auto plan = plan_for(settings, ranks, rank);
  us.plan = plan.ok() && plan.value() ? plan.value()->hash : 0;
  us.loss_ppm = budget_of(us.group, settings.loss_budget_ppm);
  us.fill = settings.loss_fill;
  const auto hubs = hub_places(settings).value();
  us.hubs = static_cast<std::uint16_t>(hubs.size());
  us.block_bytes_max = kBlockBytesMax;
  us.hub_list = hash_of(hubs);
  const Rails rails(*comm.context, comm.device, hubs.empty() ? settings.collnet_rails : 1);
  rails.tell(us);
  us.always = us.plan != 0 || settings.collnet == engine::CollnetChoice::kOn;
  us.staging = settings.collnet_memory;
  auto staging = allocate_staging(settings.collnet_memory, us.hubs > 0);
  const Error* const memory_why = staging.ok() ? nullptr : &staging.error();
  auto opened =
      open_group(comm, read.value(), us, rails, come_to_hubs(hubs, settings, us, read.value()),
                 plan.ok() ? memory_why : &plan.error());
  if (!opened) return opened.error();
  const bool by_switch = !settings.collnet_switch.empty();
  auto made = std::make_unique<GroupComm>();
  made->context = comm.context;
  made->group = std::make_unique<engine::Group>(std::move(opened->links),
                                                algorithm_of(us, plan.value(), by_switch),
                                                std::move(staging).value());
  made->leases = std::move(opened->leases);
  if (by_switch) {
    auto switched = switch_for(*made->group, us, settings);
    if (!switched) return switched.error();
    made->by_switch = std::move(switched).value();
  }
  DirectGroups::of_process().add(us.group, {us.ranks, opened->mbps, us.always || by_switch, us.hubs,
                                            us.plan == 0 ? us.loss_ppm : 0});
  profiler::activate(profiler::Reason::kDirect);
  if (us.plan != 0) {
    say({engine::LogLevel::kInfo, fmt::format("all-reduces of {} ranks follow plan {:016x}, "
                                              "'{}'",
                                              us.ranks, us.plan, settings.plan_file)});
  }
  made->loss_ppm = us.plan == 0 ? us.loss_ppm : 0;
  describe(*made, us, opened->rails);
  return made;
}

// An exception after the ranks have agreed: the others must not wait for this one.
Result<std::unique_ptr<GroupComm>> set_up_or_reset(void* handles[], int ranks, int rank,
                                                   const CollectiveListenComm& comm) {
  try {
    return set_up(handles, ranks, rank, comm);
  } catch (...) {
    comm.context->fail({ErrorCode::kInternal, "the set-up of direct exchange has failed", ""});
    throw;
  }
}

// Without contexts, each group has its own: a set-up that fails must not end other connections.
Context& context_for_group(void* context) {
  if (context != nullptr) return *static_cast<Context*>(context);
  return *new Context(engine::Registry::of_process(), 0, kUndefined,
                      Context::Lifetime::kUntilClosed);
}

void prepare(DebugLogger logger) {
  arm_fork_guard();
  set_logger(logger);
  auto& registry = engine::Registry::of_process();
  registry.set_log(say);
  if (registry.setup() == nullptr)  // the net plugin, opened first, usually reads them
    registry.refresh();
}

}  // namespace

ResultCode init_process(DebugLogger logger) noexcept {
  return guarded(
      "collnet init",
      [&] {
        prepare(logger);
        return ResultCode::kSuccess;
      });
}

ResultCode init_communicator(void** context, std::uint64_t comm_id, DebugLogger logger) noexcept {
  return guarded(
      "collnet init",
      [&] {
        *context = nullptr;
        prepare(logger);
        *context = new Context(engine::Registry::of_process(), comm_id, kUndefined,
                               Context::Lifetime::kUntilFinalize);
        return ResultCode::kSuccess;
      });
}

ResultCode finalize_communicator(void* context) noexcept {
  return guarded(
      "collnet finalize",
      [&] {
        if (context != nullptr) static_cast<Context*>(context)->finish();
        return ResultCode::kSuccess;
      });
}

ResultCode listen(void* context, int device, void* handle, void** listen_comm) noexcept {
  return guarded(
      "collnet listen",
      [&] {
        *listen_comm = nullptr;
        const HandleBytes bytes(static_cast<std::byte*>(handle), kHandleBytes);
        auto made = std::make_unique<CollectiveListenComm>(context_for_group(context), device);
        auto listening = try_to_listen(*made->context, device, bytes);
        if (listening) {
          made->listening = std::move(listening).value();
        } else {
          refuse(listening.error());  // the handle may not have room for the whole message
          encode_refusal(listening.error().what, bytes);
        }
        *listen_comm = made.release();
        return ResultCode::kSuccess;
      });
}

ResultCode connect(void* handles[], int ranks, int rank, void* listen_comm, void** group) noexcept {
  return guarded(
      "collnet connect",
      [&] {
        *group = nullptr;
        std::unique_ptr<CollectiveListenComm> comm(static_cast<CollectiveListenComm*>(listen_comm));
        auto made = set_up_or_reset(handles, ranks, rank, *comm);
        if (!made) {
          Error error = made.error();
          comm->context->describe_all_reduce("rings and trees: " + error.what, nullptr);
          error.what = "all-reduces do not use direct exchange: " + error.what;
          return refuse(error);
        }
        comm.release()->context->object_opened();  // NCCL closes the listener
        *group = std::move(made).value().release();
        return ResultCode::kSuccess;
      });
}

ResultCode close_group(void* opaque) noexcept {
  return guarded(
      "closeColl",
      [&] {
        const std::unique_ptr<GroupComm> comm(static_cast<GroupComm*>(opaque));
        if (comm != nullptr) {
          profiler::deactivate(profiler::Reason::kDirect);
          DirectGroups::of_process().remove(comm->context->comm_id());
          bool aborted = comm->by_switch != nullptr && comm->by_switch->close();
          aborted = comm->group->close() || aborted;
          if (const auto why = comm->group->take_unlogged_failure())
            say({engine::LogLevel::kWarn, why->message()});
          comm->leases.leave();
          if (comm->by_switch != nullptr) {
            const auto counts = comm->by_switch->counts();
            const auto& packets = comm->by_switch->packets();
            say({engine::LogLevel::kInfo,
                 fmt::format("switch {}: {} calls, {} more rejected because of their values, {} of "
                             "other kinds; {} packets, {} of them repeated; {} answers late or of "
                             "another job, {} with wrong exponents",
                             comm->by_switch->switch_name(), counts.by_switch, counts.refused,
                             counts.otherwise - counts.refused, packets.sent, packets.repeated,
                             packets.dropped, packets.unsound)});
          }
          say({engine::LogLevel::kInfo,
               fmt::format("direct exchange: {} calls with {} bytes, {} of them data", comm->calls,
                           comm->bytes, comm->data)});
          comm->by_switch.reset();
          comm->group.reset();  // it keeps engines alive
          comm->context->object_closed(aborted);
        }
        return ResultCode::kSuccess;
      });
}

ResultCode close_listen(void* listen_comm) noexcept {
  return guarded(
      "closeListen",
      [&] {
        const std::unique_ptr<CollectiveListenComm> comm(
            static_cast<CollectiveListenComm*>(listen_comm));
        return ResultCode::kSuccess;
      });
}

}  // namespace dlcp::nccl::collnet
