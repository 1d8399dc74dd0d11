// Reads the order file for `dlcp order` and its verbs.
#pragma once

#include <string>

#include "fabric/order_file.h"
#include "util/result.h"

namespace dlcp::cli {

// "-" is stdin.
Result<fabric::OrderFile> read_order_file(const std::string& path);

}  // namespace dlcp::cli
