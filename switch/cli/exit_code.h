// What `dlcp-switch` ends with, whichever verb ran.
#pragma once

namespace dlcp::fabric::cli {

enum class ExitCode : int {
  kOk = 0,
  kWrong = 1,  // the intent, the site or a plan has errors; nothing was written
  kUsage = 2,
  kRefused = 3,  // text that no grammar has checked, without --unverified
  kDiffers = 4,  // diff: there is something to change; verify: counters are not as planned
  kFiles = 5,    // a file cannot be read or written
};

}  // namespace dlcp::fabric::cli
