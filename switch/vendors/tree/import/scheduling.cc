// Determines from facts how the site's queues are served.
#include <algorithm>

#include "switch/vendors/text/numbers.h"
#include "switch/vendors/tree/import/facts.h"

namespace dlcp::fabric::tree {
namespace {

class Scheduling {
 public:
  Scheduling(const Target& target, const Facts& facts, const std::string& scheduler,
             Document& document, SiteConfig& site)
      : target_(target), facts_(facts), scheduler_(scheduler), document_(document), site_(site) {}

  void read() {
    for (std::uint8_t q = 0; q < kQueueCount; ++q) {
      site_.queues[q].queue = q;
      site_.queues[q].name = scheduler_;
    }
    for (const Fact& fact : of(facts_, "weight"))
      put_weight(queue_of(fact), held(fact.held, "weight"));
    for (const Fact& fact : of(facts_, "strict"))
      put_strict(queue_of(fact));
    for (const Fact& fact : of(facts_, "configured"))
      if (SiteQueue* const queue = queue_of(fact)) queue->configured = true;
    for (const Fact& fact : of(facts_, "shape"))
      put_shape(queue_of(fact), fact.held);
    if (target_.round_robin_binds_below && !scheduler_.empty()) read_strict_above();
    for (const Fact& step : of(facts_, "queue_scheduler"))
      read_step(step);
  }

 private:
  // The queue of a fact, if it belongs to this policy.
  SiteQueue* queue_of(const Fact& fact) const {
    const auto policy = fact.held.find("policy");
    if (policy != fact.held.end() && policy->second != scheduler_) return nullptr;
    const auto queue = queue_named(document_, held(fact.held, "queue"));
    return queue ? &site_.queues[static_cast<std::size_t>(*queue)] : nullptr;
  }

  void read_step(const Fact& step) {
    SiteQueue* const queue = queue_of(step);
    if (queue == nullptr) return;
    const auto number = number_of(held(step.held, "scheduler"));
    for (const Fact& fact : of(facts_, "scheduler_weight"))
      if (joins(step.held, fact.held, {"policy", "scheduler", "id"})) {
        put_weight(queue, held(fact.held, "weight"));
        document_.weighted_sequence = number.value_or(1);
      }
    for (const Fact& fact : of(facts_, "scheduler_strict"))
      if (joins(step.held, fact.held, {"policy", "scheduler", "id"})) {
        put_strict(queue);
        document_.strict_sequences.insert(number.value_or(0));
      }
  }

  void put_weight(SiteQueue* queue, const std::string& text) const {
    const auto weight = number_of(text);
    if (queue == nullptr || !weight) return;
    queue->configured = queue->configured || target_.configured_is_used;
    queue->weight = static_cast<unsigned>(std::min(*weight, 1'000'000));
  }

  void put_strict(SiteQueue* queue) const {
    if (queue == nullptr) return;
    queue->configured = queue->configured || target_.configured_is_used;
    queue->strict = true;
  }

  // A percentage refers to a port of 100 Gb/s; other rates are in kb/s.
  static void put_shape(SiteQueue* queue, const Captures& shape) {
    const auto rate = number_of(held(shape, "rate"));
    if (queue == nullptr || !rate) return;
    const std::uint64_t unit = held(shape, "unit") == "percent" ? 1'000'000'000 : 1'000;
    queue->shaped_bits_per_second = static_cast<std::uint64_t>(*rate) * unit;
  }

  void read_strict_above() const {
    unsigned round_robin = 0;
    for (const Fact& fact : of(facts_, "round_robin"))
      if (const SiteQueue* const queue = queue_of(fact)) round_robin |= 1U << queue->queue;
    for (SiteQueue& queue : site_.queues)
      queue.strict = round_robin >> queue.queue == 0;
  }

  const Target& target_;
  const Facts& facts_;
  const std::string& scheduler_;
  Document& document_;
  SiteConfig& site_;
};

}  // namespace

const std::vector<Fact>& of(const Facts& facts, std::string_view kind) {
  static const std::vector<Fact> kNone;
  const auto found = facts.find(kind);
  return found == facts.end() ? kNone : found->second;
}

std::string held(const Captures& captures, std::string_view name) {
  const auto found = captures.find(name);
  return found == captures.end() ? std::string() : found->second;
}

bool joins(const Captures& a, const Captures& b, std::initializer_list<std::string_view> names) {
  return std::all_of(
      names.begin(), names.end(),
      [&](std::string_view name) {
        return held(a, name).empty() || held(b, name).empty() || held(a, name) == held(b, name);
      });
}

std::optional<int> queue_named(const Document& document, const std::string& name) {
  const auto known = document.queue_of.find(name);
  if (known != document.queue_of.end()) return known->second;
  const auto number = number_of(name);
  return number && *number < kQueueCount ? number : std::nullopt;
}

void read_scheduling(const Target& target, const Facts& facts, const std::string& scheduler,
                     Document& document, SiteConfig& site) {
  Scheduling(target, facts, scheduler, document, site).read();
}

}  // namespace dlcp::fabric::tree
