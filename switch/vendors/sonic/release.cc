#include "switch/vendors/sonic/release.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "switch/vendors/embedded.h"

namespace dlcp::fabric::sonic {
namespace {

using Json = nlohmann::json;

const Json& facts() {
  static const Json kFacts = Json::parse(embedded::kSonicReleases);
  return kFacts;
}

// Rows that a change adds must also be replaceable by a later change and removable by a rollback.
bool takes_rows(const Json& operations) {
  constexpr const char* kAll[] = {"add", "remove", "replace"};
  return std::all_of(std::begin(kAll), std::end(kAll), [&](const char* operation) {
    return std::find(operations.begin(), operations.end(), operation) != operations.end();
  });
}

}  // namespace

Release::Release(std::string_view version, std::string_view asic) {
  const auto names = facts().at("releases").get<std::vector<std::string>>();
  name_ = names.back();
  const auto digits = version.substr(0, 6);
  if (digits.size() == 6 && digits.find_first_not_of("0123456789") == std::string_view::npos) {
    const auto newer = std::find_if(names.begin(), names.end(),
                                    [&](const std::string& name) { return name > digits; });
    name_ = newer == names.begin() ? names.front() : *std::prev(newer);
  }
  for (const auto& entry : facts().at("updater")) {  // the last one that applies counts
    if (!holds(entry.at("since").get<std::string>())) continue;
    rules_.clear();
    const Json& asics = entry.at("asics");
    knows_asic_ = std::find(asics.begin(), asics.end(), asic) != asics.end();
    for (const auto& [table, rules] : entry.at("tables").items()) {
      const Json& fields = rules.at("fields");
      const auto whole = fields.find("");
      rules_[table] = {takes_rows(rules.at("rows")),
                       whole != fields.end() && takes_rows(*whole) && knows_asic_};
    }
  }
}

bool Release::updater_takes(std::string_view table, bool table_is_there, bool changes) const {
  const auto found = rules_.find(table);
  if (found == rules_.end()) return true;
  if (found->second.rows) return !changes || knows_asic_;
  return found->second.fields && table_is_there;  // a new table has no row to change
}

std::string asic_of(std::string_view hwsku) {
  for (const auto& row : facts().at("hardware")) {
    const auto& part = row.at(0).get_ref<const std::string&>();
    if (hwsku.find(part) != std::string_view::npos) return row.at(1).get<std::string>();
  }
  return "";
}

std::optional<unsigned> hash_seed_of(std::string_view type) {
  for (const auto& row : facts().at("hash_seeds"))
    if (type.find(row.at(0).get_ref<const std::string&>()) != std::string_view::npos)
      return row.at(1).get<unsigned>();
  return std::nullopt;
}

bool Release::has_table(std::string_view table) const {
  const auto& since = facts().at("tables_since");
  const auto found = since.find(std::string(table));
  return found == since.end() || holds(found->get<std::string>());
}

}  // namespace dlcp::fabric::sonic
