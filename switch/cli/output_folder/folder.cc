#include "switch/cli/output_folder/folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace dlcp::fabric::cli {

namespace fs = std::filesystem;

namespace {

Problem failure(const fs::path& path, const std::string& why) {
  Problem problem;
  problem.file = path.string();
  problem.what = "cannot write: " + why;
  return problem;
}

constexpr const char* kKept = "kept";
// The files that rollout.yml applied last, beside those of the last render.
constexpr const char* kApplied = ".applied";
constexpr const char* kReplaced = ".replaced";  // in the staging folder

// Renames that are reverted together if one fails.
class Moves {
 public:
  void move(const fs::path& from, const fs::path& to, std::error_code& error) {
    fs::create_directories(to.parent_path(), error);
    if (!error) fs::rename(from, to, error);
    if (!error) done_.emplace_back(from, to);
  }

  void revert() {
    std::error_code ignored;
    for (auto one = done_.rbegin(); one != done_.rend(); ++one)
      fs::rename(one->second, one->first, ignored);
    done_.clear();
  }

 private:
  std::vector<std::pair<fs::path, fs::path>> done_;
};

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Relative paths of the regular files below the folder, sorted.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored))
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder));
  std::sort(files.begin(), files.end());
  return files;
}

// FNV-1a over names and contents.
std::uint64_t hash_of(const fs::path& folder) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](const std::string& text) {
    for (const char c : text + '\0')
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  for (const fs::path& file : files_below(folder)) {
    add(file.generic_string());
    add(text_of(folder / file));
  }
  return hash;
}

// Every file of `fresh` is in `place` with the same text, and `place` has no file of an earlier
// render that `fresh` lacks. Files of operators and scripts do not count.
bool holds_same(const fs::path& place, const fs::path& fresh) {
  if (!fs::is_directory(place) || !fs::is_directory(fresh)) return false;
  const auto files = files_below(fresh);
  const bool all = std::all_of(files.begin(), files.end(), [&](const fs::path& file) {
    std::error_code ignored;
    return fs::file_size(place / file, ignored) == fs::file_size(fresh / file, ignored) &&
           text_of(place / file) == text_of(fresh / file);
  });
  // REPORT.md lists the files of the folder, so equal reports have equal lists.
  return all;
}

}  // namespace

Folder::Folder(const std::string& path) : target_(path) {
  if (!target_.has_filename()) target_ = target_.parent_path();  // "out/"
  std::error_code ignored;
  if (fs::is_directory(target_, ignored)) {
    partial_ =
        target_ / ".partial";  // on the same file system, even if the target is a mount point
  } else {
    partial_ = target_;
    partial_ += ".partial";
  }
  fs::create_directory(partial_, ignored);  // on failure, writing reports the reason
  lock_ = open(partial_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  is_taken_ = lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (is_taken_) return;
  for (const auto& left : fs::directory_iterator(partial_, ignored))  // left by an interrupted run
    fs::remove_all(left.path(), ignored);
}

Folder::~Folder() {
  std::error_code ignored;
  if (!is_taken_) fs::remove_all(partial_, ignored);
  if (lock_ >= 0) close(lock_);
}

std::optional<Problem> Folder::write(const std::string& path, const std::string& text,
                                     bool executable) const {
  if (is_taken_)
    return failure(target_,
                   "another dlcp-switch is writing to this folder; wait until it has ended");
  const fs::path relative(path);
  for (const fs::path& part : relative)
    if (relative.is_absolute() || part == "..")
      return failure(relative, "the path leads out of the folder");
  const fs::path file = partial_ / relative;
  std::ofstream stream(file, std::ios::binary);
  if (!stream) {  // the folder of this file does not exist yet
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) return failure(file.parent_path(), error.message());
    stream.clear();
    stream.open(file, std::ios::binary);
  }
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (!stream) return failure(file, std::make_error_code(static_cast<std::errc>(errno)).message());
  if (!executable) return std::nullopt;
  std::error_code error;
  fs::permissions(file, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add, error);
  return error ? std::optional(failure(file, error.message())) : std::nullopt;
}

// Where to move former contents that are replaced.
fs::path Folder::destination(const fs::path& place, Outcome& outcome) const {
  const std::string file_name = place.filename().string();
  std::error_code ignored;
  if (fs::is_directory(place) && !fs::is_empty(place, ignored)) {
    const std::string name = fmt::format("{}-{:08x}", file_name, hash_of(place) & 0xffffffff);
    const fs::path kept = target_ / kKept / name;
    outcome.kept.push_back(fmt::format("{} as {}/{}", file_name, kKept, name));
    if (!fs::exists(kept)) return kept;  // otherwise an equal copy is kept already
  }
  return partial_ / kReplaced / file_name;
}

Folder::Outcome Folder::commit() const {
  Outcome outcome;
  std::error_code error;
  if (!fs::exists(target_)) {
    fs::rename(partial_, target_, error);
    if (error) outcome.problem = failure(target_, error.message());
    return outcome;
  }
  std::set<std::string> written;
  for (const auto& entry : fs::directory_iterator(partial_, error))
    written.insert(entry.path().filename().string());
  Moves moves;
  for (const std::string& name : written) {
    const fs::path place = target_ / name;
    if (holds_same(place, partial_ / name)) continue;
    std::error_code failed;
    if (fs::exists(fs::symlink_status(place)))
      moves.move(place, destination(place, outcome), failed);
    if (!failed) moves.move(partial_ / name, place, failed);
    if (!failed) continue;
    moves.revert();
    std::error_code ignored;
    fs::remove(target_ / kKept, ignored);  // only if it is empty
    outcome.kept.clear();
    outcome.problem = failure(place, failed.message());
    return outcome;
  }
  if (error) {
    outcome.problem = failure(partial_, error.message());
    return outcome;
  }
  for (const auto& entry : fs::directory_iterator(target_, error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kApplied)) continue;
    if (written.count(name) == 0 && fs::exists(entry.path() / "REPORT.md"))
      outcome.stale.push_back(name);
  }
  std::sort(outcome.kept.begin(), outcome.kept.end());
  std::sort(outcome.stale.begin(), outcome.stale.end());
  return outcome;
}

}  // namespace dlcp::fabric::cli
