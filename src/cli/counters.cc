// `dlcp counters`: what each counter means.
#include "core/counters.h"

#include "cli/command_line/document.h"
#include "cli/commands.h"

namespace dlcp::cli {
namespace {

Document counter_document() {
  Document document{{"counter", "if it grows"}, {}, true};
  for (const core::CounterRow& row : core::kCounterRows)
    document.rows.push_back({row.name, row.help});
  return document;
}

}  // namespace

void add_counters(CLI::App& app, ExitCode& exit_code) {
  add_document_verb(app, exit_code, "counters", "What the counters mean: if this grows, look there",
                    counter_document);
}

}  // namespace dlcp::cli
