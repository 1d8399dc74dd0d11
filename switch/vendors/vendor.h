// The functions of a target: read its running configuration, render a plan, and judge captured
// counters. One file per vendor; switch/ARCHITECTURE.md lists the five steps of adding one. Vendors
// are stateless; calls may come for any switch in any order.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "switch/model/problem.h"
#include "switch/model/site/site.h"
#include "switch/plan/plan.h"

namespace dlcp::fabric {

struct NamedText {
  std::string file;  // as the user named it
  std::string text;
};

// The effect of applying a change on traffic.
enum class Impact { kHitless, kDropsTraffic, kPortFlap, kReload, kUnknown };

enum class FileKind { kConfig, kRollback, kVerify, kArtefact };

struct OutputFile {
  std::string path;  // relative to the switch's folder
  std::string text;
  FileKind kind = FileKind::kConfig;
  bool grammar_checked =
      false;  // false: written only with --unverified, with a notice in its first line
  bool executable = false;
  std::string_view checked_by = {};  // the check, for the report
};

// One row of the target's configuration that DLCP adds, changes or removes.
struct Change {
  std::string row;     // the row's address in the target's notation: "DSCP_TO_TC_MAP|AZURE/40"
  std::string before;  // empty: the row is new
  std::string after;   // empty: the row is removed
  Impact impact = Impact::kUnknown;
};

struct ReportNote {
  Severity severity = Severity::kNote;
  std::string text;
  bool verified = false;  // tested on this target, not only read in its documentation
};

struct Rendering {
  std::vector<OutputFile> files;
  std::vector<Change> changes;
  std::vector<ReportNote> notes;
  std::vector<Problem> problems;  // after an error nothing of this switch is written
};

struct VerifyCommand {
  std::string command;
  std::string shows;  // what to look for in its output
};

enum class Verdict { kAsPlanned, kWrong, kNotShown };

struct Finding {
  Verdict verdict = Verdict::kNotShown;
  std::string port;
  int queue = -1;          // -1: the port or switch as a whole
  std::string what;        // the observation
  std::string cause = {};  // its possible causes, or what to do; may be empty
  bool of_site = false;    // about a queue of the site, not of DLCP
};
std::string text_of(const Finding& finding);  // "what; cause"

class Vendor {
 public:
  virtual ~Vendor() = default;
  virtual std::string_view os() const = 0;

  // Converts a running configuration to the site's part, which must be kept. The caller fills in
  // the default class and permissions that the intent file declares.
  virtual Checked<SiteConfig> import(const NamedText& running) const = 0;

  // Called for valid plans only; a switch whose plan has errors is not rendered.
  virtual Rendering render(const SwitchPlan& plan) const = 0;

  // The name of a queue in the target's own counters; its number if queues have no names.
  virtual std::string queue_name(const SwitchPlan& /*plan*/, int queue) const {
    return std::to_string(queue);
  }

  virtual std::vector<VerifyCommand> verify_commands(const SwitchPlan& plan) const = 0;
  virtual Checked<std::vector<Finding>> verify(const SwitchPlan& plan,
                                               const NamedText& captured) const = 0;
};

// nullptr: no such target is built in.
const Vendor* find_vendor(std::string_view os);
const char* name_of(Impact impact);  // "hitless", "drops traffic", "port flap", "reload", "unknown"

// The reason for not rendering the switch.
Problem refusal(const SwitchPlan& plan, std::string what, std::string seen, std::string expected,
                std::string hint);
// A warning for a rendering that does not rewrite DSCPs on untrusted ports; empty if all ports are
// trusted.
std::string remark_warning(const SwitchPlan& plan);

// One per file under switch/vendors/; registry.cc lists them.
std::unique_ptr<const Vendor> make_sonic();
std::unique_ptr<const Vendor> make_tc();
// The targets that are data: switch/targets/.
std::vector<std::unique_ptr<const Vendor>> make_tree_vendors();

}  // namespace dlcp::fabric
