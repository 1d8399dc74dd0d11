// CPU time of some of this process's threads, for example of those that a plugin has started.
#pragma once

#include <sys/types.h>

#include <set>

namespace dlcp::cli {

using Threads = std::set<pid_t>;  // by the kernel's thread id

Threads threads_of_process();
// Threads in `now` that are not in `before`.
Threads new_threads(const Threads& before, const Threads& now);
// Threads that have ended count as 0.
double cpu_seconds_of(const Threads& threads);

}  // namespace dlcp::cli
