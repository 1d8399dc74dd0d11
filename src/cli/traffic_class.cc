// `dlcp traffic-class`: the number by which a communicator tells DLCP what it may lose, and back.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>

#include "cli/commands.h"
#include "dlcp/communicator_class.h"

namespace dlcp::cli {
namespace {

using Priority = CommunicatorClass::Priority;
using Type = CommunicatorClass::Type;

const std::map<std::string, Priority> kPriorities = {
    {"learned", Priority::kLearned}, {"urgent", Priority::kUrgent}, {"bulk", Priority::kBulk}};
const std::map<std::string, Type> kTypes = {{"unstated", Type::kUnstated},
                                            {"fp32", Type::kFloat32},
                                            {"fp16", Type::kFloat16},
                                            {"bf16", Type::kBfloat16}};

struct TrafficClassOptions {
  double budget = 0;
  Priority priority = Priority::kLearned;
  Type type = Type::kUnstated;
  int number = 0;
};

template <class Named>
std::string name_of(const std::map<std::string, Named>& names, Named named) {
  for (const auto& [name, value] : names) {
    if (value == named) return name;
  }
  return "";
}

ExitCode explain(int number) {
  const auto read = decode_communicator_class(number);
  if (!read) {
    fmt::print("{} means nothing to DLCP: it leaves the communicator to DLCP_LOSS_BUDGET\n",
               number);
    return ExitCode::kWrongData;
  }
  fmt::print("budget {:.6g}, priority {}, type {}\n", read->budget_ppm / 1e6,
             name_of(kPriorities, read->priority), name_of(kTypes, read->type));
  return ExitCode::kOk;
}

}  // namespace

void add_traffic_class(CLI::App& app, ExitCode& exit_code) {
  CLI::App* verb = app.add_subcommand(
      "traffic-class",
      "Prints the trafficClass of a communicator that may lose a share of its sums");
  auto options = std::make_shared<TrafficClassOptions>();
  auto* budget = verb->add_option("--budget", options->budget,
                                  "share of each result that may be lost; 0: exact, whatever "
                                  "DLCP_LOSS_BUDGET says")
                     ->check(CLI::Range(0.0, CommunicatorClass::kBudgetPpmMax / 1e6));
  verb->add_option("--priority", options->priority, "learned, urgent or bulk")
      ->transform(CLI::CheckedTransformer(kPriorities).description(""));
  verb->add_option("--type", options->type,
                   "fp32, fp16 or bf16: reductions of any other type are exact")
      ->transform(CLI::CheckedTransformer(kTypes).description(""));
  auto* decode = verb->add_option("--decode", options->number, "explains a number instead");
  decode->excludes(budget);
  verb->footer(
      "In PyTorch: options = ProcessGroupNCCL.Options(); options.config.traffic_class = N;\n"
      "new_group(pg_options=options)");
  verb->callback([=, &exit_code] {
    if (decode->count() > 0) {
      exit_code = explain(options->number);
    } else if (budget->count() == 0) {
      throw CLI::RequiredError("--budget");
    } else {
      const auto ppm = static_cast<std::uint32_t>(std::llround(options->budget * 1e6));
      fmt::print("{}\n", encode({ppm, options->priority, options->type}));
      exit_code = ExitCode::kOk;
    }
  });
}

}  // namespace dlcp::cli
