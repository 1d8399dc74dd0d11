// The value of `dlcp bench --plugin`: nothing of the text is lost, and all names are valid.
#include "cli/plugin/plugin_choice.h"
#include "fuzz_input.h"

using namespace dlcp::cli;
using dlcp::test::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const PluginChoice choice = parse_plugin_choice(text);
  const std::string settings = settings_text(choice);
  require(text == choice.name + (choice.environment.empty() ? "" : "," + settings),
          "the parts are the text");
  for (const auto& [name, value] : choice.environment) {
    require(!name.empty() && name.find_first_of("=,") == std::string::npos, "names are valid");
    require(parse_plugin_choice(value).environment.empty(), "a value contains no setting");
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {"dlcp", "a.so,X=1,Y_2=b,c", "lib/a,b.so,DLCP_FAULT=drop=0.1,seed=2", ",A=,B=,"};
}
