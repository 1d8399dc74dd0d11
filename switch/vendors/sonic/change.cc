#include "switch/vendors/sonic/change.h"

#include <algorithm>

namespace dlcp::fabric::sonic {
namespace {

constexpr const char* kDefinitionTables[] = {"WRED_PROFILE",    "SCHEDULER",
                                             "BUFFER_PROFILE",  "DSCP_TO_TC_MAP",
                                             "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP",
                                             "TC_TO_DSCP_MAP"};
constexpr const char* kReferringTables[] = {"QUEUE", "BUFFER_QUEUE", "PORT_QOS_MAP"};

}  // namespace

void ChangeSet::begin(std::string patch) {
  patches_.push_back({std::move(patch), {}, {}});
}

void ChangeSet::put(const std::string& table, const std::string& key, const Json& row,
                    Impact impact) {
  if (!wanted_.emplace(table, key).second) return;
  const Json* now = find_row(config_, table, key);
  if (now != nullptr && *now == row) return;
  Patch& patch = patch_for(table, now != nullptr);
  if (now == nullptr && !config_.contains(table) && created_.insert(table).second)
    patch.tables.push_back(table);
  RowChange change{table, key, {}, row, impact};
  if (now != nullptr) change.before = *now;
  patch.rows.push_back(std::move(change));
}

void ChangeSet::remove(const std::string& table, const std::string& key, Impact impact) {
  const Json* now = find_row(config_, table, key);
  if (now == nullptr || !wanted_.emplace(table, key).second) return;
  patch_for(table, false).rows.push_back({table, key, *now, std::nullopt, impact});
}

Patch& ChangeSet::patch_for(const std::string& table, bool changes) {
  const bool takes = release_.updater_takes(table, config_.contains(table), changes);
  return takes ? patches_.back() : direct_;
}

std::set<std::string> ChangeSet::references_left() const {
  std::set<std::string> names;
  const auto add = [&](const Json& row) {
    for (const auto& value : row)
      if (value.is_string() && is_own(value.get<std::string>()))
        names.insert(value.get<std::string>());
  };
  std::map<std::pair<std::string, std::string>, const Json*> after;
  for (const auto& patch : patches_)
    for (const auto& row : patch.rows)
      if (row.after) after[{row.table, row.key}] = &*row.after;
  for (const char* table : kReferringTables) {
    const auto found = config_.find(table);
    if (found == config_.end()) continue;
    for (const auto& [key, row] : found->items()) {
      const auto changed = after.find({table, key});
      add(changed == after.end() ? row : *changed->second);
    }
  }
  return names;
}

std::vector<std::string> ChangeSet::drop_stale() {
  std::vector<std::string> kept;
  Patch cleanup{"90-cleanup", {}, {}};
  Patch profiles{"95-profiles", {}, {}, true};
  std::optional<std::set<std::string>> left;
  for (const char* table : kDefinitionTables) {
    const auto found = config_.find(table);
    if (found == config_.end()) continue;
    for (const auto& [key, row] : found->items()) {
      if (!is_own(key) || wanted_.count({table, key}) != 0) continue;
      if (!left) left = references_left();
      if (left->count(key) != 0)
        kept.push_back(std::string(table) + "|" + key);
      else
        (release_.updater_takes(table) ? cleanup : profiles)
            .rows.push_back({table, key, row, std::nullopt, Impact::kHitless});
    }
  }
  if (!cleanup.rows.empty()) patches_.push_back(std::move(cleanup));
  if (!profiles.rows.empty()) patches_.push_back(std::move(profiles));
  return kept;
}

std::vector<Patch> ChangeSet::take() {
  patches_.insert(patches_.begin(), std::move(direct_));
  patches_.erase(std::remove_if(patches_.begin(), patches_.end(),
                                [](const Patch& patch) { return patch.rows.empty(); }),
                 patches_.end());
  return std::move(patches_);
}

bool queue_trims(const SwitchPlan& plan, const QueuePlan& queue) {
  return plan.features.trimming && !queue.strict;
}

BufferFate buffer_fate(const Json& config, const std::string& port, const QueuePlan& queue,
                       bool trims) {
  const auto cover = find_cover(config, "BUFFER_QUEUE", port, queue.queue);
  if (cover.row == nullptr) return BufferFate::kOwn;
  const auto name = text_field(*cover.row, "profile");
  if (name.find("lossless") != std::string::npos) return BufferFate::kLossless;
  const Json* row = find_row(config, "BUFFER_PROFILE", name);
  const bool deep =
      row != nullptr && text_field(*row, "dynamic_th") == std::to_string(queue.alpha_exponent);
  if (deep && (text_field(*row, "packet_discard_action") == "trim") == trims)
    return BufferFate::kSite;
  return cover.range.first == cover.range.last ? BufferFate::kOwn : BufferFate::kRange;
}

}  // namespace dlcp::fabric::sonic
