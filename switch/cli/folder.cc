#include "switch/cli/folder.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace dlcp::fabric::cli {

namespace fs = std::filesystem;

namespace {

Problem failure(const fs::path& path, const std::string& why) {
  Problem problem;
  problem.file = path.string();
  problem.what = "cannot be written: " + why;
  return problem;
}

}  // namespace

Folder::Folder(const std::string& path) : target_(path) {
  if (!target_.has_filename()) target_ = target_.parent_path();  // "out/"
  partial_ = target_;
  partial_ += ".partial";
  std::error_code ignored;
  fs::remove_all(partial_, ignored);
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(partial_, ignored);
}

std::optional<Problem> Folder::write(const std::string& path, const std::string& text,
                                     bool executable) const {
  const fs::path relative(path);
  for (const fs::path& part : relative) {
    if (relative.is_absolute() || part == "..") return failure(relative, "not within the folder");
  }
  const fs::path file = partial_ / relative;
  std::ofstream stream(file, std::ios::binary);
  if (!stream) {  // the first file of its folder
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) return failure(file.parent_path(), error.message());
    stream.clear();
    stream.open(file, std::ios::binary);
  }
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (!stream) return failure(file, std::strerror(errno));
  if (!executable) return std::nullopt;
  std::error_code error;
  fs::permissions(file, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add, error);
  return error ? std::optional(failure(file, error.message())) : std::nullopt;
}

std::optional<Problem> Folder::commit() const {
  std::error_code error;
  if (!fs::exists(target_)) {
    fs::rename(partial_, target_, error);
    return error ? std::optional(failure(target_, error.message())) : std::nullopt;
  }
  for (const auto& entry : fs::directory_iterator(partial_, error)) {
    const fs::path place = target_ / entry.path().filename();
    std::error_code failed;
    fs::remove_all(place, failed);
    if (!failed) fs::rename(entry.path(), place, failed);
    if (failed) return failure(place, failed.message());
  }
  return error ? std::optional(failure(partial_, error.message())) : std::nullopt;
}

}  // namespace dlcp::fabric::cli
