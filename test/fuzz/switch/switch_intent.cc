// The intent reader and the planner on any text: they report problems and never crash, and every
// resulting plan has the guaranteed properties.
#include "fuzz_input.h"
#include "switch/check/lint.h"
#include "switch/cli/sample.h"
#include "switch/model/intent_file/intent_file.h"
#include "switch/plan/plan.h"

using namespace dlcp::fabric;
using dlcp::test::require;

namespace {

constexpr std::size_t kSwitchesMax = 4;  // ranges repeat one entry; a few of them are enough

const Sources& sources() {
  static const Sources kSources{
      [](const std::string& file) {
        Checked<std::string> text;
        text.value = file + "\nurgent-protected.queue = bulk\nurgent-droppable.queue = bulk\n";
        return text;
      },
      [](const std::string& os, const std::string&, const std::string&) {
        if (os != "sonic") return Checked<SiteConfig>::failed({});
        Checked<SiteConfig> site;
        site.value.emplace();
        site.value->dscp_to_class.fill(std::uint8_t{1});
        site.value->pfc_priorities = 0x18;
        return site;
      }};
  return kSources;
}

void check_plan(const SwitchPlan& plan) {
  for (const PortGroupPlan& group : plan.groups) {
    require(!group.queues.empty(), "a plan has queues");
    for (const QueuePlan& queue : group.queues) {
      require(queue.queue < kQueueCount && queue.traffic_class < kTrafficClassesMax, "in range");
      require((plan.site->pfc_priorities >> queue.queue & 1) == 0, "no PFC on a DLCP queue");
      require(queue.strict ? queue.shape_bits_per_second > 0 : queue.weight > 0, "scheduled");
      require(!queue.levels.empty(), "a queue has levels");
    }
  }
  for (const DscpRow& row : plan.dscp)
    require(row.queue < kQueueCount, "queues of DSCPs in range");
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {std::string(cli::sample_intent())};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto intent = read_intent("fuzz.yaml", text, sources());
  for (const Problem& problem : intent.problems) {
    require(!problem.what.empty(), "a problem has a message");
    require(problem.line >= 0, "lines count from one");
    require(!to_text(problem).empty(), "a problem has a text");
  }
  if (!intent.value) {
    require(has_errors(intent.problems), "no value without an error");
    return 0;
  }
  std::size_t count = 0;
  for (const SwitchIntent& device : intent.value->switches) {
    if (++count > kSwitchesMax) break;
    const auto plan = plan_switch(*intent.value, device);
    require(plan.value.has_value() != has_errors(plan.problems), "a plan or errors");
    if (!plan.value) continue;
    check_plan(*plan.value);
    lint_switch(*intent.value, device, *plan.value);
  }
  return 0;
}
