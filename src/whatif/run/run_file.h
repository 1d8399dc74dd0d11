// The file of a Run: one JSON object. Its records are rows of whole numbers, in the order of the
// object's "columns".
#pragma once

#include <string>

#include "util/result.h"
#include "whatif/run/run.h"

namespace dlcp::whatif {

inline constexpr std::size_t kRecordsMax = std::size_t{1} << 20;  // that a file may hold

std::string write_run(const Run& run);
// kInvalidUsage names `path`, and what is wrong with the text. Accepted runs are consistent:
// indices are within their lists, ends are not before starts, ranks are below the number of ranks.
Result<Run> read_run(const std::string& text, const std::string& path);

}  // namespace dlcp::whatif
