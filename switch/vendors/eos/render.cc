// The change of one EOS switch as CLI text, which no grammar has checked: entries of the DSCP map,
// QoS profiles that are copies of the site's with DLCP's queues in them, and then ports, a group at
// a time. Entries that the site has are put back by the rollback, the others removed.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "switch/plan/layout.h"
#include "switch/plan/site_use.h"
#include "switch/vendors/embedded.h"
#include "switch/vendors/eos/document.h"

namespace dlcp::fabric::eos {
namespace {

constexpr const char* kHead =
    "! UNVERIFIED: no grammar has checked this text; try it on a virtual switch first "
    "(scripts/switch-lab)\n";
constexpr std::uint64_t kThresholdMax = 2'147'483'647;  // bytes

// One row: what guard.py calls it, its text before and after, and the lines that set and unset it.
struct Row {
  std::string name;
  std::optional<std::string> before, after;
  std::string set, undo;
  Impact impact;
};
struct Patch {
  std::string name;
  std::vector<Row> rows;
};

std::string in_quotes(const std::optional<std::string>& text) {
  if (!text) return "null";
  std::string out = "\"";
  for (const char c : *text)
    out += c == '\n'               ? std::string("\\n")
           : c == '"' || c == '\\' ? std::string("\\") + c
                                   : std::string(1, c);
  return out + "\"";
}

class Renderer {
 public:
  explicit Renderer(const SwitchPlan& plan) : plan_(plan) {}

  Rendering run() {
    static const Document kDeclared;
    const auto* imported = dynamic_cast<const Document*>(plan_.site->document.get());
    document_ = imported != nullptr ? imported : &kDeclared;
    queue_word_ = document_->queue_word;
    if (queue_word_.empty()) {
      const bool broadcom = plan_.asic.find("trident") == 0 || plan_.asic.find("tomahawk") == 0;
      queue_word_ = broadcom ? "uc-tx-queue" : "tx-queue";
    }
    patches_.push_back({"10-definitions", {}});
    put_dscps();
    put_queues();
    for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
      const auto& group = plan_.groups[i];
      patches_.push_back({fmt::format("20-ports-{:02}-{}", i + 1,
                                      group.group.role == PortRole::kHost ? "host" : "fabric"),
                          {}});
      check_scheduling(group);
      for (const auto& port : group.group.ports)
        put_port(port, group);
    }
    if (has_errors(out_.problems)) return std::move(out_);
    write();
    add_notes(imported != nullptr);
    return std::move(out_);
  }

 private:
  void refuse(std::string what, std::string seen, std::string expected, std::string hint) {
    out_.problems.push_back(
        refusal(plan_, std::move(what), std::move(seen), std::move(expected), std::move(hint)));
  }
  void note(Severity severity, std::string text) {
    out_.notes.push_back({severity, std::move(text), false});
  }
  // Every number that is written, against the command's documented range.
  std::uint64_t in_range(const char* what, std::uint64_t value, std::uint64_t min,
                         std::uint64_t max) {
    if (value < min || value > max)
      refuse(fmt::format("{} would not be accepted by EOS", what), std::to_string(value),
             fmt::format("{}..{}", min, max), "lower what leads to this value in the intent file");
    return value;
  }

  void put(Patch& patch, Row row) {
    if (row.before != row.after) patch.rows.push_back(std::move(row));
  }

  void put_dscps() {
    for (int d = 0; d < kDscpCount; ++d) {
      const auto& row = plan_.dscp[d];
      if (row.owner != Owner::kDlcp) continue;
      const auto& now = document_->dscp[d];
      in_range("drop-precedence", row.drop_precedence, 0, 2);
      in_range("traffic-class", row.traffic_class, 0, 7);
      const auto after = text_of({row.traffic_class, row.drop_precedence});
      const auto before = now ? std::optional(text_of(*now)) : std::nullopt;
      put(patches_.front(), {fmt::format("qos map dscp {}", d), before, after,
                             fmt::format("qos map dscp {} to {}\n", d, after),
                             before ? fmt::format("qos map dscp {} to {}\n", d, *before)
                                    : fmt::format("no qos map dscp {}\n", d),
                             Impact::kHitless});
    }
  }

