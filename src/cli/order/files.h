// Files that `dlcp order` and its verbs read and write.
#pragma once

#include <string>

#include "fabric/order_file.h"
#include "util/result.h"

namespace dlcp::cli {

// "-" is stdin.
Result<fabric::OrderFile> read_order_file(const std::string& path);
// Replaced as a whole: whoever reads it meanwhile sees the old one or the new one. Throws
// BenchError(kUsage).
void write_file(const std::string& path, const std::string& text);

}  // namespace dlcp::cli
