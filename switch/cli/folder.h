// Output folder that appears whole or not at all: files are written beside it and moved in place
// when every switch has been rendered.
#pragma once

#include <filesystem>
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

  // `path` is relative, without "..". False: `problem` says why.
  bool write(const std::string& path, const std::string& text, bool executable);
  // Replaces the entries of the target that were written, and leaves its other entries alone.
  bool commit();
  const Problem& problem() const { return problem_; }

 private:
  bool fail(const std::filesystem::path& path, const std::string& why);

  std::filesystem::path target_, partial_;
  std::filesystem::path made_;  // folder that the last file went to
  Problem problem_;
};

}  // namespace dlcp::fabric::cli
