// A fabric with every target, planned and rendered in several threads: results are in the intent's
// order, each switch is visited once, documents are released, and shared imports happen once.
// ThreadSanitizer also runs this test.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "catch.h"
#include "switch/cli/load.h"
#include "switch/cli/output_folder/folder.h"
#include "switch/vendors/vendor.h"

using namespace dlcp::fabric;
namespace fs = std::filesystem;

namespace {

class Scratch {
 public:
  Scratch() : path_(fs::temp_directory_path() / ("dlcp-switch-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Scratch() { fs::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string entry(const char* name, const char* os, const char* version, const char* asic,
                  const std::string& extra = "") {
  return std::string("  - name: ") + name + "\n    os: " + os + "\n    version: \"" + version +
         "\"\n    asic: " + asic + "\n    role: leaf\n" + extra +
         "    ports:\n      - {ports: \"Ethernet[0-24:8]\", role: fabric}\n";
}

std::string fabric_text() {
  return "fabric: {name: test, base_rtt: 12us, link_speed: 400G}\n"
         "site:\n  dscp_map: {26: 3, CS6: 6}\n  pfc_priorities: [3]\nswitches:\n" +
         entry("sonic[1-24]", "sonic", "202311", "tomahawk4") +
         entry("tc[1-24]", "tc", "6.1", "software") +
         entry("imported[1-24]", "sonic", "202311", "tomahawk4",
               "    running_config: " DLCP_SWITCH_DATA "/sonic/leaf.config_db.json\n") +
         entry("last", "sonic", "202311", "tomahawk9");
}

}  // namespace

TEST_CASE("Every switch is visited once, and the results are in the intent's order") {
  const Scratch scratch;
  std::ofstream(scratch / "intent.yaml") << fabric_text();
  std::vector<std::atomic<int>> visits(73);
  std::atomic<std::size_t> text_bytes = 0;
  std::size_t expected = 0;
  cli::IntentOptions options;
  options.file = (scratch / "intent.yaml").string();
  const auto loaded = cli::load(
      options, [&](const Intent& intent) { expected = intent.switches.size(); },
      [&](std::size_t index, const SwitchIntent& device, const SwitchPlan& plan,
          std::vector<Problem>&) {
        ++visits[index];
        if (device.name != plan.name) return;
        for (const auto& file : find_vendor(plan.os)->render(plan).files)
          text_bytes += file.text.size();
      });
  CHECK(expected == 73);
  for (std::size_t i = 0; i < 72; ++i)
    CHECK(visits[i] == 1);
  CHECK(visits[72] == 0);
  CHECK(text_bytes > 0);
  REQUIRE(loaded.plans.size() == 72);
  CHECK(loaded.plans[0].name == "sonic1");
  CHECK(loaded.plans[71].name == "imported24");
  CHECK(loaded.plans[71].site->imported);
  CHECK(loaded.plans[71].site->document == nullptr);
  std::set<std::string> errors;
  for (const Problem& problem : loaded.problems)
    if (problem.severity == Severity::kError) errors.insert(problem.what);
  CHECK(errors == std::set<std::string>{"unknown ASIC for sonic on switch 'last'"});
  CHECK(cli::outcome_of(loaded) == cli::ExitCode::kWrong);
}

TEST_CASE("A folder appears when it is committed, and refuses paths that lead out of it") {
  const Scratch scratch;
  const std::string target = (scratch / "out").string();
  {
    const cli::Folder folder(target);
    CHECK_FALSE(folder.write("leaf1/a.txt", "a", false));
    CHECK_FALSE(fs::exists(target));
  }
  CHECK_FALSE(fs::exists(target + ".partial"));
  const cli::Folder folder(target);
  CHECK(folder.write("../a.txt", "a", false));
  CHECK(folder.write("/tmp/a.txt", "a", false));
  CHECK_FALSE(folder.write("leaf1/deep/run.sh", "#!/bin/sh\n", true));
  const auto outcome = folder.commit();
  CHECK_FALSE(outcome.problem);
  CHECK(outcome.kept.empty());
  CHECK(outcome.stale.empty());
  CHECK((fs::status(target + "/leaf1/deep/run.sh").permissions() & fs::perms::owner_exec) !=
        fs::perms::none);
}

TEST_CASE("A folder is written by one run at a time, and files of an interrupted run are removed") {
  const Scratch scratch;
  const std::string target = (scratch / "out").string();
  fs::create_directories(target + ".partial/leaf9");
  {
    const cli::Folder first(target);
    CHECK_FALSE(first.write("leaf1/a.txt", "a", false));
    {
      const cli::Folder second(target);
      const auto problem = second.write("leaf1/a.txt", "b", false);
      REQUIRE(problem);
      CHECK(problem->what.find("another dlcp-switch is writing to this folder") !=
            std::string::npos);
    }
    CHECK_FALSE(first.commit().problem);
    CHECK_FALSE(fs::exists(target + "/leaf9"));
    CHECK(fs::exists(target + "/leaf1/a.txt"));
    const cli::Folder third(target);  // the first has committed, although the object still exists
    CHECK_FALSE(third.write("leaf1/a.txt", "c", false));
  }
  CHECK_FALSE(fs::exists(target + ".partial"));
}
