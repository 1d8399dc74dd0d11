#include "cli/launch/processes/net_namespace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>

#include "cli/launch/bench_error.h"
#include "util/system/fd.h"
#include "util/system/system_text.h"

namespace dlcp::cli {
namespace {

std::string path_of(const std::string& name) {
  return "/var/run/netns/" + name;
}

}  // namespace

void enter_namespace(const std::string& name) {
  const Fd fd(open(path_of(name).c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.valid() && setns(fd.get(), CLONE_NEWNET) == 0) return;
  throw BenchError(ExitCode::kUsage, fmt::format("--netns: cannot enter {}: {}; see scripts/netns",
                                                 name, system_text(errno)));
}

int count_namespaces(const std::string& prefix) {
  int count = 0;
  while (access(path_of(fmt::format("{}{}", prefix, count)).c_str(), F_OK) == 0)
    ++count;
  return count;
}

}  // namespace dlcp::cli
