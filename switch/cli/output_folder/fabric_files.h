// Files for the fabric as a whole, next to the switches' folders of `render`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "switch/cli/load.h"
#include "switch/model/text/text_file.h"

namespace dlcp::fabric::cli {

// Writes the files that `make` returns into `folder`, either all of them or none; none if the
// intent has errors. Prints the result as JSON, or as "N files in FOLDER" and `next`.
ExitCode write_fabric_files(Loaded loaded, const IntentOptions& options, const std::string& folder,
                            const std::function<std::vector<TextFile>(const Intent&)>& make,
                            const std::string& next);

}  // namespace dlcp::fabric::cli
