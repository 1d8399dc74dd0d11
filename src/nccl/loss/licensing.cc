#include "nccl/loss/licensing.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/devices/registry.h"
#include "engine/settings/environment.h"
#include "nccl/context/communicators.h"
#include "nccl/context/log.h"

namespace dlcp::nccl {
namespace {

// Topics of Context::first_to_say in addition to the reasons of Exact.
constexpr unsigned kContract = 31;
constexpr unsigned kTooOld = 30;

std::string name_of(const Context& context) {
  return context.comm_id() == 0 ? "this process's communicators"
                                : fmt::format("communicator {:#x}", context.comm_id());
}

}  // namespace

Licensing::Licensing(Context& context, int communicator_class)
    : context_(&context),
      nccl_buffer_bytes_(engine::nccl_simple_buffer_bytes()),
      owner_{context.comm_id(), EventTable::next_number(), communicator_class} {
  const auto setup = context.setup();
  if (setup->ok()) {
    process_budget_ppm_ = setup->value().settings.loss_budget_ppm;
    bytes_min_ = setup->value().settings.loss_bytes_min;
  }
  terms_ = loss_terms(process_budget_ppm_, communicator_class);
}

void Licensing::explain(Exact why) {
  if (worth_saying(why) && context_->first_to_say(static_cast<unsigned>(why))) {
    say({engine::LogLevel::kInfo, fmt::format("{}: exact, despite its loss budget, where {}",
                                              name_of(*context_), words_for(why))});
    context_->describe(terms_.budget_ppm, fmt::format("where {}", words_for(why)));
  }
}

std::optional<OpContext> Licensing::identify(void* phandle) {
  auto context = profiler::ask(phandle, owner_);
  if (context && context->is_owner && owner_.comm_id == 0) owner_.comm_id = context->comm_id;
  return context;
}

Ruling Licensing::decide(void* phandle, std::size_t bytes, bool sends) {
  if (phandle == nullptr) return {Exact::kOutsideNccl, {}};
  std::optional<TransferAttributes> attributes;
  if (context_->provides_attributes()) {
    attributes = attributes_of(context_->id()).value_or(TransferAttributes{});
    if (const Exact why = ruled_out(*attributes); why != Exact::kNot) return {why, {}};
  }
  if (!profiler::in_use()) return decide_by_attributes(attributes);
  const auto context = identify(phandle);
  if (!context || (context->operation != 0 && context->sends != sends))
    return {Exact::kUnknown, {}};
  if (context->operation != 0 && context->operation != operation_) {
    operation_ = context->operation;
    ++collectives_;
  }
  const bool split = context->operation != 0 && !context->is_owner;
  if (!split && owner_.communicator_class == kUndefined &&
      context->communicator_class != kUndefined) {
    owner_.communicator_class = context->communicator_class;
    terms_ = loss_terms(process_budget_ppm_, owner_.communicator_class);
  }
  if (split && terms_.from_communicator_class) return {Exact::kSplit, {}};
  const Ruling ruling = judge(terms_, *context, attributes);
  if (ruling.exact == Exact::kNot && !sends && !cut_as_known(*context, bytes, nccl_buffer_bytes_))
    return {Exact::kSteps, {}};
  return ruling;
}

Ruling Licensing::decide_by_attributes(const std::optional<TransferAttributes>& attributes) {
  if (!attributes || context_->comm_id() == 0) return {Exact::kNoProfiler, {}};
  if (Communicators::of_process().shared()) return {Exact::kSplit, {}};
  if (ranks_ == 0) ranks_ = Communicators::of_process().ranks(*context_);
  const Ruling ruling = judge_by_attributes(terms_, *attributes, ranks_);
  if (ruling.exact == Exact::kNot) ++collectives_;  // every message counts as a collective
  return ruling;
}

core::Licence Licensing::next(void* phandle, std::size_t bytes, bool sends) {
  // Before version 11, an accepted connection learns its class from a connected one.
  const bool may_learn = owner_.communicator_class == kUndefined &&
                         !context_->provides_attributes() && profiler::activated();
  if (!terms_.any() && !may_learn) return {};
  if (bytes < bytes_min_) {
    // A short message tells whose connection it is before a long one of a child can.
    if (owner_.comm_id == 0) (void)identify(phandle);
    return {};
  }
  Ruling ruling = decide(phandle, bytes, sends);
  if (ruling.exact != Exact::kNot) {
    if (terms_.any()) explain(ruling.exact);
    return {};
  }
  ruling.licence.collective = collectives_;
  return ruling.licence;
}

void announce_terms(Context& context, int communicator_class) {
  const auto setup = context.setup();
  if (!setup->ok()) return;  // listen reports the error
  const LossTerms terms = loss_terms(setup->value().settings.loss_budget_ppm, communicator_class);
  if (context.comm_id() != 0) Communicators::of_process().add(context, terms.budget_ppm);
  // Whether this version of the interface provides the information that a licence needs.
  const bool can_tell = context.provides_attributes() || profiler::has_callback();
  if (!terms.any() || !context.first_to_say(can_tell ? kContract : kTooOld)) return;
  if (!can_tell) {
    if (!context.was_used())  // at init, not again for each thread that connects
      say({engine::LogLevel::kInfo,
           "exact, despite DLCP_LOSS_BUDGET: this NCCL does not report the operation of a "
           "transfer; use NCCL 2.28 or later"});
    context.describe(terms.budget_ppm, "this NCCL does not report the operation of a transfer");
    return;
  }
  profiler::activate(profiler::Reason::kLoss);
  context.set_may_lose();
  context.describe(terms.budget_ppm, {});
  const bool one_of_many = context.comm_id() == 0 && terms.from_communicator_class;
  say({engine::LogLevel::kInfo,
       fmt::format("{} {}",
                   one_of_many ? fmt::format("communicators of trafficClass {}", communicator_class)
                               : name_of(context),
                   contract(terms))});
}

void forget_terms(Context& context) {
  if (context.may_lose()) profiler::deactivate(profiler::Reason::kLoss);
  Communicators::of_process().forget(context);
}

AgreedTerms agreed_terms(const Context& context) {
  const auto setup = context.setup();
  if (!setup->ok()) return {};
  const engine::Settings& settings = setup->value().settings;
  const LossTerms terms = loss_terms(settings.loss_budget_ppm, context.communicator_class());
  AgreedTerms agreed;
  agreed.latency_ns = setup->value().measured.front().latency_ns;
  agreed.encrypts = settings.protection == wire::Protection::kEncrypted;
  if (!terms.any()) return agreed;
  agreed.budget_ppm = terms.budget_ppm;
  agreed.bytes_min = static_cast<std::uint32_t>(settings.loss_bytes_min);
  agreed.margin_ppm = static_cast<std::uint32_t>(std::llround(settings.tuner_margin * 1e6));
  return agreed;
}

std::uint32_t budget_of(std::uint64_t comm_id, std::uint32_t process_budget_ppm) {
  return Communicators::of_process().budget(comm_id).value_or(process_budget_ppm);
}

}  // namespace dlcp::nccl
