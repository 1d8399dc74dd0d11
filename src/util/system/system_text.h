// The system's text for an error number. Unlike std::strerror, whose buffer another thread may
// overwrite (glibc before 2.32), this is thread-safe, and it needs no file descriptor.
#pragma once

#include <array>
#include <cstring>
#include <string>

namespace dlcp {

// `error`: a value of errno, e.g. ENOENT gives "No such file or directory".
inline std::string system_text(int error) {
  std::array<char, 256> room;  // enough for the longest of glibc's translations
  return ::strerror_r(error, room.data(), room.size());
}

}  // namespace dlcp
