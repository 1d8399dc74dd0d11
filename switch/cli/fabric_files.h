// Files for the fabric as a whole, beside the switches' folders of `render`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "switch/cli/load.h"
#include "switch/model/text_file.h"

namespace dlcp::fabric::cli {

// Writes what `make` gives into `folder`, all of it or nothing, unless the intent has errors, and
// says so: as JSON, or as "N files in FOLDER" and `next`.
ExitCode write_fabric_files(Loaded loaded, bool json, const std::string& folder,
                            const std::function<std::vector<TextFile>(const Intent&)>& make,
                            const std::string& next);

}  // namespace dlcp::fabric::cli
