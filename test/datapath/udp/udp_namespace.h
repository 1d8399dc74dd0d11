// Runs parts of tests in a network namespace of their own.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace dlcp::datapath::test {

inline bool succeeds(const std::string& command) {
  return std::system((command + " 2>/dev/null").c_str()) == 0;
}

// Runs `body` on a thread in its own network namespace, in which loopback is up, after these
// commands. False, and `body` does not run, where namespaces are not permitted or a command fails.
inline bool in_namespace(const std::vector<std::string>& commands,
                         const std::function<void()>& body) {
  bool ran = false;
  std::thread([&] {
    if (::unshare(CLONE_NEWNET) != 0 || !succeeds("ip link set lo up") ||
        !std::ranges::all_of(commands, succeeds))
      return;
    body();
    ran = true;
  }).join();
  return ran;
}

}  // namespace dlcp::datapath::test
