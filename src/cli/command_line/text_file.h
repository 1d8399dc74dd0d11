// Reads and writes whole files for verbs.
#pragma once

#include <string>

#include "util/result.h"

namespace dlcp::cli {

// At most 256 MiB; "-": standard input. kInvalidUsage names the path and the reason.
Result<std::string> read_text_file(const std::string& path);

// Replaces the file atomically: readers see the old text or the new one, never a part of it. The
// text is written to a temporary file that is then renamed. Anything but a regular file
// (/dev/stdout, a pipe) is written directly.
Status write_text_file(const std::string& path, const std::string& text);

}  // namespace dlcp::cli
