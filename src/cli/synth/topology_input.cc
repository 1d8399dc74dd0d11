#include "cli/synth/topology_input.h"

#include <fmt/format.h>

#include <optional>

#include "cli/command_line/text_file.h"
#include "synth/input/fabric_input.h"
#include "synth/input/intent_input.h"
#include "synth/input/links_file.h"
#include "synth/input/taccl_file.h"
#include "synth/input/yaml_text.h"

namespace dlcp::cli {

namespace {

Result<std::string> read_input(const std::string& path) {
  auto text = read_text_file(path);
  if (text && text->size() > synth::kTextMax)
    return Error{ErrorCode::kInvalidUsage, fmt::format("cannot read '{}'", path),
                 "give a file of at most 64 MiB"};
  return text;
}

}  // namespace

Result<synth::Topology> read_topology(const std::string& path, const std::string& sketch) {
  const auto text = read_input(path);
  if (!text) return text.error();
  if (synth::is_taccl(text.value())) {
    std::optional<synth::InputFile> second;
    if (!sketch.empty()) {
      const auto read = read_input(sketch);
      if (!read) return read.error();
      second = {read.value(), sketch};
    }
    return synth::parse_taccl({text.value(), path}, second);
  }
  if (!sketch.empty())
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("--sketch needs a topology in TACCL's format, and {} is not one", path), ""};
  if (synth::is_order_file(text.value())) return synth::parse_order_file(text.value(), path);
  if (synth::is_intent(text.value())) return synth::parse_intent(text.value(), path);
  return synth::parse_links(text.value(), path);
}

}  // namespace dlcp::cli
