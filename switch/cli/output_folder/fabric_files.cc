#include "switch/cli/output_folder/fabric_files.h"

#include <fmt/core.h>

#include "switch/cli/output_folder/folder.h"
#include "switch/cli/report/output.h"

namespace dlcp::fabric::cli {
namespace {

std::optional<Problem> write(const std::string& path, const std::vector<TextFile>& files) {
  const Folder folder(path);
  for (const TextFile& file : files)
    if (auto problem = folder.write(file.name, file.text, file.executable)) return problem;
  return folder.commit().problem;
}

}  // namespace

ExitCode write_fabric_files(Loaded loaded, const IntentOptions& options, const std::string& folder,
                            const std::function<std::vector<TextFile>(const Intent&)>& make,
                            const std::string& next) {
  ExitCode outcome = outcome_of(loaded);
  std::vector<TextFile> files;
  if (outcome == ExitCode::kOk) {
    files = make(*loaded.intent);
    if (auto problem = write(folder, files)) {
      loaded.problems.push_back(std::move(*problem));
      outcome = ExitCode::kFiles;
    }
  }
  if (options.json) {
    std::vector<std::string> names;
    for (const TextFile& file : files)
      names.push_back(file.name);
    fmt::print("{}", files_json(names, loaded.problems));
    return outcome;
  }
  print_problems(loaded.problems, {.all = options.all});
  if (outcome == ExitCode::kOk)
    fmt::print("{} in {}{}\n", counted(files.size(), "file"), folder, next);
  else
    fmt::print(stderr, "nothing was written\n");
  return outcome;
}

}  // namespace dlcp::fabric::cli
