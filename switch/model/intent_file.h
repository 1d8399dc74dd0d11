// Reads an intent file into an Intent. Files and vendors are reached through functions that the
// caller gives, so that tests and fuzzers need neither.
#pragma once

#include <functional>
#include <string>

#include "switch/model/intent.h"
#include "switch/model/problem.h"

namespace dlcp::fabric {

struct Sources {
  // Text of a file named in the intent (relative names are relative to the intent's folder).
  std::function<Checked<std::string>(const std::string& file)> read;
  // What a running configuration says about the site; vendors do it.
  std::function<Checked<SiteConfig>(const std::string& os, const std::string& file,
                                    const std::string& text)>
      import;
  bool import_later = false;  // the caller imports, switch by switch, through SiteImports
};

// All problems of the file at once; a value only where there is no error.
Checked<Intent> read_intent(const std::string& file, const std::string& text,
                            const Sources& sources);

}  // namespace dlcp::fabric
