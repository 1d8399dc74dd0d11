// Imports running configurations, one switch at a time and only when needed: the documents of a
// whole fabric are too large to hold in memory. A file that several switches name is imported once
// and kept.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "switch/model/intent_file/intent_file.h"
#include "switch/model/site/site_reader.h"

namespace dlcp::fabric {

// An import that a switch's `running_config` requests.
struct PendingImport {
  std::string file;
  int line = 0;
  bool shared = false;  // named without {name}: other switches may name the same file
  std::shared_ptr<const DeclaredSite> declared;  // null: the intent declares nothing in addition
};

// Thread-safe.
class SiteImports {
 public:
  SiteImports(std::string intent_file, const Sources& sources)
      : intent_file_(std::move(intent_file)), sources_(sources) {}

  // The site of a switch: the declared one, or the import.
  Checked<std::shared_ptr<const SiteConfig>> site_of(const SwitchIntent& device);

 private:
  Checked<std::shared_ptr<const SiteConfig>> import(const std::string& os,
                                                    const PendingImport& wanted) const;

  const std::string intent_file_;
  const Sources& sources_;
  std::mutex shared_mutex_;
  std::map<std::string, Checked<std::shared_ptr<const SiteConfig>>> shared_;
};

}  // namespace dlcp::fabric
