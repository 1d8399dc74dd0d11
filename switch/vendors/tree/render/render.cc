// The change of one switch whose target is data: compares wanted statements with the running
// configuration, row by row, and writes the change and its rollback.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "switch/plan/buffer/arithmetic.h"
#include "switch/plan/units.h"
#include "switch/vendors/embedded.h"
#include "switch/vendors/refuser.h"
#include "switch/vendors/text/numbers.h"
#include "switch/vendors/tree/change/operation_files.h"
#include "switch/vendors/tree/change/own_objects.h"
#include "switch/vendors/tree/render/wanted.h"
#include "switch/vendors/tree/target/limits.h"

namespace dlcp::fabric::tree {
namespace {

class Renderer {
 public:
  Renderer(const Target& target, const SwitchPlan& plan) : target_(target), plan_(plan) {}

  Rendering run() {
    const auto* imported = dynamic_cast<const Document*>(plan_.site->document.get());
    if (imported == nullptr) {
      declared_.statements = implied_statements(target_, {});
      declared_.by_dscp = target_.dscp_trusts.empty();
    }
    document_ = imported != nullptr ? imported : &declared_;
    Wanted wanted = wanted_statements(target_, plan_, *document_);
    out_.problems = std::move(wanted.problems);
    for (Problem& problem : scheduling_faults(target_, plan_))
      out_.problems.push_back(std::move(problem));
    for (const Statement& statement : document_->statements)
      if (const auto scope = scope_of(statement.text); scope && !statement.implied)
        running_[*scope].push_back(statement.text);
    for (const WantedPart& part : wanted.parts)
      patches_.push_back(patch_of(part));
    if (target_.leaf_rows)
      add_removals();
    else
      patches_.push_back(cleanup());
    if (!has_errors(out_.problems)) {
      write(wanted.by_hand);
      add_notes(imported != nullptr, wanted.notes);
    }
    return std::move(out_);
  }

 private:
  std::optional<std::string> scope_of(const std::string& statement) const {
    std::size_t taken = 0;
    const auto rank = rank_of(statement, taken);
    return rank == target_.scopes.size() ? std::nullopt : std::optional(statement.substr(0, taken));
  }
  // The target's scope of this statement; rows are written in the order of scopes.
  std::size_t rank_of(const std::string& statement, std::size_t& taken) const {
    const auto rank = tree::rank_of(target_, statement, taken);
    if (target_.leaf_rows) taken = statement.rfind(' ');
    return rank;
  }

  // Orders rows by their paths in the form of slashed().
  static bool comes_before(const Row& a, const Row& b) {
    const auto as_path = [](char c) { return c == ' ' ? '/' : c; };
    return std::lexicographical_compare(a.scope.begin(), a.scope.end(), b.scope.begin(),
                                        b.scope.end(),
                                        [&](char x, char y) { return as_path(x) < as_path(y); });
  }

  // For targets whose statements are rows: decides on removals statement by statement.
  void add_removals() {
    const OwnObjects objects(target_, document_->statements);
    std::set<std::string> touched(touched_.begin(), touched_.end()), kept;
    objects.complete(patches_.front(), touched);
    for (std::size_t i = 0; i < plan_.groups.size() && i + 1 < patches_.size(); ++i)
      objects.unbind(patches_[i + 1], plan_.groups[i].group.ports, touched);
    patches_.push_back(objects.stale(patches_, touched, kept));
    for (const auto& root : kept)
      note(Severity::kWarning,
           slashed(root) + " is kept, because a port outside this plan uses it");
    for (Patch& patch : patches_)
      std::sort(patch.rows.begin(), patch.rows.end(), comes_before);
  }

  Change change_of(const std::string& scope) const {
    std::size_t taken = 0;
    const auto rank = rank_of(scope, taken);
    return rank == target_.scopes.size() ? Change::kReplace : target_.scopes[rank].change;
  }

