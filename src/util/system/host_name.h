// The name of this host.
#pragma once

#include <unistd.h>

#include <array>
#include <string>

namespace dlcp {

// "" if the system call fails.
inline std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace dlcp
