#include "nccl/licensing.h"

#include <fmt/format.h>

#include "engine/registry.h"
#include "nccl/log.h"
#include "nccl/profiler.h"

namespace dlcp::nccl {
namespace {

// What a context says once, beside the reasons of Exact.
constexpr unsigned kContract = 31;

std::string name_of(const Context& context) {
  return context.comm_id() == 0 ? "this process's communicators"
                                : fmt::format("communicator {:#x}", context.comm_id());
}

}  // namespace

Licensing::Licensing(Context& context, int traffic_class)
    : context_(&context), traffic_class_(traffic_class) {
  const auto setup = engine::Registry::of_process().setup();
  if (setup->ok()) {
    process_budget_ppm_ = setup->value().settings.loss_budget_ppm;
    bytes_min_ = setup->value().settings.loss_bytes_min;
  }
  terms_ = loss_terms(process_budget_ppm_, traffic_class);
}

void Licensing::explain(Exact why) {
  if (worth_saying(why) && context_->first_to_say(static_cast<unsigned>(why))) {
    say({engine::LogLevel::kInfo, fmt::format("{}: exact, in spite of its budget, where {}",
                                              name_of(*context_), words_for(why))});
  }
}

Verdict Licensing::decide(void* phandle) {
  if (phandle == nullptr) {
    return {Exact::kOutsideNccl, {}};
  }
  std::optional<TransferAttributes> attributes;
  if (context_->tells_attributes()) {
    attributes = attributes_of(context_->id()).value_or(TransferAttributes{});
    if (const Exact why = ruled_out(*attributes); why != Exact::kNot) {
      return {why, {}};
    }
  }
  if (!profiler::in_use()) {
    return {Exact::kNoProfiler, {}};
  }
  const auto context = profiler::ask(phandle, traffic_class_);
  if (!context) {
    return {Exact::kUnknown, {}};
  }
  if (context->operation != operation_) {
    operation_ = context->operation;
    ++collectives_;
  }
  if (traffic_class_ == kUndefined && context->traffic_class != kUndefined) {
    traffic_class_ = context->traffic_class;
    terms_ = loss_terms(process_budget_ppm_, traffic_class_);
  }
  return judge(terms_, *context, attributes);
}

core::Licence Licensing::next(void* phandle, std::size_t bytes) {
  // Before v11 an accepted connection learns its class from one that was connected.
  const bool may_learn =
      traffic_class_ == kUndefined && !context_->tells_attributes() && profiler::activated();
  if ((!terms_.any() && !may_learn) || bytes < bytes_min_) {
    return {};
  }
  Verdict verdict = decide(phandle);
  if (verdict.exact != Exact::kNot) {
    if (terms_.any()) {
      explain(verdict.exact);
    }
    return {};
  }
  verdict.licence.collective = collectives_;
  return verdict.licence;
}

void announce_terms(Context& context, int traffic_class, bool can_tell) {
  const auto setup = engine::Registry::of_process().setup();
  if (!setup->ok()) {
    return;  // listen will say it
  }
  const LossTerms terms = loss_terms(setup->value().settings.loss_budget_ppm, traffic_class);
  if (!terms.any() || !context.first_to_say(kContract)) {
    return;
  }
  if (!can_tell) {
    say({engine::LogLevel::kInfo,
         "exact, in spite of DLCP_LOSS_BUDGET: this NCCL does not say what a transfer belongs to; "
         "2.28 or later does"});
    return;
  }
  profiler::activate();
  context.set_may_lose();
  say({engine::LogLevel::kInfo, fmt::format("{} {}", name_of(context), contract(terms))});
}

}  // namespace dlcp::nccl
