// Used if the build had no rdma-core headers: opening always fails with an error that says so.
#include "datapath/verbs/verbs_options.h"

namespace dlcp::datapath {
namespace {

Error not_built() {
  return {ErrorCode::kInvalidUsage,
          "this build has no RoCE datapath, because rdma-core was not found when it was built",
          "install libibverbs-dev and build again, or set DLCP_DATAPATH=udp"};
}

}  // namespace

Result<OpenedVerbs> open_verbs(const VerbsOptions&) {
  return not_built();
}

Result<PlacementAbility> test_placement(const RocePort&, bool) {
  return not_built();
}

Status check_verbs() {
  return not_built();
}

}  // namespace dlcp::datapath
