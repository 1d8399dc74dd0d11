// The class overrides that plugin and dlcp-switch read: any text gives a table that is in range.
#include "dlcp/class_overrides.h"

#include "fuzz_input.h"

using dlcp::test::require;

std::vector<std::string> fuzz_seeds() {
  return {"control.dscp = 48\nbulk-middle.drop_precedence = 3\n",
          "bulk.levels = 3\n# words\nurgent-protected.queue = bulk\nexact.ecn = ect1\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  dlcp::TrafficClassTable table = dlcp::kTrafficClasses;
  dlcp::LevelShares shares = dlcp::kTwoLevelShares;
  const auto errors = dlcp::apply_class_overrides(text, table, shares);
  for (const auto& error : errors)
    require(!error.what.empty(), "an error has a message");
  require(shares.bulk_middle == 0 || shares.bulk_middle == dlcp::kThreeLevelShares.bulk_middle,
          "there are two levels or three");
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto& row = table[i];
    const auto& before = dlcp::kTrafficClasses[i];
    require(row.dscp < 64, "DSCPs have six bits");
    require(row.drop_precedence >= 1 && row.drop_precedence <= 3, "precedences are 1 to 3");
    require((row.ecn == dlcp::Ecn::kNotEct) == (before.ecn == dlcp::Ecn::kNotEct),
            "what is droppable stays so");
    require((row.queue == dlcp::SwitchQueue::kStrictHigh) ==
                (before.queue == dlcp::SwitchQueue::kStrictHigh),
            "the strict queue is control's");
  }
  return 0;
}
