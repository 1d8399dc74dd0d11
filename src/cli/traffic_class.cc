// `dlcp traffic-class`: converts the loss budget of a communicator to the number that NCCL passes
// on, and back.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line/options/options.h"
#include "cli/command_line/output/json_text.h"
#include "cli/commands.h"
#include "dlcp/communicator_class.h"

namespace dlcp::cli {
namespace {

using Priority = CommunicatorClass::Priority;
using Type = CommunicatorClass::Type;

constexpr std::array<std::pair<const char*, Priority>, 3> kPriorities = {
    {{"learned", Priority::kLearned}, {"urgent", Priority::kUrgent}, {"bulk", Priority::kBulk}}};
constexpr std::array<std::pair<const char*, Type>, 4> kTypes = {{{"unstated", Type::kUnstated},
                                                                 {"fp32", Type::kFloat32},
                                                                 {"fp16", Type::kFloat16},
                                                                 {"bf16", Type::kBfloat16}}};

struct TrafficClassOptions {
  double budget = 0;
  Priority priority = Priority::kLearned;
  Type type = Type::kUnstated;
  std::int32_t number = 0;
  bool json = false;
};

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& [name, value] : table)
    names.emplace_back(name);
  return names;
}

template <class Table, class Value>
const char* name_of(const Table& table, Value wanted) {
  for (const auto& [name, value] : table)
    if (value == wanted) return name;
  return "";
}

template <class Table, class Value>
void add_named(CLI::App& verb, const char* option, const Table& table, Value& value,
               const char* help) {
  const auto store = [&table, &value](const std::string& text) {
    for (const auto& [name, named] : table)
      if (text == name) value = named;
  };
  add_choice(verb, option, names_of(table), store, help);
}

ExitCode print(int number, bool json, bool just_number) {
  const auto read = decode_communicator_class(number);
  if (!read) {
    fmt::print(stderr,
               "{} is not a trafficClass of DLCP: DLCP_LOSS_BUDGET applies to the "
               "communicator\n",
               number);
    return ExitCode::kWrongData;
  }
  const double budget = read->budget_ppm / 1e6;
  const char* const priority = name_of(kPriorities, read->priority);
  const char* const type = name_of(kTypes, read->type);
  if (json) {
    const nlohmann::ordered_json object = {
        {"traffic_class", number}, {"budget", budget}, {"priority", priority}, {"type", type}};
    fmt::print("{}\n", json_text(object, 2));
  } else if (just_number) {
    fmt::print("{}\n", number);
  } else {
    fmt::print("budget {:.6g}, priority {}, type {}\n", budget, priority, type);
  }
  return ExitCode::kOk;
}

}  // namespace

void add_traffic_class(CLI::App& app, ExitCode& exit_code) {
  CLI::App& verb =
      add_verb(app, "traffic-class",
               "Prints the trafficClass value for a communicator that may lose a share of its "
               "sums");
  auto options = std::make_shared<TrafficClassOptions>();
  constexpr double kMost = CommunicatorClass::kBudgetPpmMax / 1e6;
  auto* budget = add_share(verb, "--budget", options->budget, {1e-6, kMost},
                           "share of each result that may be lost, 0.01 or 1%; 0: exact, "
                           "regardless of DLCP_LOSS_BUDGET");
  add_named(verb, "--priority", kPriorities, options->priority,
            "learned (default), urgent or bulk");
  add_named(verb, "--type", kTypes, options->type,
            "fp32, fp16 or bf16: reductions of any other type are exact");
  auto* decode = add_count(verb, "--decode", options->number, {INT32_MIN, INT32_MAX},
                           "explain this value instead");
  add_flag(verb, "--json", options->json, "print the value and its meaning as a JSON object");
  exclude_each_other(decode, budget);
  const char* const footer =
      "In PyTorch: options = ProcessGroupNCCL.Options(); options.config.traffic_class = N; "
      "new_group(pg_options=options)\nExit: 0; 1 if the value of --decode is not a trafficClass "
      "of DLCP; 2 usage error.";
  complete(verb, footer, [=, &exit_code] {
    if (given(decode)) {
      exit_code = print(options->number, options->json, false);
      return;
    }
    if (!given(budget)) miss("--budget or --decode");
    const auto ppm = static_cast<std::uint32_t>(std::llround(options->budget * 1e6));
    exit_code = print(encode({ppm, options->priority, options->type}), options->json, true);
  });
}

}  // namespace dlcp::cli
