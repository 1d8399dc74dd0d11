#include "switch/cli/folder.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace dlcp::fabric::cli {

namespace fs = std::filesystem;

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

bool Folder::fail(const fs::path& path, const std::string& why) {
  problem_.file = path.string();
  problem_.what = "cannot be written: " + why;
  return false;
}

bool Folder::write(const std::string& path, const std::string& text, bool executable) {
  const fs::path relative(path);
  for (const fs::path& part : relative) {
    if (relative.is_absolute() || part == "..") return fail(relative, "not within the folder");
  }
  const fs::path file = partial_ / relative;
  std::error_code error;
  if (file.parent_path() != made_) {
    made_ = file.parent_path();
    fs::create_directories(made_, error);
    if (error) return fail(made_, error.message());
  }
  std::ofstream stream(file, std::ios::binary);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (!stream) return fail(file, std::strerror(errno));
  if (executable) {
    fs::permissions(file, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add, error);
  }
  return error ? fail(file, error.message()) : true;
}

bool Folder::commit() {
  std::error_code error;
  if (!fs::exists(target_)) {
    fs::rename(partial_, target_, error);
    return error ? fail(target_, error.message()) : true;
  }
  for (const auto& entry : fs::directory_iterator(partial_, error)) {
    const fs::path place = target_ / entry.path().filename();
    std::error_code failed;
    fs::remove_all(place, failed);
    if (!failed) fs::rename(entry.path(), place, failed);
    if (failed) return fail(place, failed.message());
  }
  return error ? fail(partial_, error.message()) : true;
}

}  // namespace dlcp::fabric::cli
