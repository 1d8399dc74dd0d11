// Renders a fixture with a hand-made plan into a folder, for tests that run the output:
// render_fixture OS FOLDER RUNNING HOST,HOST UPLINK,UPLINK [VERSION]
#include <filesystem>
#include <iostream>
#include <sstream>

#include "vendor_plan.h"

namespace {

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');)
    names.push_back(name);
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6 && argc != 7) return 2;
  const auto& vendor = *dlcp::fabric::find_vendor(argv[1]);
  auto plan = dlcp::test::make_plan(dlcp::test::import_text(vendor, dlcp::test::read_text(argv[3])),
                                    list_of(argv[4]), list_of(argv[5]));
  if (argc == 7) plan.version = argv[6];
  const auto rendering = vendor.render(plan);
  std::cerr << dlcp::test::problems_of(rendering);
  for (const auto& file : rendering.files) {
    const auto path = std::filesystem::path(argv[2]) / file.path;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << file.text;
  }
  return rendering.problems.empty() ? 0 : 1;
}
