// `dlcp knobs`: the knob table.
#include "engine/settings/knobs.h"

#include "cli/command_line/output/document.h"
#include "cli/commands.h"

namespace dlcp::cli {
namespace {

Document knob_document() {
  Document document{{"name", "type", "unit", "default", "range", "meaning"}, {}, true};
  for (const engine::Knob& knob : engine::knobs())
    document.rows.push_back({knob.name, engine::type_name(knob.type), knob.unit, knob.fallback,
                             engine::range_of(knob), knob.help});
  return document;
}

}  // namespace

void add_knobs(CLI::App& app, ExitCode& exit_code) {
  add_document_verb(app, exit_code, "knobs", "Lists the settings with their ranges and defaults",
                    knob_document);
}

}  // namespace dlcp::cli
