// A file that others read while it is written anew: they see the old text or the new one, never a
// part.
#pragma once

#include <string>

#include "util/result.h"

namespace dlcp::cli {

// By way of a file beside it that takes its name at the end.
Status write_textfile(const std::string& path, const std::string& text);

std::string host_name();  // "" where the system does not say

}  // namespace dlcp::cli
