// An order in the formats of launchers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fabric/order_file.h"
#include "util/result.h"

namespace dlcp::order {

struct Format {
  const char* name;  // hostfile, rankfile, ...
  const char* help;  // which launcher reads it, and how to pass it
  Result<std::string> (*write)(const fabric::OrderFile& file);
};

std::span<const Format> formats();
const Format* find_format(std::string_view name);

}  // namespace dlcp::order