  void check_ranges(const std::string& statement) {
    const Judged judged = judge_limits(target_.ranges, statement);
    for (const RangeFault& fault : judged.faults)
      refuse_(statement + " is not valid in " + target_.title, fault.seen, fault.expected,
              "change the setting of the intent from which this value follows");
    if (target_.ranges_are_all && !judged.described)
      refuse_(statement + " is not valid in " + target_.title, statement,
              "a statement that the system has", "this is a fault of dlcp-switch");
  }

  Patch patch_of(const WantedPart& part) {
    std::vector<std::pair<std::size_t, std::string>> order;  // rank and scope
    std::unordered_map<std::string, std::vector<std::string>> after;
    const auto enclosing = enclosing_statements(part.statements);
    for (const Statement& statement : part.statements) {
      check_ranges(statement.text);
      std::size_t taken = 0;
      const auto rank = rank_of(statement.text, taken);
      const bool inside = rank < target_.scopes.size();
      if (!inside && enclosing.count(statement.text) != 0) continue;
      if (!inside) {
        refuse_("the template writes outside its scopes", statement.text, "a statement of DLCP's",
                "this is a fault of dlcp-switch");
        continue;
      }
      const auto [row, is_new] = after.try_emplace(statement.text.substr(0, taken));
      if (is_new) order.emplace_back(rank, row->first);
      row->second.push_back(statement.text);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    Patch patch{part.name, {}};
    for (const auto& [rank, scope] : order) {
      touched_.insert(scope);
      Row row{scope, running_[scope], std::move(after[scope]), target_.scopes[rank].change,
              target_.scopes[rank].hitless};
      if (!same(row.before, row.after)) patch.rows.push_back(std::move(row));
    }
    return patch;
  }

  // A statement such as "interface X" that only leads to the statements in it.
  static std::unordered_set<std::string_view> enclosing_statements(const Statements& statements) {
    std::unordered_set<std::string_view> enclosing;
    for (const Statement& statement : statements) {
      const std::string_view text = statement.text;
      for (auto at = text.find(" > "); at != std::string_view::npos; at = text.find(" > ", at + 3))
        enclosing.insert(text.substr(0, at));
    }
    return enclosing;
  }

  static bool same(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    if (a.size() != b.size()) return false;
    std::vector<std::string_view> x(a.begin(), a.end()), y(b.begin(), b.end());
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    return x == y;
  }

  // Calls `take` for every word that is a name of DLCP's.
  template <class Take>
  static void each_own_word(std::string_view text, Take take) {
    constexpr std::string_view kOwn = "DLCP";
    for (auto at = text.find(kOwn); at != std::string_view::npos; at = text.find(kOwn, at + 1)) {
      const auto word = text.substr(at, text.find(' ', at) - at);
      if ((at == 0 || text[at - 1] == ' ') && is_own(word)) take(word);
    }
  }

  static std::string own_name(std::string_view scope) {
    std::string_view first;
    each_own_word(scope, [&first](std::string_view word) {
      if (first.empty()) first = word;
    });
    return std::string(first);
  }

  // Removes rows of an earlier change that nothing refers to any more.
  Patch cleanup() {
    std::set<std::string, std::less<>> referred;
    const auto refer = [&referred](const std::string& own, const std::string& statement) {
      each_own_word(statement, [&](std::string_view word) {
        if (word != own && referred.count(word) == 0) referred.emplace(word);
      });
    };
    for (const Statement& statement : document_->statements) {
      if (own_name(statement.text).empty()) continue;
      const auto scope = scope_of(statement.text).value_or("");
      const bool goes = touched_.count(scope) != 0 || !own_name(scope).empty();
      if (!goes) refer("", statement.text);
    }
    for (const Patch& patch : patches_)
      for (const Row& row : patch.rows) {
        const auto own = own_name(row.scope);
        for (const auto& statement : row.after)
          refer(own, statement);
      }
    Patch patch{"90-cleanup", {}};
    std::vector<std::string> scopes;
    for (const auto& [scope, statements] : running_)
      if (!own_name(scope).empty() && !statements.empty() && touched_.count(scope) == 0)
        scopes.push_back(scope);
    std::sort(scopes.begin(), scopes.end());
    for (const auto& scope : scopes) {
      const auto& statements = running_.at(scope);
      const auto own = own_name(scope);
      if (referred.count(own) == 0)
        patch.rows.push_back({scope, statements, {}, change_of(scope), false});
      else
        note(Severity::kWarning, scope + " is kept, because a port outside this plan uses it");
    }
    std::stable_sort(patch.rows.begin(), patch.rows.end(), [this](const Row& a, const Row& b) {
      std::size_t taken = 0;
      return rank_of(b.scope, taken) < rank_of(a.scope, taken);  // referring objects go first
    });
    return patch;
  }

  void note(Severity severity, std::string text) {
    out_.notes.push_back({severity, std::move(text), false});
  }

  std::string headed(const std::string& text) const {
    if (!target_.checked_by.empty() || target_.reader.syntax == Syntax::kJson) return text;
    return target_.comment +
           "UNVERIFIED: no grammar has checked this text; test it on a virtual switch first" +
           target_.unverified_hint + "\n" + text;
  }

  void put_file(const std::string& path, std::string text, FileKind kind) {
    OutputFile file{path, std::move(text), kind, !target_.checked_by.empty(), false};
    file.checked_by = target_.checked_by;
    out_.files.push_back(std::move(file));
  }

  Impact impact_of(const Row& row, bool ports) const {
    for (const Scope& scope : target_.scopes) {
      std::size_t taken = 0;
      const auto& before = scope.reloads_before;
      if (!before.empty() && scope.pattern.covers(row.scope, taken) &&
          !is_since(plan_.os, plan_.version, before))
        return Impact::kReload;
    }
    // A row of the switch itself (such as a hash seed) takes effect at once.
    const bool felt = !row.hitless && (ports || own_name(row.scope).empty());
    return felt ? Impact::kUnknown : Impact::kHitless;
  }

  // The change of one row, named by its scope, with its statements.
  fabric::Change change_row(const Row& row, bool ports) const {
    if (!target_.leaf_rows)
      return {row.scope, joined(row.before), joined(row.after), impact_of(row, ports)};
    const auto value = [](const std::vector<std::string>& said) {
      return said.empty() ? std::string() : leaf_value(said.front());
    };
    return {slashed(row.scope), value(row.before), value(row.after), impact_of(row, ports)};
  }

  void write_patch(Patch patch) {
    if (target_.reader.syntax == Syntax::kOperations) return write_operations(target_, patch, out_);
    put_file(patch.name + "." + target_.suffix, headed(change_text(target_, patch.rows)),
             FileKind::kConfig);
    std::string guard = guard_text(target_, patch.rows);
    put_file("rollback/" + patch.name + "." + target_.suffix,
             headed(change_text(target_, reversed(std::move(patch.rows)))), FileKind::kRollback);
    out_.files.push_back(
        {"guard/" + patch.name + ".json", std::move(guard), FileKind::kConfig, true});
  }

  void write(const Statements& by_hand) {
    bool any = false;
    for (Patch& patch : patches_) {
      if (patch.rows.empty()) continue;
      any = true;
      for (const Row& row : patch.rows)
        out_.changes.push_back(change_row(row, patch.name.starts_with("20-")));
      write_patch(std::move(patch));
    }
    if (!any) return;
    write_session();
    const bool own = target_.scripts == "cumulus";
    const auto script = [&](const char* name, std::string_view text, FileKind kind) {
      out_.files.push_back({name, std::string(text), kind, true, true});
    };
    script("apply.sh", own ? embedded::kCumulusApply : embedded::kTreeApply, FileKind::kConfig);
    script("rollback.sh", own ? embedded::kCumulusRollback : embedded::kTreeRollback,
           FileKind::kRollback);
    script("guard.py", own ? embedded::kCumulusGuard : embedded::kTreeGuard, FileKind::kConfig);
    std::map<std::string, std::string> running;
    for (const auto& [scope, statements] : running_)
      if (target_.leaf_rows && !statements.empty()) running.emplace(scope, statements.front());
    write_by_hand(target_.by_hand, by_hand, running, out_);
  }

  void write_session() {
    if (target_.session.empty()) return;
    std::string session = "# The commands that apply.sh sends to " + target_.title + ".\n";
    session += "suffix=" + target_.suffix + "\n";
    for (const auto& [name, text] : target_.session)
      session += name + "=" + quoted(text) + "\n";
    out_.files.push_back({"session.sh", session, FileKind::kConfig, true});
    out_.files.back().checked_by = "this project's tests, with simulated switches";
  }

  static std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text)
      out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  }

