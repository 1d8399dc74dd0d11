#include "switch/targets/target_files.h"

#include "switch/targets/embedded.h"

namespace dlcp::fabric {

const std::vector<TargetFile>& target_files() {
  using namespace targets;
  static const std::vector<TargetFile> kFiles = {
      {kSonic, kSonicText}, {kCumulus, kCumulusText}, {kEos, kEosText},
      {kTc, kTcText},       {kSrlinux, kSrlinuxText}, {kOpenconfig, kOpenconfigText},
      {kJunos, kJunosText}, {kNxos, kNxosText},       {kArcos, kArcosText},
      {kIosxr, kIosxrText},
  };
  return kFiles;
}

}  // namespace dlcp::fabric
