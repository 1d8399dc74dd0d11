#include "cli/stats/textfile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "util/fd.h"

namespace dlcp::cli {

Status write_textfile(const std::string& path, const std::string& text) {
  const std::string beside = fmt::format("{}.{}", path, getpid());
  const auto failed = [&] {
    const Error error{ErrorCode::kSystem,
                      fmt::format("cannot write '{}': {}", path, std::strerror(errno)),
                      "name a file in a folder that this user may write"};
    unlink(beside.c_str());
    return error;
  };
  const Fd file(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return failed();
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t put = write(file.get(), text.data() + at, text.size() - at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return failed();
    at += static_cast<std::size_t>(put);
  }
  if (rename(beside.c_str(), path.c_str()) != 0) return failed();
  return Unit{};
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace dlcp::cli
