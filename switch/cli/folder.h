// Output folder that appears whole or not at all: files are written beside it and moved in place
// when every switch has been rendered.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

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
  // Replaces the entries of the target that were written, and leaves its other entries alone.
  std::optional<Problem> commit() const;

 private:
  std::filesystem::path target_, partial_;
};

}  // namespace dlcp::fabric::cli
