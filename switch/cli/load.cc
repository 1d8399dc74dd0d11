#include "switch/cli/load.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "switch/model/intent_file.h"
#include "switch/model/intent_keys.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kFileBytesMax = 64u << 20;

Problem unreadable(const std::string& path, std::string why) {
  Problem problem;
  problem.file = path;
  problem.what = "cannot read the file";
  problem.seen = path;
  problem.hint = std::move(why);
  return problem;
}

Checked<SiteConfig> import_site(const std::string& os, const std::string& file,
                                const std::string& text) {
  const Vendor* const vendor = find_vendor(os);
  if (vendor != nullptr) return vendor->import({file, text});
  Problem problem;
  problem.file = file;
  problem.what = fmt::format("no import for the operating system '{}'", os);
  problem.expected = "sonic, cumulus, eos or tc";
  return Checked<SiteConfig>::failed(std::move(problem));
}

// Keeps one switch; an unknown name is an error with the nearest one.
void keep_only(const std::string& name, Intent& intent, std::vector<Problem>& problems) {
  std::vector<std::string_view> names;
  for (const SwitchIntent& device : intent.switches)
    names.push_back(device.name);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    Problem problem;
    problem.file = intent.file;
    problem.what = "no switch of this name";
    problem.seen = name;
    const std::string like = nearest(name, names);
    if (!like.empty()) problem.hint = fmt::format("did you mean '{}'?", like);
    problems.push_back(std::move(problem));
    return;
  }
  std::erase_if(intent.switches,
                [&name](const SwitchIntent& device) { return device.name != name; });
}

}  // namespace

void add_intent_options(CLI::App& verb, IntentOptions& options) {
  verb.add_option("INTENT", options.file, "Intent file (YAML); `dlcp-switch init` writes a sample")
      ->required();
  verb.add_option("--switch", options.only, "Only the switch of this name");
  verb.add_flag("--json", options.json, "One JSON object on standard output");
}

Checked<std::string> read_file(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return Checked<std::string>::failed(unreadable(path, error.message()));
  if (size > kFileBytesMax) {
    return Checked<std::string>::failed(unreadable(path, "larger than 64 MiB"));
  }
  std::ifstream stream(path, std::ios::binary);
  Checked<std::string> result;
  result.value.emplace(size, '\0');
  stream.read(result.value->data(), static_cast<std::streamsize>(size));
  if (!stream) return Checked<std::string>::failed(unreadable(path, "read error"));
  return result;
}

Loaded load(const IntentOptions& options) {
  Loaded loaded;
  auto text = read_file(options.file);
  if (!text.value) {
    loaded.problems = std::move(text.problems);
    loaded.unreadable = true;
    return loaded;
  }
  const fs::path folder = fs::path(options.file).parent_path();
  const Sources sources{
      [&folder](const std::string& file) { return read_file((folder / file).string()); },
      import_site};
  auto intent = read_intent(options.file, *text.value, sources);
  loaded.problems = std::move(intent.problems);
  if (!intent.value) return loaded;
  if (!options.only.empty()) keep_only(options.only, *intent.value, loaded.problems);
  if (has_errors(loaded.problems)) return loaded;
  loaded.plans.reserve(intent.value->switches.size());
  for (const SwitchIntent& device : intent.value->switches) {
    auto plan = plan_switch(*intent.value, device);
    std::move(plan.problems.begin(), plan.problems.end(), std::back_inserter(loaded.problems));
    if (!plan.value) continue;
    auto found = lint_switch(*intent.value, device, *plan.value);
    std::move(found.begin(), found.end(), std::back_inserter(loaded.problems));
    loaded.plans.push_back(std::move(*plan.value));
  }
  auto found = lint_fabric(*intent.value, loaded.plans);
  std::move(found.begin(), found.end(), std::back_inserter(loaded.problems));
  loaded.intent = std::move(intent.value);
  return loaded;
}

ExitCode outcome_of(const Loaded& loaded) {
  if (loaded.unreadable) return ExitCode::kFiles;
  return has_errors(loaded.problems) ? ExitCode::kWrong : ExitCode::kOk;
}

}  // namespace dlcp::fabric::cli
