// Exit codes of `dlcp-switch`, the same for all verbs.
#pragma once

namespace dlcp::fabric::cli {

enum class ExitCode : int {
  kOk = 0,
  kWrong = 1,  // the intent, the site or a plan has errors; nothing was written
  kUsage = 2,
  kRefused = 3,   // no grammar has checked the text, and --unverified was not given
  kDiffers = 4,   // diff: a change is needed; verify: counters do not match the plan
  kFiles = 5,     // a file cannot be read or written
  kNotShown = 6,  // verify: the counters show nothing of what was planned
};

}  // namespace dlcp::fabric::cli
