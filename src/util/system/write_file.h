// Writes a file as a whole.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <string>

#include "util/system/fd.h"

namespace dlcp {

// Creates the file with `mode`, or replaces its content. Returns 0 or the error number; after an
// error the file may hold a part of `bytes`.
inline int write_file(const std::string& path, std::span<const std::byte> bytes, mode_t mode) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!file.valid()) return errno;
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return put < 0 ? errno : EIO;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return 0;
}

}  // namespace dlcp
