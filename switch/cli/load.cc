#include "switch/cli/load.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "switch/model/intent_file/intent_file.h"
#include "switch/model/intent_file/intent_keys.h"
#include "switch/model/site/site_import.h"
#include "switch/model/text/utf8.h"
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
  problem.expected = "a system that `dlcp-switch targets` lists";
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
    problem.what = "there is no switch with this name";
    problem.seen = name;
    const std::string like = nearest(name, names);
    if (!like.empty()) problem.hint = fmt::format("did you mean '{}'?", like);
    problems.push_back(std::move(problem));
    return;
  }
  std::erase_if(intent.switches,
                [&name](const SwitchIntent& device) { return device.name != name; });
}

// The result for one switch.
struct Outcome {
  std::optional<SwitchPlan> plan;
  std::vector<Problem> problems;
};

Outcome process(const Intent& intent, std::size_t index, SiteImports& imports, const Visit& visit) {
  Outcome outcome;
  const auto keep = [&outcome](std::vector<Problem> problems) {
    std::move(problems.begin(), problems.end(), std::back_inserter(outcome.problems));
  };
  SwitchIntent device = intent.switches[index];
  auto site = imports.site_of(device);
  keep(std::move(site.problems));
  if (!site.value) return outcome;
  device.site = *site.value;
  auto plan = plan_switch(intent, device);
  keep(std::move(plan.problems));
  if (!plan.value) return outcome;
  keep(lint_switch(intent, device, *plan.value));
  if (visit && !has_errors(outcome.problems)) visit(index, device, *plan.value, outcome.problems);
  if (device.site->document != nullptr) {
    auto light = std::make_shared<SiteConfig>(*device.site);
    light->document.reset();
    plan.value->site = std::move(light);
  }
  outcome.plan = std::move(plan.value);
  return outcome;
}

void plan_all(const Intent& intent, const Sources& sources, const Visit& visit, Loaded& loaded) {
  constexpr std::size_t kSwitchesPerThread = 8;
  constexpr std::size_t kThreadsMax = 16;
  SiteImports imports(intent.file, sources);
  const std::size_t count = intent.switches.size();
  std::vector<Outcome> outcomes(count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++)
      outcomes[i] = process(intent, i, imports, visit);
  };
  std::vector<std::thread> threads;
  const std::size_t wanted = std::min(
      {std::size_t{std::thread::hardware_concurrency()}, count / kSwitchesPerThread, kThreadsMax});
  for (std::size_t i = 1; i < wanted; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread& thread : threads)
    thread.join();
  for (Outcome& outcome : outcomes) {
    std::move(outcome.problems.begin(), outcome.problems.end(),
              std::back_inserter(loaded.problems));
    if (outcome.plan) loaded.plans.push_back(std::move(*outcome.plan));
  }
}

}  // namespace

Checked<std::string> read_file(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return Checked<std::string>::failed(unreadable(path, error.message()));
  if (size > kFileBytesMax)
    return Checked<std::string>::failed(unreadable(path, "the file is larger than 64 MiB"));
  std::ifstream stream(path, std::ios::binary);
  Checked<std::string> result;
  result.value.emplace(size, '\0');
  stream.read(result.value->data(), static_cast<std::streamsize>(size));
  if (!stream) return Checked<std::string>::failed(unreadable(path, "read error"));
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // PowerShell writes one
  if (result.value->starts_with(kByteOrderMark)) result.value->erase(0, kByteOrderMark.size());
  if (const auto line = first_line_not_utf8(*result.value)) {
    Problem problem = unreadable(path,
                                 "convert it, for example with: iconv -f LATIN1 -t UTF-8, or -f "
                                 "UTF-16 for PowerShell's output");
    problem.what = fmt::format("line {} of the file is not UTF-8", *line);
    return Checked<std::string>::failed(std::move(problem));
  }
  return result;
}

Loaded load(const IntentOptions& options, const std::function<void(const Intent&)>& begin,
            const Visit& visit, const std::function<void(const Intent&)>& whole) {
  Loaded loaded;
  auto text = read_file(options.file);
  if (!text.value) {
    loaded.problems = std::move(text.problems);
    loaded.unreadable = true;
    return loaded;
  }
  const fs::path folder = fs::path(options.file).parent_path();
  std::atomic<bool> unreadable = false;
  const Sources sources{[&](const std::string& file) {
                          auto read = read_file((folder / file).string());
                          if (!read.value) unreadable = true;
                          return read;
                        },
                        import_site, true};
  auto intent = read_intent(options.file, *text.value, sources);
  loaded.problems = std::move(intent.problems);
  loaded.unreadable = unreadable;
  if (!intent.value) return loaded;
  if (whole) whole(*intent.value);
  if (!options.only.empty()) keep_only(options.only, *intent.value, loaded.problems);
  if (has_errors(loaded.problems)) return loaded;
  if (begin) begin(*intent.value);
  plan_all(*intent.value, sources, visit, loaded);
  loaded.unreadable = unreadable;
  auto found = lint_fabric(*intent.value, loaded.plans);
  std::move(found.begin(), found.end(), std::back_inserter(loaded.problems));
  loaded.intent = std::move(intent.value);
  return loaded;
}

void render_for_problems(std::size_t /*index*/, const SwitchIntent& /*device*/,
                         const SwitchPlan& plan, std::vector<Problem>& problems) {
  const Vendor* const vendor = find_vendor(plan.os);
  if (vendor == nullptr) return;
  auto rendering = vendor->render(plan);
  std::move(rendering.problems.begin(), rendering.problems.end(), std::back_inserter(problems));
}

ExitCode outcome_of(const Loaded& loaded) {
  if (loaded.unreadable) return ExitCode::kFiles;
  return has_errors(loaded.problems) ? ExitCode::kWrong : ExitCode::kOk;
}

}  // namespace dlcp::fabric::cli
