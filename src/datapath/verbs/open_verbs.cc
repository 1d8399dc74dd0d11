// Used if the build has rdma-core's headers.
#include "datapath/verbs/placement/self_test/self_test.h"
#include "datapath/verbs/verbs_datapath.h"
#include "datapath/verbs/verbs_options.h"

namespace dlcp::datapath {

Result<OpenedVerbs> open_verbs(const VerbsOptions& options) {
  auto library = verbs_library();
  if (!library) return library.error();
  auto opened = VerbsDatapath::open(std::move(library).value(), options);
  if (!opened) return opened.error();
  OpenedVerbs out;
  out.source_ports = opened.value()->source_ports();
  out.datapath = std::move(opened).value();
  return out;
}

Result<PlacementAbility> test_placement(const RocePort& port, bool only_reliable) {
  auto library = verbs_library();
  if (!library) return library.error();
  return self_test(std::move(library).value(), port, only_reliable);
}

Status check_verbs() {
  const auto library = verbs_library();
  if (!library) return library.error();
  return Unit{};
}

}  // namespace dlcp::datapath
