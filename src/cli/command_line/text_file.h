// Files that verbs read and write as a whole.
#pragma once

#include <string>

#include "util/result.h"

namespace dlcp::cli {

// Of at most 256 MiB; "-": standard input. kInvalidUsage names the path and the reason.
Result<std::string> read_text_file(const std::string& path);

// Who reads the file meanwhile sees the old text or the new one, never a part: it is written beside
// it and takes its name at the end. What is no regular file (/dev/stdout, a pipe) is written to.
Status write_text_file(const std::string& path, const std::string& text);

}  // namespace dlcp::cli