  static std::string joined(const std::vector<std::string>& statements) {
    std::string text;
    for (const auto& statement : statements)
      text += (text.empty() ? "" : "\n") + statement;
    return text;
  }

  // The text, filled in for each matching statement of the site's on an untrusted port.
  std::set<std::string> on_remarked(const Pattern& pattern, const std::string& text) const {
    std::set<std::string> ports, texts;
    for (const PortGroupPlan& group : plan_.groups)
      if (group.group.trust == Trust::kRemarked)
        ports.insert(group.group.ports.begin(), group.group.ports.end());
    for (const Statement& statement : document_->statements) {
      const auto held = ports.empty() ? std::nullopt : pattern.match(statement.text);
      if (held && ports.count(held->at("port")) != 0 && !is_own(held->at("name")))
        texts.insert(with_holes_filled(text, *held));
    }
    return texts;
  }

  // Depths that differ clearly from the plan, because the system states them in percent.
  void note_rounded() {
    if (!target_.depths_are_percent) return;
    for (const PortGroupPlan& group : plan_.groups)
      for (const QueuePlan& queue : group.queues) {
        std::uint64_t depth = queue.mark_bytes.value_or(0);
        for (const Level& level : queue.levels)
          if (depth == 0) depth = level.drop_bytes.value_or(0);
        const auto set = whole_percent(depth, queue.limit_bytes) * queue.limit_bytes / 100;
        if (depth == 0 || (set >= depth - depth / 4 && set <= depth + depth / 4)) continue;
        note(Severity::kWarning,
             fmt::format("queue {} ({}) at {} marks or drops from {} instead of {}: {} states "
                         "depths in whole percents of the queue's limit {}",
                         queue.queue, queue.name, rate_text(group.group.bits_per_second),
                         bytes_text(set), bytes_text(depth), target_.title,
                         bytes_text(queue.limit_bytes)));
      }
  }

