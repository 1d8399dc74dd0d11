// init, listen, connect and the closes of the collective plugin.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collective/exchange.h"
#include "engine/environment.h"
#include "engine/group_opening.h"
#include "nccl/collective_plan.h"
#include "nccl/collnet.h"
#include "nccl/direct_terms.h"
#include "nccl/group_comm.h"
#include "nccl/loss/licensing.h"
#include "nccl/profiler.h"
#include "nccl/rendezvous.h"

namespace dlcp::nccl::collnet {
namespace {

// Beyond it a rank's share of a call is too small for packets, and a ring serves better.
constexpr int kRanksMax = 256;
// What fits a packet under IPv6 at an MTU of 1500: blocks are whole packets there, and small enough
// to spread a short call over the ranks.
constexpr std::uint32_t kGranule = 1408;
constexpr std::uint32_t kBlockBytesMax = 46 * kGranule;  // 64 KiB: a few of them lie in a cache
constexpr timespec kPause{0, 20'000};

// What DLCP_PLAN names; empty where that is nothing.
Result<std::string> plan_text(const engine::Settings& settings) {
  if (settings.plan_file.empty()) return std::string();
  return engine::read_named("DLCP_PLAN", settings.plan_file, engine::read_text_file,
                            "write it with `dlcp synth -o FILE`, or unset the setting");
}

// Why this rank takes no part, as far as that hangs on nobody else; empty: it does.
std::string reluctance() {
  const auto setup = engine::Registry::of_process().setup();
  if (!setup->ok()) return setup->error().what;
  const engine::Settings& settings = setup->value().settings;
  if (settings.collnet == engine::CollnetChoice::kOff) return "DLCP_COLLNET=off";
  const auto text = plan_text(settings);
  if (!text) return text.error().what;
  const Status good = text.value().empty()
                          ? Status(Unit{})
                          : check_collective_plan(settings.plan_file, text.value());
  return good.ok() ? "" : good.error().what;
}

Result<std::unique_ptr<ListenComm>> try_to_listen(Context& context, int device,
                                                  HandleBytes handle) {
  if (const std::string why_not = reluctance(); !why_not.empty())
    return Error{ErrorCode::kInvalidUsage, why_not, ""};
  return open_listener(context, device, handle);
}

Error of_rank(std::size_t rank, const Error& error) {
  return {error.code, fmt::format("rank {} of the group: {}", rank, error.what), error.hint};
}

// All ranks are handed the same handles, so all find the same faults in them.
Result<std::vector<Handle>> read_handles(void* handles[], std::size_t ranks) {
  std::vector<Handle> read;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    auto handle = decode_handle(std::span<const std::byte, kHandleBytes>(
        static_cast<const std::byte*>(handles[rank]), kHandleBytes));
    if (!handle) return of_rank(rank, handle.error());
    read.push_back(std::move(handle).value());
  }
  return read;
}

Status check_all_alike(const std::vector<Handle>& handles) {
  for (std::size_t rank = 1; rank < handles.size(); ++rank) {
    if (auto alike = check_terms(handles[0].terms, handles[rank].terms); !alike)
      return of_rank(rank, alike.error());
    if (auto alike = check_secret(handles[0].secret_fingerprint, handles[rank].secret_fingerprint);
        !alike)
      return of_rank(rank, alike.error());
  }
  return Unit{};
}

struct OpenedGroup {
  engine::GroupLinks links;
  std::uint32_t slowest_mbps = 0;
};

// Nothing without DLCP_PLAN.
Result<std::optional<CollectivePlan>> plan_for(const engine::Settings& settings, int ranks,
                                               int rank) {
  const auto text = plan_text(settings);
  if (!text) return text.error();
  if (text.value().empty()) return std::optional<CollectivePlan>();
  auto plan = collective_plan(settings.plan_file, text.value(), ranks, rank);
  if (!plan) return plan.error();
  return std::optional(std::move(plan).value());
}

engine::Group::MakeAlgorithm algorithm_of(const engine::GroupWord& us,
                                          const std::optional<CollectivePlan>& plan) {
  return [&us, &plan](std::span<std::byte> staging) -> std::unique_ptr<collective::AllReduce> {
    if (plan) return std::make_unique<collective::PlannedExchange>(us.ranks, plan->sizes, staging);
    return std::make_unique<collective::Exchange>(
        collective::Terms{us.ranks, us.rank, us.granule, us.block_bytes_max, us.loss_ppm, us.fill},
        staging);
  };
}

// `why_not`: what this rank has found wrong by itself, and tells the others.
Result<OpenedGroup> open_group(const CollectiveListenComm& comm, const std::vector<Handle>& handles,
                               const engine::GroupWord& us, const Error* why_not) {
  auto port = comm.context->port(comm.device);
  if (!port) return port.error();
  const auto setup = engine::Registry::of_process().setup();
  engine::GroupOpening::Plan plan;
  plan.context = comm.context->id();
  plan.us = us;
  for (const Handle& handle : handles)
    plan.peers.push_back({handle.listener, handle.address});
  plan.listeners = comm.listening->listeners;
  plan.carrier_patience = carrier_patience(*comm.context);
  plan.timeout = setup->value().settings.collnet_timeout;
  engine::GroupOpening opening(port.value(), comm.listening->port, std::move(plan));
  if (why_not != nullptr) opening.fail(*why_not);
  for (;;) {
    switch (opening.poll()) {
      case engine::GroupOpening::State::kReady:
        return OpenedGroup{opening.take(), opening.slowest_mbps()};
      case engine::GroupOpening::State::kFailed:
        return opening.error();
      case engine::GroupOpening::State::kPending:
        nanosleep(&kPause, nullptr);
    }
  }
}

// For `dlcp stats`.
void describe(const GroupComm& comm, const engine::GroupWord& us) {
  comm.context->describe_rank(static_cast<int>(us.rank), static_cast<int>(us.ranks));
  const char* const exact = us.loss_ppm == 0
                                ? "nobody asked for loss (DLCP_LOSS_BUDGET, trafficClass)"
                                : "plans lose nothing";
  comm.context->describe(us.loss_ppm, comm.loss_ppm > 0 ? "" : exact);
  comm.context->describe_all_reduce(us.plan == 0 ? "direct exchange" : "by DLCP_PLAN",
                                    comm.group->blocks());
}

Result<std::unique_ptr<GroupComm>> set_up(void* handles[], int ranks, int rank,
                                          const CollectiveListenComm& comm) {
  if (ranks < 2 || ranks > kRanksMax || rank < 0 || rank >= ranks) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("rank {} of {} ranks: direct exchange is for 2 to {}", rank, ranks, kRanksMax),
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
  us.block_bytes_max = kBlockBytesMax;
  const auto setup = engine::Registry::of_process().setup();
  auto properties = net::properties(comm.device);
  us.speed_mbps = static_cast<std::uint32_t>(properties ? properties->speed_mbps : 0);
  const auto plan = plan_for(setup->value().settings, ranks, rank);
  us.plan = plan.ok() && plan.value() ? plan.value()->hash : 0;
  us.loss_ppm = budget_of(us.group, setup->value().settings.loss_budget_ppm);
  us.fill = setup->value().settings.loss_fill;
  us.always = us.plan != 0 || setup->value().settings.collnet == engine::CollnetChoice::kOn;
  auto opened = open_group(comm, read.value(), us, plan.ok() ? nullptr : &plan.error());
  if (!opened) return opened.error();
  DirectGroups::of_process().add(us.group, {us.ranks, opened->slowest_mbps, us.always});
  profiler::activate(profiler::Reason::kDirect);
  if (us.plan != 0) {
    say({engine::LogLevel::kInfo,
         fmt::format("all-reduces of {} ranks go by plan {:016x}, '{}'", us.ranks, us.plan,
                     setup->value().settings.plan_file)});
  }
  auto made = std::make_unique<GroupComm>();
  made->context = comm.context;
  made->group =
      std::make_unique<engine::Group>(std::move(opened->links), algorithm_of(us, plan.value()),
                                      setup->value().settings.collnet_memory);
  made->loss_ppm = us.plan == 0 ? us.loss_ppm : 0;
  describe(*made, us);
  return made;
}

void close(std::unique_ptr<CollectiveListenComm> comm) {
  if (comm != nullptr && comm->listening != nullptr) nccl::close_listener(*comm->listening);
}

void prepare(DebugLogger logger) {
  arm_fork_guard();
  set_logger(logger);
  auto& registry = engine::Registry::of_process();
  registry.set_log(say);
  if (registry.setup() == nullptr)  // the net plugin, which NCCL always begins with, has read them
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
        *context = new Context(engine::Registry::of_process(), comm_id, kUndefined, true);
        return ResultCode::kSuccess;
      });
}

