// What a target has to provide: read its running configuration, render a plan, and judge captured
// counters. One file per vendor; switch/ARCHITECTURE.md lists the five steps of adding one.
// Vendors are stateless; every call may come for any switch in any order.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "switch/model/problem.h"
#include "switch/model/site.h"
#include "switch/plan/plan.h"

namespace dlcp::fabric {

struct NamedText {
  std::string file;  // as the user named it
  std::string text;
};

// What applying a change does to traffic.
enum class Impact { kHitless, kDropsTraffic, kPortFlap, kReload, kUnknown };

enum class FileKind { kConfig, kRollback, kVerify, kArtefact };

struct OutputFile {
  std::string path;  // relative to the switch's folder
  std::string text;
  FileKind kind = FileKind::kConfig;
  bool grammar_checked =
      false;  // false: written only with --unverified, and its first line says so
  bool executable = false;
  std::string_view checked_by = {};  // the check, in words for the report
};

// One row of the target's configuration that DLCP adds, changes or removes.
struct Change {
  std::string row;     // the target's own address: "DSCP_TO_TC_MAP|AZURE/40"
  std::string before;  // empty: the row is new
  std::string after;   // empty: the row goes
  Impact impact = Impact::kUnknown;
};

struct ReportNote {
  Severity severity = Severity::kNote;
  std::string text;
  bool verified = false;  // seen on this target, not only read in its documentation
};

struct Rendering {
  std::vector<OutputFile> files;
  std::vector<Change> changes;
  std::vector<ReportNote> notes;
  std::vector<Problem> problems;  // an error: nothing of this switch is written
};

struct VerifyCommand {
  std::string command;
  std::string shows;  // what to look for
};

enum class Verdict { kAsPlanned, kWrong, kNotShown };

struct Finding {
  Verdict verdict = Verdict::kNotShown;
  std::string port;
  int queue = -1;  // -1: the port or switch as a whole
  std::string what;
};

class Vendor {
 public:
  virtual ~Vendor() = default;
  virtual std::string_view os() const = 0;

  // Running configuration -> what must not be touched. The default class and permissions of the
  // intent file are filled in by the caller where they are declared.
  virtual Checked<SiteConfig> import(const NamedText& running) const = 0;

  // Nothing is rendered for a switch whose plan has errors; this sees valid plans only.
  virtual Rendering render(const SwitchPlan& plan) const = 0;

  // What the target's own counters call a queue; by its number where queues have no names.
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

// Why nothing of the switch is rendered.
Problem refusal(const SwitchPlan& plan, std::string what, std::string seen, std::string expected,
                std::string hint);
// What the reader of a rendering that does not rewrite DSCPs must know of ports that are not
// trusted; empty if all are.
std::string remark_warning(const SwitchPlan& plan);

// One per file under switch/vendors/; registry.cc lists them.
std::unique_ptr<const Vendor> make_sonic();
std::unique_ptr<const Vendor> make_tc();
// Those that are data: switch/targets/.
std::vector<std::unique_ptr<const Vendor>> make_tree_vendors();

}  // namespace dlcp::fabric
