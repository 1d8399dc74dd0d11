// Output folder that appears whole or not at all: files are written beside it and moved in place
// when every switch has been rendered. What was there and differs is kept under kept/, each folder
// by its name and the hash of its contents: it may hold the only way back. One run at a time: a
// second one writes nothing and says so.
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
  ~Folder();  // removes what was written and not committed
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // `path` is relative, without "..". The problem, or nullopt when all is well. Safe to call from
  // several threads.
  std::optional<Problem> write(const std::string& path, const std::string& text,
                               bool executable) const;
  struct Outcome {
    std::optional<Problem> problem;
    std::vector<std::string> kept;   // "leaf1 as kept/leaf1-1f2e3d4c": what was there before
    std::vector<std::string> stale;  // entries that a render wrote and this one did not
  };
  // Puts the entries that were written in the target's place. An entry that holds the same already
  // stays as it is, with whatever was put beside; others are left alone.
  Outcome commit() const;

 private:
  std::optional<Problem> keep(const std::filesystem::path& place, Outcome& outcome) const;

  std::filesystem::path target_, partial_;
  int lock_ = -1;          // of the folder beside, while this run lives
  bool is_taken_ = false;  // by another run: nothing can be written
};

}  // namespace dlcp::fabric::cli
