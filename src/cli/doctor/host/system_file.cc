#include "cli/doctor/host/system_file.h"

#include <charconv>
#include <fstream>

namespace dlcp::cli {

std::optional<std::string> read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<std::uint64_t> read_number(const std::string& path) {
  const auto line = read_line(path);
  std::uint64_t value = 0;
  if (!line || std::from_chars(line->data(), line->data() + line->size(), value).ec != std::errc{})
    return std::nullopt;
  return value;
}

}  // namespace dlcp::cli
