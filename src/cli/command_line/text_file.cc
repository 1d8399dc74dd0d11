#include "cli/command_line/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "util/system/fd.h"
#include "util/system/system_text.h"

namespace dlcp::cli {
namespace {

constexpr std::size_t kBytesMax = std::size_t{256} << 20;

bool is_special(const std::string& path) {
  struct stat there {};
  return stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
}

bool write_all(const std::string& path, int flags, const std::string& text) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644));
  if (!file.valid()) return false;
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t put = write(file.get(), text.data() + at, text.size() - at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += static_cast<std::size_t>(put);
  }
  return true;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  const auto refused = [&](const std::string& why) {
    return Error{ErrorCode::kInvalidUsage, fmt::format("cannot read '{}': {}", path, why), ""};
  };
  const Fd file(path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return refused(system_text(errno));
  std::string text;
  std::array<char, 1 << 16> piece{};
  for (;;) {
    const ssize_t got = read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refused(system_text(errno));
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > kBytesMax) return refused("it is larger than the limit of 256 MiB");
  }
}

Status write_text_file(const std::string& path, const std::string& text) {
  const auto failed = [&] {
    return Error{ErrorCode::kSystem, fmt::format("cannot write '{}': {}", path, system_text(errno)),
                 "choose a folder in which this user may write"};
  };
  if (is_special(path)) return write_all(path, 0, text) ? Status(Unit{}) : failed();
  const std::string beside = fmt::format("{}.{}", path, getpid());
  if (write_all(beside, O_CREAT | O_TRUNC, text) && rename(beside.c_str(), path.c_str()) == 0)
    return Unit{};
  const Error error = failed();
  unlink(beside.c_str());
  return error;
}

}  // namespace dlcp::cli
