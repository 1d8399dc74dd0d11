// Buffer pools and limits of queues that the site sets.
#include "switch/vendors/text/numbers.h"
#include "switch/vendors/text/words.h"
#include "switch/vendors/tree/import/facts.h"

namespace dlcp::fabric::tree {
namespace {

// "alpha_1_8" -> -3, "alpha_4" -> 2; nullopt: not a power of two.
std::optional<int> alpha_of(std::string_view name) {
  constexpr std::string_view kStem = "alpha_";
  constexpr int kExponentMax = 10;
  if (!name.starts_with(kStem)) return std::nullopt;
  name.remove_prefix(kStem.size());
  const bool is_fraction = name.starts_with("1_");
  const auto value = number_of(is_fraction ? name.substr(2) : name);
  for (int exponent = 0; value && exponent <= kExponentMax; ++exponent)
    if (*value == 1 << exponent) return is_fraction ? -exponent : exponent;
  return std::nullopt;
}

class BufferReader {
 public:
  BufferReader(const Target& target, const Facts& facts, const Document& document, SiteConfig& site,
               const FaultAt& fault)
      : target_(target), facts_(facts), document_(document), site_(site), fault_(fault) {}

  void run() {
    read_reserved();
    for (const Fact& fact : of(facts_, "pool_percent"))
      if (const auto percent = number_of(held(fact.held, "percent")); percent && *percent <= 100) {
        site_.lossy_pool_percent = static_cast<unsigned>(*percent);
        site_.pool_source = fact.from->text;
      } else {
        fault_(*fact.from, "not a percentage", "0..100");
      }
    read_sum();
    for (const Fact& fact : of(facts_, "queue_alpha"))
      read_alpha(fact);
  }

 private:
  // Pools that state more than the whole buffer cannot all have what they state.
  void read_sum() {
    unsigned total = 0;
    for (const Fact& fact : of(facts_, "pool_share"))
      total += static_cast<unsigned>(number_of(held(fact.held, "percent")).value_or(0));
    if (total <= 100 || !site_.lossy_pool_percent) return;
    site_.lossy_pool_percent = *site_.lossy_pool_percent * 100 / total;
    site_.pool_source += " of " + std::to_string(total) + " in all pools";
  }

  // Classes whose packets are in a buffer pool of their own.
  void read_reserved() {
    for (const Fact& fact : of(facts_, "reserved"))
      if (const auto queue = queue_named(document_, held(fact.held, "priority"));
          queue && held(fact.held, "pool") != target_.lossy_pool)
        site_.queues[site_.class_to_queue[static_cast<std::size_t>(*queue)].value_or(0)].in_use =
            true;
  }

  void read_alpha(const Fact& fact) {
    const auto queue = queue_named(document_, held(fact.held, "queue"));
    const auto name = held(fact.held, "alpha");
    const auto alpha = alpha_of(name);
    if (!queue || name == "infinity" || name == "alpha_infinity") return;
    if ((site_.dlcp_queues >> *queue & 1) != 0) return;  // DLCP's own, which a change may replace
    if (!alpha && name != "alpha_0") return fault_(*fact.from, "not a share", "alpha_1_8, alpha_1");
    for (SitePort& port : site_.port_facts)
      port.limits.push_back({static_cast<std::uint8_t>(*queue), alpha, 0, fact.from->text});
  }

  const Target& target_;
  const Facts& facts_;
  const Document& document_;
  SiteConfig& site_;
  const FaultAt& fault_;
};

}  // namespace

void read_buffers(const Target& target, const Facts& facts, const Document& document,
                  SiteConfig& site, const FaultAt& fault) {
  BufferReader(target, facts, document, site, fault).run();
}

}  // namespace dlcp::fabric::tree
