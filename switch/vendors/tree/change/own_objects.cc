#include "switch/vendors/tree/change/own_objects.h"

#include <algorithm>

#include "switch/vendors/tree/import/facts.h"

namespace dlcp::fabric::tree {
namespace {

Row removal(const std::string& statement) {
  return {leaf_path(statement), {statement}, {}, Change::kOverwrite, false};
}

}  // namespace

std::string leaf_path(const std::string& statement) {
  return statement.substr(0, statement.rfind(' '));
}

std::string leaf_value(const std::string& statement) {
  return statement.substr(statement.rfind(' ') + 1);
}

std::string OwnObjects::root_of(const std::string& statement) const {
  for (const ObjectKind& kind : target_.objects) {
    std::size_t taken = 0;
    const auto object = kind.root.begins(statement, taken);
    if (object && is_own(held(*object, "name"))) return statement.substr(0, taken);
  }
  return "";
}

std::string OwnObjects::referred(const std::string& statement) const {
  for (const ObjectKind& kind : target_.objects)
    for (const Pattern& pattern : kind.bindings) {
      const auto binding = pattern.match(statement);
      if (!binding || !is_own(held(*binding, "name"))) continue;
      return kind.root.filled({{"name", held(*binding, "name")}});
    }
  return "";
}

// A port has the object in addition to the site's: the row belongs to DLCP.
bool OwnObjects::is_own_binding(const std::string& statement, std::string& port) const {
  for (const ObjectKind& kind : target_.objects)
    for (const Pattern& pattern : kind.bindings) {
      const auto binding = kind.copied ? std::nullopt : pattern.match(statement);
      if (!binding || !is_own(held(*binding, "name"))) continue;
      port = held(*binding, "port");
      return true;
    }
  return false;
}

void OwnObjects::complete(Patch& patch, std::set<std::string>& touched) const {
  std::set<std::string> written;
  for (const auto& scope : touched)
    if (const auto root = root_of(scope + " "); !root.empty()) written.insert(root);
  for (const Statement& one : running_)
    if (!one.implied && written.count(root_of(one.text)) != 0 &&
        touched.insert(leaf_path(one.text)).second)
      patch.rows.push_back(removal(one.text));
}

void OwnObjects::unbind(Patch& patch, const std::vector<std::string>& ports,
                        std::set<std::string>& touched) const {
  std::string port;
  for (const Statement& one : running_)
    if (is_own_binding(one.text, port) &&
        std::find(ports.begin(), ports.end(), port) != ports.end() &&
        touched.insert(leaf_path(one.text)).second)
      patch.rows.push_back(removal(one.text));
}

Patch OwnObjects::stale(const std::vector<Patch>& patches, const std::set<std::string>& touched,
                        std::set<std::string>& kept) const {
  std::set<std::string> roots;  // of objects that ports will use
  for (const Statement& one : running_)
    if (touched.count(leaf_path(one.text)) == 0) roots.insert(referred(one.text));
  for (const Patch& patch : patches)
    for (const Row& row : patch.rows)
      for (const auto& statement : row.after)
        roots.insert(referred(statement));
  Patch patch{"90-cleanup", {}};
  for (const Statement& one : running_) {
    const auto root = root_of(one.text);
    if (root.empty() || one.implied || touched.count(leaf_path(one.text)) != 0) continue;
    if (roots.count(root) == 0)
      patch.rows.push_back(removal(one.text));
    else
      kept.insert(root);
  }
  return patch;
}

}  // namespace dlcp::fabric::tree
