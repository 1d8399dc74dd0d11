// What the system says of an error number. std::strerror keeps its words where another thread may
// write (glibc before 2.32); this does not, and needs no file descriptor to be free.
#pragma once

#include <array>
#include <cstring>
#include <string>

namespace dlcp {

// `error`: of errno's values, e.g. ENOENT: "No such file or directory".
inline std::string system_text(int error) {
  std::array<char, 256> room;  // the longest of glibc's translations has less
  return ::strerror_r(error, room.data(), room.size());
}

}  // namespace dlcp
