// Output folder that is written completely or not at all: files are written to a temporary folder
// (in the output folder if that exists, which may be a mount point; else next to it) and moved into
// place after every switch has been rendered. Earlier contents that differ are kept under kept/,
// each folder by its name and the hash of its contents, because they may hold the only rollback
// files. A lock admits one run at a time; a second run writes nothing and reports an error.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "switch/model/problem.h"

namespace dlcp::fabric::cli {

class Folder {
 public:
  explicit Folder(const std::string& path);
  ~Folder();  // removes files that were written and not committed
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // `path` is relative, without "..". Returns the problem, or nullopt on success. Thread-safe.
  std::optional<Problem> write(const std::string& path, const std::string& text,
                               bool executable) const;
  struct Outcome {
    std::optional<Problem> problem;
    std::vector<std::string> kept;   // "leaf1 as kept/leaf1-1f2e3d4c": replaced contents
    std::vector<std::string> stale;  // entries that an earlier render wrote and this one did not
  };
  // Moves the written entries into the target folder. An entry with the same contents already there
  // is not replaced, including files that a user added to it; other entries are not touched. If an
  // entry cannot be moved, all others are moved back.
  Outcome commit() const;

 private:
  std::filesystem::path destination(const std::filesystem::path& place, Outcome& outcome) const;

  std::filesystem::path target_, partial_;
  int lock_ = -1;          // on the folder's lock file, during this run
  bool is_taken_ = false;  // another run holds the lock: nothing can be written
};

}  // namespace dlcp::fabric::cli