ResultCode finalize_communicator(void* context) noexcept {
  return guarded(
      "collnet finalize",
      [&] {
        auto* owned = static_cast<Context*>(context);
        if (owned != nullptr && owned->finish()) delete owned;
        return ResultCode::kSuccess;
      });
}

ResultCode listen(void* context, int device, void* handle, void** listen_comm) noexcept {
  return guarded(
      "collnet listen",
      [&] {
        *listen_comm = nullptr;
        const HandleBytes bytes(static_cast<std::byte*>(handle), kHandleBytes);
        auto made = std::make_unique<CollectiveListenComm>();
        made->context = &context_of(context);
        made->device = device;
        auto listening = try_to_listen(*made->context, device, bytes);
        if (listening) {
          made->listening = std::move(listening).value();
        } else {
          refuse(listening.error());  // the handle has room for the beginning of it alone
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
        auto& comm = *static_cast<CollectiveListenComm*>(listen_comm);
        auto made = set_up(handles, ranks, rank, comm);
        if (!made) {
          Error error = made.error();
          comm.context->describe_all_reduce("rings and trees: " + error.what, nullptr);
          error.what = "all-reduces go without direct exchange: " + error.what;
          close(std::unique_ptr<CollectiveListenComm>(&comm));
          return refuse(error);
        }
        comm.context->object_opened();
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
          const bool aborted = comm->group->close();
          say({engine::LogLevel::kInfo,
               fmt::format("direct exchange: {} calls of {} bytes, of which {} were data",
                           comm->calls, comm->bytes, comm->data)});
          comm->group.reset();  // it holds on to engines
          comm->context->object_closed(aborted);
        }
        return ResultCode::kSuccess;
      });
}

ResultCode close_listen(void* listen_comm) noexcept {
  return guarded(
      "closeListen",
      [&] {
        close(
            std::unique_ptr<CollectiveListenComm>(static_cast<CollectiveListenComm*>(listen_comm)));
        return ResultCode::kSuccess;
      });
}

}  // namespace dlcp::nccl::collnet
