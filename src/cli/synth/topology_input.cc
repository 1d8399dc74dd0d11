#include "cli/synth/topology_input.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "synth/fabric_input.h"
#include "synth/intent_input.h"
#include "synth/links_file.h"
#include "synth/taccl_file.h"
#include "synth/yaml_text.h"

namespace dlcp::cli {

Result<std::string> read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("cannot read {}: {}", path, std::strerror(errno)), ""};
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (file.bad() || text.size() > synth::kTextMax)
    return Error{ErrorCode::kInvalidUsage, fmt::format("cannot read {}", path),
                 "give a file of at most 64 MiB"};
  return text;
}

Status write_whole(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    return Error{ErrorCode::kSystem, fmt::format("cannot write {}: {}", path, std::strerror(errno)),
                 ""};
  return Unit{};
}

Result<synth::Topology> read_topology(const std::string& path, const std::string& sketch) {
  const auto text = read_whole(path);
  if (!text) return text.error();
  if (synth::is_taccl(text.value())) {
    std::optional<synth::InputFile> second;
    if (!sketch.empty()) {
      const auto read = read_whole(sketch);
      if (!read) return read.error();
      second = {read.value(), sketch};
    }
    return synth::parse_taccl({text.value(), path}, second);
  }
  if (!sketch.empty())
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("--sketch goes with a topology of TACCL's, and {} is none", path), ""};
  if (synth::is_order_file(text.value())) return synth::parse_order_file(text.value(), path);
  if (synth::is_intent(text.value())) return synth::parse_intent(text.value(), path);
  return synth::parse_links(text.value(), path);
}

}  // namespace dlcp::cli