  void put_queues() {
    if (plan_.groups.empty()) return;
    for (const auto& queue : plan_.groups.front().queues) {
      const auto& now = document_->queue[queue.traffic_class];
      // Classes from 2 on have the queue of their number; of 0 and 1 it depends on the platform.
      const bool usual = queue.traffic_class == queue.queue && queue.traffic_class > 1;
      if (!now && usual) continue;
      const auto head = fmt::format("qos map traffic-class {}", queue.traffic_class);
      const auto text = [](int index) { return fmt::format("tx-queue {}", index); };
      const auto line = [&](int index) {
        const auto& word = document_->map_word.empty() ? queue_word_ : document_->map_word;
        return fmt::format("{} to {} {}\n", head, word, index);
      };
      put(patches_.front(),
          {head, now ? std::optional(text(*now)) : std::nullopt, text(queue.queue),
           line(queue.queue), now ? line(*now) : "no " + line(queue.queue), Impact::kHitless});
    }
  }

  Lines queue_lines(const QueuePlan& queue) {
    const auto cell = std::max<std::uint64_t>(1, plan_.capabilities.cell_bytes);
    const auto step = [&](std::uint64_t depth) {
      in_range("a threshold", depth, 1, kThresholdMax - cell);
      return fmt::format("minimum-threshold {} bytes maximum-threshold {} bytes", depth,
                         depth + cell);
    };
    Lines lines = {fmt::format("{} {}", queue_word_, queue.queue),
                   fmt::format("{}{} {}", kNested, kOwnComment, queue.name)};
    const auto add = [&](std::string line) { lines.push_back(std::string(kNested) + line); };
    if (queue.strict) {
      add("priority strict");
      add(fmt::format(
          "shape rate {} kbps",
          in_range("a shape rate", queue.shape_bits_per_second / 1000, 1, 4'000'000'000)));
    } else {
      add(fmt::format("bandwidth percent {}",
                      in_range("a bandwidth percentage", queue.weight, 1, 100)));
      add("no priority");
    }
    if (queue.mark_bytes)
      add(fmt::format("random-detect ecn {} max-mark-probability 100 weight 0",
                      step(*queue.mark_bytes)));
    for (const auto& level : queue.levels)
      if (level.drop_bytes)
        add(
            fmt::format("random-detect drop drop-precedence {} {} drop-probability 100 "
                        "weight 0",
                        level.drop_precedence, step(*level.drop_bytes)));
    return lines;
  }

  // The site's profile without the queues that DLCP takes, and DLCP's after it.
  Lines profile(const std::string& base, const PortGroupPlan& group) {
    Lines lines;
    const auto found = document_->blocks.find("qos profile " + base);
    bool skips = false;
    if (found != document_->blocks.end())
      for (const auto& line : found->second) {
        if (line.compare(0, kNested.size(), kNested) != 0) {
          const auto queue = queue_of(line);
          skips = queue && std::any_of(group.queues.begin(), group.queues.end(),
                                       [&](const auto& ours) { return ours.queue == *queue; });
        }
        if (!skips) lines.push_back(line);
      }
    require_trust(base, lines);
    if (group.group.trust == Trust::kRemarked) {
      const auto policy = put_remark(group.group.remark_dscp);
      if (std::any_of(lines.begin(), lines.end(),
                      [](const auto& line) { return line.find("service-policy") == 0; }))
        refuse("a port that is to be re-marked has a policy of the site", base,
               "a profile without service-policy", "re-mark in that policy, or trust the port");
      lines.insert(lines.begin(), "service-policy type qos input " + policy);
    }
    for (const auto& queue : group.queues) {
      const auto ours = queue_lines(queue);
      lines.insert(lines.end(), ours.begin(), ours.end());
    }
    return lines;
  }

  // DLCP's DSCPs count on ports that trust DSCPs alone. Without a line, routed ports do and
  // switched ports trust the VLAN's priority (EOS user manual, Quality of Service, port trust).
  void require_trust(const std::string& base, Lines& lines) {
    const auto trust = std::find_if(lines.begin(), lines.end(), [](const auto& line) {
      return line.starts_with("qos trust") || line == "no qos trust";
    });
    if (trust == lines.end()) {
      lines.insert(lines.begin(), "qos trust dscp");
      if (!base.empty())
        trusts_.insert(
            fmt::format("profile {} says nothing of trust; DLCP's copy says `qos trust "
                        "dscp`, which a routed port does anyway",
                        base));
      return;
    }
    if (*trust != "qos trust dscp")
      refuse(fmt::format("profile {} does not trust DSCPs", base), *trust, "qos trust dscp",
             "decide what the site's classes are by DSCP, put `qos trust dscp` into the profile, "
             "and import again");
  }

  // A round-robin queue makes all queues below it round-robin, those of the site that were strict
  // too, and a strict queue is none below a round-robin one.
  void check_scheduling(const PortGroupPlan& group) {
    const auto used = queues_in_use(*plan_.site, plan_.dlcp_dscps);
    const int preset = queue_of_class(*plan_.site, plan_.site->default_class);
    int top = -1, strict = kQueueCount;  // the highest round-robin queue, and DLCP's strict one
    for (const auto& queue : group.queues)
      (queue.strict ? strict : top) = queue.strict ? queue.queue : std::max<int>(top, queue.queue);
    for (const auto& site : plan_.site->queues) {
      if ((used >> site.queue & 1) == 0 || site.queue == preset) continue;
      const bool imported = plan_.site->imported;
      if (imported && site.strict && site.queue < top)
        return refuse(
            fmt::format("DLCP's round-robin queue {} would make the site's strict queue {} "
                        "round-robin, too",
                        top, site.queue),
            fmt::format("queue {} above queue {}", top, site.queue),
            "DLCP's weighted queues below the site's strict ones",
            "name lower queues (dlcp.queues), or give the site's queue a `bandwidth percent` and "
            "`no priority` first");
      if (!site.strict && site.weight && site.queue > strict)
        return refuse(fmt::format("the site's round-robin queue {} would make DLCP's strict queue "
                                  "{} round-robin",
                                  site.queue, strict),
                      fmt::format("queue {} below queue {}", strict, site.queue),
                      "the control queue above every round-robin one",
                      "name a higher queue: dlcp.queues.control");
    }
  }

  // Ports with no DLCP sender behind them: DLCP's DSCPs are rewritten on arrival.
  std::string put_remark(int remark) {
    const auto name = fmt::format("DLCP-as-{}", remark);
    std::string dscps;
    for (int d = 0; d < kDscpCount; ++d)
      if (plan_.dscp[d].owner == Owner::kDlcp)
        dscps += (dscps.empty() ? "" : " ") + std::to_string(d);
    const int to = plan_.site->dscp_to_class[remark].value_or(plan_.site->default_class);
    put_block("class-map type qos match-any DLCP-marks", {"match ip dscp " + dscps});
    put_block("policy-map type quality-of-service " + name,
              {"class DLCP-marks", fmt::format("{}set dscp {}", kNested, remark),
               fmt::format("{}set traffic-class {}", kNested, to)});
    return name;
  }

  static std::string block_text(const std::string& head, const Lines& lines) {
    std::string text = head + "\n";
    for (const auto& line : lines)
      text += (opens_sub_block(line) ? "   !\n   " : "   ") + line + "\n";
    return text + "!\n";
  }

  void put_block(const std::string& head, const Lines& lines) {
    if (!made_.emplace(head, lines).second) return;
    const auto now = document_->blocks.find(head);
    const auto before =
        now == document_->blocks.end() ? std::nullopt : std::optional(canonical(now->second));
    const auto undo =
        before ? "no " + head + "\n" + block_text(head, now->second) : "no " + head + "\n";
    put(patches_.front(),
        {head, before, canonical(lines),
         (before ? "no " + head + "\n" : "") + block_text(head, lines), undo, Impact::kHitless});
  }

  std::string profile_name(const std::string& base, const PortGroupPlan& group) {
    const auto lines = profile(base, group);
    for (int n = 1;; ++n) {
      const auto name = fmt::format("{}{}-{}", kPrefix, n, base.empty() ? kNoProfile : base);
      const auto made = made_.find("qos profile " + name);
      if (made != made_.end() && made->second != lines) continue;
      put_block("qos profile " + name, lines);
      return name;
    }
  }

  void put_port(const std::string& port, const PortGroupPlan& group) {
    const auto found = document_->interfaces.find(port);
    const bool known = found != document_->interfaces.end();
    if (!known && !document_->interfaces.empty())
      return refuse("port " + port + " is not in the imported configuration", port,
                    "an interface of it", "name ports as EOS does: Ethernet1/1");
    if (known)
      for (const auto& line : found->second.lines)
        if (queue_of(line) || line.starts_with("service-policy type qos") ||
            (line.starts_with("qos trust") && line != "qos trust dscp"))
          return refuse("port " + port + " has QoS of its own beside its profile", line,
                        "all of it in a qos profile",
                        "move it into the port's service-profile first");
    const auto now = known && !found->second.profile.empty() ? std::optional(found->second.profile)
                                                             : std::nullopt;
    const auto name = profile_name(std::string(site_name(now.value_or(""))), group);
    const auto line = [&](const char* no, const std::string& text) {
      return fmt::format("interface {}\n   {}service-profile{}\n", port, no, text);
    };
    put(patches_.back(),
        {fmt::format("interface {} service-profile", port), now, name, line("", " " + name),
         now ? line("", " " + *now) : line("no ", ""), Impact::kUnknown});
  }

  void write() {
    bool any = false;
    for (const auto& patch : patches_) {
      if (patch.rows.empty()) continue;
      any = true;
      std::string set = kHead, undo = kHead, rows = "{\n";
      for (const auto& row : patch.rows) {
        set += row.set;
        rows += fmt::format("  {}: [{}, {}]{}\n", in_quotes(row.name), in_quotes(row.before),
                            in_quotes(row.after), &row == &patch.rows.back() ? "" : ",");
        out_.changes.push_back(
            {row.name, row.before.value_or(""), row.after.value_or(""), row.impact});
      }
      for (auto row = patch.rows.rbegin(); row != patch.rows.rend(); ++row)
        undo += row->undo;
      out_.files.push_back({patch.name + ".eos", set, FileKind::kConfig, false});
      out_.files.push_back({"rollback/" + patch.name + ".eos", undo, FileKind::kRollback, false});
      out_.files.push_back(
          {"guard/" + patch.name + ".json", rows + "}\n", FileKind::kConfig, true});
    }
    if (!any) return;
    out_.files.push_back(
        {"apply.sh", std::string(embedded::kEosApply), FileKind::kConfig, true, true});
    out_.files.push_back(
        {"rollback.sh", std::string(embedded::kEosRollback), FileKind::kRollback, true, true});
    out_.files.push_back(
        {"guard.py", std::string(embedded::kEosGuard), FileKind::kConfig, true, true});
  }

  void add_notes(bool imported) {
    if (!imported)
      note(Severity::kWarning,
           "the site is declared, not imported: apply.sh refuses if DSCPs are mapped or ports have "
           "a service-profile already; import `show running-config` to merge into them");
    note(Severity::kWarning,
         "EOS has one DSCP map for the whole switch: DLCP's DSCPs lead to its queues on every port "
         "that trusts DSCPs, ports outside this plan too");
    for (const auto& text : trusts_)
      note(Severity::kWarning, text);
    if (document_->allows_non_ect)
      note(Severity::kWarning,
           "`qos random-detect ecn allow non-ect` is set: not-ECT packets pass the ECN threshold, "
           "so "
           "only drop-precedence thresholds drop them early");
    else
      note(Severity::kWarning,
           "without `qos random-detect ecn allow non-ect` (one setting for the whole switch, not "
           "changed here) some platforms drop not-ECT packets at the ECN threshold already, before "
           "their drop-precedence thresholds: everything droppable is then one level, and is shed "
           "there even where this report says that nothing is");
    note(Severity::kNote, "thresholds and queues are written as `" + queue_word_ +
                              "`; platforms differ in that word: compare `show qos profile`");
  }

  const SwitchPlan& plan_;
  const Document* document_ = nullptr;
  std::string queue_word_;
  std::vector<Patch> patches_;
  std::map<std::string, Lines> made_;
  std::set<std::string> trusts_;
  Rendering out_;
};

}  // namespace

Rendering render_switch(const SwitchPlan& plan) {
  return Renderer(plan).run();
}

}  // namespace dlcp::fabric::eos
