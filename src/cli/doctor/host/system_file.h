// One-line files of /proc and /sys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dlcp::cli {

// The first line without its line break; nullopt if the file cannot be read.
std::optional<std::string> read_line(const std::string& path);
std::optional<std::uint64_t> read_number(const std::string& path);

}  // namespace dlcp::cli
