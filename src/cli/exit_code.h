// Exit codes of all `dlcp` verbs, documented in each --help.
#pragma once

namespace dlcp::cli {

enum class ExitCode : int {
  kOk = 0,
  kWrongData = 1,
  kUsage = 2,
  kTransport = 3,
  kTimeout = 4,
};

}  // namespace dlcp::cli
