#include "switch/model/site/site_import.h"

#include "switch/model/intent_file/section.h"

namespace dlcp::fabric {

using Site = std::shared_ptr<const SiteConfig>;

Checked<Site> SiteImports::site_of(const SwitchIntent& device) {
  if (device.import == nullptr) {
    Checked<Site> declared;
    declared.value = device.site;
    return declared;
  }
  const PendingImport& wanted = *device.import;
  if (!wanted.shared) return import(device.os, wanted);
  const std::lock_guard lock(shared_mutex_);
  const auto key = device.os + '\n' + wanted.file + '\n' + std::to_string(wanted.line);
  const auto known = shared_.find(key);
  if (known != shared_.end()) return known->second;
  return shared_.emplace(key, import(device.os, wanted)).first->second;
}

Checked<Site> SiteImports::import(const std::string& os, const PendingImport& wanted) const {
  Reading reading{intent_file_, {}};
  const auto fail = [&reading](std::vector<Problem> problems) {
    for (Problem& problem : problems)
      reading.problems.push_back(std::move(problem));
    Checked<Site> failed;
    failed.problems = std::move(reading.problems);
    return failed;
  };
  auto text = sources_.read(wanted.file);
  if (!text.value) {
    for (Problem& problem : text.problems) {
      problem.file = intent_file_;
      problem.line = wanted.line;
    }
    return fail(std::move(text.problems));
  }
  auto imported = sources_.import(os, wanted.file, *text.value);
  if (!imported.value) return fail(std::move(imported.problems));
  reading.problems = std::move(imported.problems);
  imported.value->source = wanted.file;
  imported.value->imported = true;
  Checked<Site> result;
  result.value = std::make_shared<const SiteConfig>(
      complete_import(reading, std::move(*imported.value), wanted.declared.get(), wanted.line));
  result.problems = std::move(reading.problems);
  if (has_errors(result.problems)) result.value.reset();
  return result;
}

}  // namespace dlcp::fabric
