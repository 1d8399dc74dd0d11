// The override text that the plugin and dlcp-switch both read.
#include "dlcp/class_overrides.h"

#include "catch.h"

using namespace dlcp;

namespace {

TrafficClassTable table_with(std::string_view text) {
  TrafficClassTable table = kTrafficClasses;
  LevelShares shares = kTwoLevelShares;
  for (const ClassOverrideError& error : apply_class_overrides(text, table, shares))
    FAIL("line " << error.line << ": " << error.what << ' ' << error.seen);
  return table;
}

ClassOverrideError only_error(std::string_view text) {
  TrafficClassTable table = kTrafficClasses;
  LevelShares shares = kTwoLevelShares;
  const auto errors = apply_class_overrides(text, table, shares);
  REQUIRE(errors.size() == 1);
  return errors.front();
}

}  // namespace

TEST_CASE("An empty text changes nothing") {
  const auto table = table_with("\n  \n# only words\r\n");
  for (std::size_t i = 0; i < table.size(); ++i)
    CHECK(table[i].dscp == kTrafficClasses[i].dscp);
}

TEST_CASE("Every field of a class can be set, and blanks and comments are ignored") {
  const auto table = table_with(
      "control.dscp=48\n\tbulk-middle.drop_precedence "
      "\t= 3 # with droppable\r\nurgent-protected.queue = bulk\nexact.ecn = ect1");
  CHECK(table[0].dscp == 48);
  CHECK(table[2].queue == SwitchQueue::kBulk);
  CHECK(table[1].ecn == Ecn::kEct1);
}

TEST_CASE("Errors have the line, the value seen and a correct value") {
  const auto range = only_error("# one\n\ncontrol.dscp = 64\n");
  CHECK(range.line == 3);
  CHECK(range.seen == "64");
  CHECK(range.expected == "0 to 63");
  CHECK(only_error("control.dscp = 0x10").seen == "0x10");
  CHECK(only_error("control.dscp = -1").line == 1);
  CHECK(only_error("control.dscp =").seen.empty());
  CHECK(only_error("bulk.dscp = 3").what == "unknown class");
  CHECK(only_error("control = 3").what == "not an override");
  CHECK(only_error("exact.queue = strict-high").expected == "exact, urgent or bulk");
}

TEST_CASE("Fields that make a class droppable or strict cannot be overridden") {
  CHECK(only_error("bulk-droppable.ecn = ect0").line == 1);
  CHECK(only_error("exact.ecn = not-ect").line == 1);
  CHECK(only_error("control.queue = bulk").line == 1);
}

TEST_CASE("Classes of one queue may share a DSCP, others may not") {
  table_with("bulk-middle.dscp = 14\n");
  const auto error = only_error("bulk-middle.dscp = 18\n");
  CHECK(error.line == 0);
  CHECK(error.seen == "18");
}

TEST_CASE("A wrong line does not prevent the correct lines from being applied") {
  TrafficClassTable table = kTrafficClasses;
  LevelShares shares = kTwoLevelShares;
  CHECK(apply_class_overrides("nonsense\ncontrol.dscp = 48", table, shares).size() == 1);
  CHECK(table[0].dscp == 48);
}

TEST_CASE("bulk.levels sets whether senders and switches use the middle level") {
  TrafficClassTable table = kTrafficClasses;
  LevelShares shares = kTwoLevelShares;
  CHECK(apply_class_overrides("bulk.levels = 3 # where all switches know colours", table, shares)
            .empty());
  CHECK(shares.bulk_middle == kThreeLevelShares.bulk_middle);
  CHECK(apply_class_overrides("bulk.levels = 2", table, shares).empty());
  CHECK(shares.bulk_middle == 0);
  CHECK(only_error("bulk.levels = 4").expected == "2 or 3");
}
