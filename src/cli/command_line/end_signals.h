// SIGINT and SIGTERM as requests to stop a server.
#pragma once

#include <csignal>

namespace dlcp::cli {

inline volatile std::sig_atomic_t end_signals = 0;  // number received

// From now on these signals are counted and do not end the process.
inline void count_end_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { end_signals = end_signals + 1; };
  for (const int signal : {SIGINT, SIGTERM})
    ::sigaction(signal, &action, nullptr);
}

}  // namespace dlcp::cli
