// Reads an intent file into an Intent. The caller supplies functions for file access and vendor
// imports, so that tests and fuzzers need neither.
#pragma once

#include <functional>
#include <string>

#include "switch/model/intent.h"
#include "switch/model/problem.h"

namespace dlcp::fabric {

struct Sources {
  // Text of a file named in the intent (relative names are relative to the intent's folder).
  std::function<Checked<std::string>(const std::string& file)> read;
  // The site configuration that a vendor's importer finds in a running configuration.
  std::function<Checked<SiteConfig>(const std::string& os, const std::string& file,
                                    const std::string& text)>
      import;
  bool import_later = false;  // the caller imports each switch through SiteImports
};

// Returns all problems of the file at once; a value only if none is an error.
Checked<Intent> read_intent(const std::string& file, const std::string& text,
                            const Sources& sources);

}  // namespace dlcp::fabric
