// The files of a Cumulus change: per patch a YAML of what is set, a list of what is unset, the same
// backwards, and what guard.py compares with the running configuration.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "switch/vendors/cumulus/document.h"
#include "switch/vendors/embedded.h"

namespace dlcp::fabric::cumulus {
namespace {

std::string json_text(const std::optional<std::string>& value) {
  return value ? "\"" + *value + "\"" : "null";
}

// A profile of DLCP's of which nothing is left on that side of the change.
bool is_whole(const Patch& patch, const std::string& root, bool undo) {
  return is_own(root.substr(root.rfind('/') + 1)) &&
         std::all_of(patch.leaves.begin(), patch.leaves.end(), [&](const auto& other) {
           return other.path.compare(0, root.size() + 1, root + "/") != 0 ||
                  !(undo ? other.before : other.after);
         });
}

// "qos/FEATURE/NAME", "acl/NAME": what is unset as a whole where nothing of it is left; else "".
std::string root_of(const std::string& path) {
  if (path.compare(0, 4, "qos/") != 0 && path.compare(0, 4, "acl/") != 0) return "";
  auto slash = path.find('/', 4);
  if (path[0] == 'q' && slash != std::string::npos) slash = path.find('/', slash + 1);
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// Paths to unset: a whole profile of DLCP's where the change made all of it, else single leaves.
std::string unset_text(const Patch& patch, bool undo) {
  std::set<std::string> lines;
  std::map<std::string, bool> whole_roots;
  for (const auto& leaf : patch.leaves) {
    const auto& from = undo ? leaf.after : leaf.before;
    const auto& to = undo ? leaf.before : leaf.after;
    if (!from || to) continue;
    std::string path = leaf.path;
    if (const auto root = root_of(path); !root.empty()) {
      const auto [known, is_new] = whole_roots.try_emplace(root, false);
      if (is_new) known->second = is_whole(patch, root, undo);
      const bool whole = known->second;
      if (whole && (undo || patch.name == "90-cleanup")) path = root;
    }
    if (path.ends_with("/inbound")) path.erase(path.rfind('/'));  // the binding, not its direction
    std::replace(path.begin(), path.end(), '/', ' ');
    lines.insert(path);
  }
  std::string text;
  for (const auto& line : lines)
    text += line + "\n";
  return text;
}

std::string set_text(const Patch& patch, bool undo) {
  Leaves leaves;
  for (const auto& leaf : patch.leaves)
    if (const auto& to = undo ? leaf.before : leaf.after) leaves[leaf.path] = *to;
  return leaves.empty() ? std::string() : yaml_of(leaves);
}

std::string rows_text(const Patch& patch) {
  std::string text = "{\n";
  for (const auto& leaf : patch.leaves)
    text += fmt::format("  \"{}\": [{}, {}]{}\n", leaf.path, json_text(leaf.before),
                        json_text(leaf.after), &leaf == &patch.leaves.back() ? "" : ",");
  return text + "}\n";
}

void add_file(Rendering& out, const std::string& path, std::string text, FileKind kind) {
  if (!text.empty()) out.files.push_back({path, std::move(text), kind, true});
}

// Property names are documented, the spelling of the values is only known from examples.
void write_alpha(const SwitchPlan& plan, const Leaves& running, Rendering& out) {
  std::set<std::string> lines, undo;
  for (const auto& group : plan.groups)
    for (const auto& queue : group.queues) {
      const auto path = fmt::format(
          "qos advance-buffer-config default-global egress-lossy-buffer traffic-class {} "
          "shared-alpha",
          queue.queue);
      auto slashed = path;
      std::replace(slashed.begin(), slashed.end(), ' ', '/');
      const int n = queue.alpha_exponent;
      const auto literal =
          n < 0 ? fmt::format("alpha_1_{}", 1 << -n) : fmt::format("alpha_{}", 1 << n);
      const auto now = value_of(running, slashed);
      if (now == literal) continue;
      lines.insert(fmt::format("nv set {} {}", path, literal));
      undo.insert(now.empty() ? "nv unset " + path : fmt::format("nv set {} {}", path, now));
    }
  if (lines.empty()) return;
  const std::string head =
      "# UNVERIFIED: no grammar has checked the alpha values below; compare with `nv "
      "list-commands`\n"
      "# Changes buffers, which drops packets for a moment. Run by hand, then: nv config diff\n";
  std::string text = head, back = head;
  for (const auto& line : lines)
    text += line + "\n";
  for (const auto& line : undo)
    back += line + "\n";
  out.files.push_back({"30-alpha.unverified", text, FileKind::kConfig, false});
  out.files.push_back({"rollback/30-alpha.unverified", back, FileKind::kRollback, false});
}

}  // namespace

void write_files(const SwitchPlan& plan, const Leaves& running, std::vector<Patch>& patches,
                 Rendering& out) {
  bool any = false;
  for (auto& patch : patches) {
    if (patch.leaves.empty()) continue;
    any = true;
    std::sort(patch.leaves.begin(), patch.leaves.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    add_file(out, patch.name + ".yaml", set_text(patch, false), FileKind::kConfig);
    add_file(out, patch.name + ".unset", unset_text(patch, false), FileKind::kConfig);
    add_file(out, "rollback/" + patch.name + ".yaml", set_text(patch, true), FileKind::kRollback);
    add_file(out, "rollback/" + patch.name + ".unset", unset_text(patch, true),
             FileKind::kRollback);
    add_file(out, "guard/" + patch.name + ".json", rows_text(patch), FileKind::kConfig);
    for (const auto& leaf : patch.leaves)
      out.changes.push_back(
          {leaf.path, leaf.before.value_or(""), leaf.after.value_or(""), leaf.impact});
  }
  if (!any) return;
  out.files.push_back(
      {"apply.sh", std::string(embedded::kCumulusApply), FileKind::kConfig, true, true});
  out.files.push_back(
      {"rollback.sh", std::string(embedded::kCumulusRollback), FileKind::kRollback, true, true});
  out.files.push_back(
      {"guard.py", std::string(embedded::kCumulusGuard), FileKind::kConfig, true, true});
  write_alpha(plan, running, out);
}

}  // namespace dlcp::fabric::cumulus
