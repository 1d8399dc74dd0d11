#include "cli/hub/jobs/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "engine/host/clock.h"

namespace dlcp::cli {
namespace {

using collective::Transfer;
using engine::steady_now;

constexpr Duration kCarrierPatience = 3s;
constexpr Duration kSaysWhyWithin = 2s;

bool counts_for_rate(const Transfer& transfer) {
  return !transfer.sends && transfer.lane == Transfer::Lane::kContributions;
}

}  // namespace

HubJob::HubJob(engine::Registry& registry, const engine::Port& port, std::uint32_t speed_mbps,
               const engine::HubJoin& first, Tenant& tenant, Say say)
    : registry_(registry),
      port_(port),
      listening_(port.for_listener().first_of_each()),
      speed_mbps_(speed_mbps),
      first_(first),
      tenant_(tenant),
      say_(std::move(say)),
      context_(registry.new_context()),
      began_(steady_now()),
      peers_(first.us.members()),
      seated_(first.us.ranks) {
  // One invitation for all lanes, as for the plugin's listeners.
  const std::uint32_t number = registry_.new_listener();
  for (const engine::Lane& lane : listening_.lanes()) {
    const auto listening = lane.engine->listen(context_, number);
    listeners_.push_back(listening.id);
    invitation_ = listening.invitation;
  }
}

HubJob::~HubJob() {
  opening_.reset();
  group_.reset();
  for (std::size_t i = 0; i < listeners_.size(); ++i)
    listening_.lanes()[i].engine->close_listener(listeners_[i]);
}

std::string HubJob::seat(const engine::HubJoin& join) {
  const std::lock_guard lock(mutex_);
  if (auto same = check_same_group(first_.us, join.us); !same) return same.error().what;
  if (join.hub != first_.hub) {
    return fmt::format(
        "this is hub {} for rank {}, but hub {} for rank {}; set DLCP_COLLNET_HUBS to the same "
        "value on all ranks",
        join.hub, join.us.rank, first_.hub, first_.us.rank);
  }
  if (over_ || !wrong_.empty() || left_at_) return "the group has already failed";
  if (seated_[join.us.rank])
    return fmt::format("rank {} of the group is already connected", join.us.rank);
  seated_[join.us.rank] = true;
  peers_[join.us.rank] = join.peer;
  ++seats_taken_;
  return "";
}

void HubJob::leave(std::uint32_t rank, bool in_order) {
  const std::lock_guard lock(mutex_);
  if (in_order && !left_at_) left_at_ = steady_now();
  if (!in_order && wrong_.empty() && !left_at_)
    wrong_ = fmt::format("rank {} has closed its connection unexpectedly", rank);
}

void HubJob::end(const std::string& why) {
  const std::lock_guard lock(mutex_);
  wrong_ = why;
}

HubJob::Step HubJob::step() {
  const std::lock_guard lock(mutex_);
  if (over_) return Step::kOver;
  try {
    return advance();
  } catch (const std::exception& error) {
    return finish(fmt::format("an internal error of the hub: {}", error.what()));
  }
}

HubJob::Step HubJob::advance() {
  if (!wrong_.empty()) return finish(wrong_);
  if (group_ != nullptr) return serve();
  // A rank that gives up reports the reason to the other ranks and, once the opening has begun, to
  // the hub. That reason is more precise, so wait for it.
  if (left_at_ && (opening_ == nullptr || steady_now() - *left_at_ > kSaysWhyWithin))
    return finish("a rank left before the group was set up");
  if (opening_ != nullptr) return open();
  if (seats_taken_ == first_.us.ranks) {
    begin_opening();
    return Step::kMoved;
  }
  const auto missing = std::ranges::find(seated_, false) - seated_.begin();
  if (steady_now() - began_ >= std::chrono::seconds(first_.timeout_s))
    return finish(fmt::format("rank {} has not connected within {} s", missing, first_.timeout_s));
  return Step::kRests;
}

void HubJob::begin_opening() {
  engine::GroupOpening::Plan plan;
  plan.context = context_;
  plan.us = first_.us;
  plan.us.rank = first_.us.ranks + first_.hub;
  plan.us.speed_mbps = speed_mbps_;
  plan.peers = peers_;
  plan.listeners = listeners_;
  plan.carrier_patience = kCarrierPatience;
  plan.timeout = std::chrono::seconds(first_.timeout_s);
  opening_ = std::make_unique<engine::GroupOpening>(port_, listening_, std::move(plan));
  try {
    staging_ = std::make_unique<engine::Group::Staging>(first_.us.staging);
  } catch (const std::bad_alloc&) {
    opening_->fail({ErrorCode::kSystem,
                    fmt::format("it cannot allocate {} bytes for the group", first_.us.staging),
                    ""});
  }
}

HubJob::Step HubJob::open() {
  switch (opening_->poll()) {
    case engine::GroupOpening::State::kPending:
      return Step::kRests;
    case engine::GroupOpening::State::kFailed:
      return finish(opening_->error().what);
    case engine::GroupOpening::State::kReady:
      begin_group();
  }
  return Step::kMoved;
}

void HubJob::begin_group() {
  collective::Terms terms;
  terms.ranks = first_.us.ranks;
  terms.hubs = first_.us.hubs;
  terms.rank = terms.ranks + first_.hub;
  terms.granule = first_.us.granule;
  terms.block_bytes_max = first_.us.block_bytes_max;
  terms.loss_ppm = first_.us.loss_ppm;
  terms.fill = first_.us.fill;
  const auto make = [&](std::span<std::byte> staging) {
    auto made = std::make_unique<collective::HubExchange>(terms, staging);
    exchange_ = made.get();
    return std::unique_ptr<collective::AllReduce>(std::move(made));
  };
  group_ = std::make_unique<engine::Group>(opening_->take(), make, std::move(*staging_));
  opening_.reset();
  say_(fmt::format("group {:016x} of {}: {} ranks, hub {} of {}", first_.us.group, tenant_.name,
                   first_.us.ranks, first_.hub, first_.us.hubs));
}

HubJob::Step HubJob::serve() {
  // Credits enforce a tenant's rate: peers send only what receives were posted for.
  const auto served = group_->serve({.admits =
                                         [this](const Transfer& transfer) {
                                           return !counts_for_rate(transfer) ||
                                                  tenant_.rate.has_credit(steady_now());
                                         },
                                     .posted =
                                         [this](const Transfer& transfer) {
                                           if (counts_for_rate(transfer))
                                             tenant_.rate.spend(transfer.memory.size());
                                         }});
  counts_ = {exchange_->served().calls, exchange_->served().bytes};
  if (exchange_->all_left() && group_->idle()) return finish("");
  if (!served) return finish(served.error().what);
  return served.value() ? Step::kMoved : Step::kRests;
}

HubJob::Step HubJob::finish(const std::string& failure) {
  if (!failure.empty()) {
    failed_ = true;
    const Error why{ErrorCode::kRemote, failure, ""};
    if (opening_ != nullptr) opening_->fail(why);
    if (group_ != nullptr) group_->fail(why);
    say_(fmt::format("group {:016x} of {} has failed: {}", first_.us.group, tenant_.name, failure));
  }
  opening_.reset();
  exchange_ = nullptr;
  group_.reset();
  over_ = true;
  return Step::kOver;
}

HubJob::Counts HubJob::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace dlcp::cli
