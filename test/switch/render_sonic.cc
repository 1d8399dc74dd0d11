// Writes what the SONiC renderer makes of the fixture and a plan made by hand into a folder, for
// tests that run the output: render_sonic FOLDER [CONFIG_DB]
#include <filesystem>
#include <iostream>

#include "vendor_plan.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto& sonic = *dlcp::fabric::find_vendor("sonic");
  const std::string source = argc > 2 ? argv[2] : DLCP_SWITCH_DATA "/sonic/leaf.config_db.json";
  const auto plan =
      dlcp::test::make_plan(dlcp::test::import_text(sonic, dlcp::test::read_text(source)),
                            {"Ethernet0", "Ethernet8"}, {"Ethernet32", "Ethernet40"});
  const auto rendering = sonic.render(plan);
  std::cerr << dlcp::test::problems_of(rendering);
  for (const auto& file : rendering.files) {
    const auto path = std::filesystem::path(argv[1]) / file.path;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << file.text;
  }
  return rendering.problems.empty() ? 0 : 1;
}