  void add_notes(bool imported, const std::set<std::string>& of_copies) {
    if (!imported) note(Severity::kWarning, target_.declared_note);
    Captures words;
    for (const auto& [name, word] : target_.words)
      words[name] = word_used(word, name, plan_, *document_);
    note_rounded();
    for (const Note& one : target_.notes) {
      const bool sprays = one.given == "sprays" && plan_.features.load_balancing.has_value();
      const bool fits = (one.given.empty() || sprays || document_->facts.count(one.given) != 0) &&
                        (one.missing.empty() || document_->facts.count(one.missing) == 0);
      if (!fits) continue;
      const auto text = with_holes_filled(one.text, words);
      for (const auto& each :
           one.on_remarked ? on_remarked(*one.on_remarked, text) : std::set<std::string>{text})
        note(one.warns ? Severity::kWarning : Severity::kNote, each);
    }
    for (const auto& text : of_copies)
      note(Severity::kWarning, text);
    if (std::string turned = default_class_note(target_, plan_); !turned.empty())
      note(Severity::kNote, std::move(turned));
    if (std::string warning = remark_warning(plan_); !warning.empty())
      note(Severity::kWarning, std::move(warning));
  }

  const Target& target_;
  const SwitchPlan& plan_;
  Document declared_;
  const Document* document_ = nullptr;
  std::unordered_map<std::string, std::vector<std::string>> running_;  // by scope
  std::unordered_set<std::string> touched_;
  std::vector<Patch> patches_;
  Rendering out_;
  const Refuser refuse_{plan_, out_.problems};
};

}  // namespace

Rendering render_switch(const Target& target, const SwitchPlan& plan) {
  return Renderer(target, plan).run();
}

}  // namespace dlcp::fabric::tree
