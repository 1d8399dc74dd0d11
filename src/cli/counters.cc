// `dlcp counters`: the meaning of each counter.
#include "core/counters.h"

#include <fmt/format.h>

#include <span>

#include "cli/command_line/output/document.h"
#include "cli/commands.h"
#include "datapath/udp/udp_counters.h"
#include "datapath/verbs/placement/placement_counters.h"
#include "datapath/verbs/verbs_counters.h"

namespace dlcp::cli {
namespace {

// As in the statistics file: one object for each kind of datapath.
template <class Counters>
void add_rows(Document& document, std::string_view datapath,
              std::span<const datapath::CounterRow<Counters>> rows) {
  for (const auto& row : rows)
    document.rows.push_back({fmt::format("{}.{}", datapath, row.name), std::string(row.help)});
}

Document counter_document() {
  Document document{{"counter", "if it grows"}, {}, true};
  for (const core::CounterRow& row : core::kCounterRows)
    document.rows.push_back({row.name, row.help});
  add_rows<datapath::UdpCounters>(document, "udp", datapath::kUdpCounterRows);
  add_rows<datapath::VerbsCounters>(document, "verbs", datapath::kVerbsCounterRows);
  add_rows<datapath::PlacementCounters>(document, "verbs", datapath::kPlacementCounterRows);
  return document;
}

}  // namespace

void add_counters(CLI::App& app, ExitCode& exit_code) {
  add_document_verb(app, exit_code, "counters", "Explains each counter and what to do if it grows",
                    counter_document);
}

}  // namespace dlcp::cli
