#include "switch/cli/rollout/rollout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "switch/cli/report/output.h"
#include "switch/cli/rollout/tasks.h"

namespace dlcp::fabric::cli {
namespace {

// A figure that stops the rollout if it gets worse. Each command prints one number. The commands
// follow each system's manual and are not tested on a switch; the inventory says so.
struct HealthRow {
  const char* os;
  const char* name;
  const char* command;
  bool may_grow;  // a larger value is good (sessions: none may be lost); otherwise it must not grow
                  // (drops)
};

constexpr HealthRow kHealth[] = {
    {"sonic", "bgp_sessions",
     R"(vtysh -c "show bgp summary json" | grep -c '"state": *"Established"' || true)", true},
    {"sonic", "ports_up", "show interfaces status | grep -c ' up  *up ' || true", true},
    {"sonic", "lossless_drops",
     R"(show priority-group drop counters | awk -v of=" {{ dlcp_lossless }} " '/PG0/ {for (i = 1; i <= NF; i++) if ($i ~ /^PG[0-7]$/ && index(of, " " substr($i, 3) " ")) at[i] = 1} {for (i in at) if ($i ~ /^[0-9,]+$/) {gsub(",", "", $i); s += $i}} END {print s + 0}')",
     false},
    {"cumulus", "bgp_sessions",
     R"(sudo vtysh -c "show bgp summary json" | grep -c '"state": *"Established"' || true)", true},
    {"cumulus", "ports_up", "ip -br link | grep -c '^swp.* UP ' || true", true},
    {"eos", "bgp_sessions", R"(ssh "$DLCP_SWITCH" 'show ip bgp summary' | grep -c Estab || true)",
     true},
    {"eos", "ports_up",
     R"(ssh "$DLCP_SWITCH" 'show interfaces status connected' | grep -c ' connected ' || true)",
     true},
    {"tc", "ports_up", "ip -br link | grep -c ' UP ' || true", true},
};

// How a system's scripts run: on the switch, or on this host over ssh.
struct RunRow {
  const char* os;
  bool from_here;
  const char* apply;     // arguments of apply.sh
  const char* rollback;  // of rollback.sh
  const char* confirm;   // ends the timer of a commit; empty: the system has no timed commits
  const char* keep;      // saves the configuration; empty: the system needs nothing
};

constexpr const char* kApplyOverSsh = R"(apply.sh "$DLCP_SWITCH")";
constexpr const char* kRollbackOverSsh = R"(rollback.sh "$DLCP_SWITCH")";
constexpr const char* kConfirmOverSsh = R"(bash apply.sh --confirm "$DLCP_SWITCH")";

constexpr RunRow kRuns[] = {
    {"sonic", false, "apply.sh --drain --batch {ports}", "rollback.sh --drain --batch {ports}", "",
     "sudo config save -y"},
    {"cumulus", false, "apply.sh", "rollback.sh", "nv config apply --confirm-yes",
     "nv config save"},
    {"eos", true, kApplyOverSsh, kRollbackOverSsh, kConfirmOverSsh,
     R"(printf 'enable\nwrite\n' | ssh -T "$DLCP_SWITCH")"},
    {"tc", false, "dlcp-qos.sh apply", "dlcp-qos.sh rollback", "", ""},
    {"srlinux", true, kApplyOverSsh, kRollbackOverSsh, kConfirmOverSsh,
     R"(printf 'save startup\n' | ssh -T "$DLCP_SWITCH")"},
    {"junos", true, kApplyOverSsh, kRollbackOverSsh, kConfirmOverSsh, ""},
    // The confirmation deletes the checkpoint: a switch keeps at most ten.
    {"nxos", true, kApplyOverSsh, kRollbackOverSsh, kConfirmOverSsh,
     R"(printf 'copy running-config startup-config\n' | ssh -T "$DLCP_SWITCH")"},
    // Other systems apply changes at once and permanently, such as a gNMI Set.
    {"", true, kApplyOverSsh, kRollbackOverSsh, "", ""},
};

const RunRow& run_of(const std::string& os) {
  const auto* const row =
      std::find_if(std::begin(kRuns), std::end(kRuns), [&](const auto& r) { return os == r.os; });
  return row == std::end(kRuns) ? *std::prev(row) : *row;
}

std::string with_ports(std::string text, unsigned ports) {
  const auto at = text.find("{ports}");
  return at == std::string::npos ? text : text.replace(at, 7, std::to_string(ports));
}

// A YAML scalar for any text.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

bool has_health(const std::string& os) {
  return std::any_of(
      std::begin(kHealth), std::end(kHealth), [&](const HealthRow& row) { return os == row.os; });
}

// A list without entries must not be null: Ansible loops over it.
std::string health_of(const std::string& os) {
  if (!has_health(os)) return "        dlcp_health: []\n";
  std::string text = "        dlcp_health:\n";
  for (const HealthRow& row : kHealth) {
    if (os != row.os) continue;
    text += fmt::format("          - {{name: {}, may_grow: {}, command: {}}}\n", row.name,
                        row.may_grow ? "true" : "false", quoted(row.command));
  }
  return text;
}

// "3 4": the priorities of the bits.
std::string numbers_of(unsigned priorities) {
  std::string text;
  for (int priority = 0; priority < kQueueCount; ++priority)
    if ((priorities >> priority & 1) != 0)
      text += (text.empty() ? "" : " ") + std::to_string(priority);
  return text;
}

std::string inventory(const Intent& intent, const std::vector<CanaryStep>& steps,
                      const std::vector<unsigned>& lossless, const RolloutPace& pace) {
  std::map<std::string, std::vector<std::size_t>> of_os;
  for (std::size_t i = 0; i < intent.switches.size(); ++i)
    of_os[intent.switches[i].os].push_back(i);
  std::string text =
      "# The steps in order, and the commands of each system. Add ansible_host and users.\n"
      "# The commands of dlcp_health, dlcp_confirm and dlcp_keep are unverified: first run each by "
      "hand on one\n# switch of its kind. A health command must print the number that its name "
      "promises.\n"
      "all:\n  children:\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    text += fmt::format("    dlcp_step_{}:\n      hosts:\n", i + 1);
    for (const std::string& name : steps[i].switches)
      text += fmt::format("        {}:\n", quoted(name));
  }
  for (const auto& [os, devices] : of_os) {
    const RunRow& run = run_of(os);
    text += fmt::format("    dlcp_{}:\n      hosts:\n", os);
    for (const std::size_t device : devices)
      text += fmt::format("        {}: {{dlcp_lossless: '{}'}}\n",
                          quoted(intent.switches[device].name), numbers_of(lossless[device]));
    text += "      vars:\n";
    if (run.os[0] == '\0')
      text +=
          "        # gnmic changes these switches: ansible_host is ADDRESS:PORT of their gNMI "
          "server.\n";
    if (run.from_here) {
      text +=
          "        ansible_connection: local\n"
          "        ansible_python_interpreter: \"{{ ansible_playbook_python }}\"\n";
    }
    text += fmt::format(
        "        dlcp_os: {}\n        dlcp_apply: {}\n        dlcp_rollback: {}\n"
        "        dlcp_confirm: {}\n        dlcp_keep: {}\n",
        os, quoted(with_ports(run.apply, pace.ports)), quoted(with_ports(run.rollback, pace.ports)),
        quoted(run.confirm), quoted(run.keep));
    text += health_of(os);
  }
  return text;
}

bool is_batch(const CanaryStep& step) {
  return step.title.find("leaves") != std::string::npos;
}

unsigned minutes_of(const CanaryStep& step, const RolloutPace& pace) {
  return step.title.starts_with("canaries") ? pace.canary_minutes : pace.batch_minutes;
}

std::string play(std::size_t number, const CanaryStep& step, const RolloutPace& pace,
                 const char* tasks, const char* failure) {
  return fmt::format(
      "- name: {}\n  hosts: dlcp_step_{}\n  serial: {}\n{}  gather_facts: false\n  vars:\n    "
      "dlcp_minutes: {}\n"
      "    dlcp_source: \"{{{{ playbook_dir + '/' + inventory_hostname }}}}\"\n"
      "    dlcp_place: \"{{{{ dlcp_source if ansible_connection | default('') == 'local' else "
      "'/var/tmp/dlcp' }}}}\"\n"
      "    dlcp_any_changed: \"{{{{ ansible_play_batch | map('extract', hostvars) | "
      "selectattr('dlcp_applied', 'defined') | selectattr('dlcp_applied.changed') | list | length "
      "> 0 }}}}\"\n  tasks:\n"
      "    - name: Switch by switch\n      ansible.builtin.include_tasks: {}\n",
      quoted(fmt::format("Step {}: {}", number, step.title)), number,
      is_batch(step) ? pace.leaves : 1U, failure, minutes_of(step, pace), tasks);
}

std::string playbook(const std::vector<CanaryStep>& steps, const RolloutPace& pace) {
  std::string text =
      "# ansible-playbook -i inventory.yml playbook.yml      stops at the first switch whose "
      "health gets\n# worse, after it has rolled that switch back. To continue, run it again: on "
      "switches that are changed\n# already, it only checks the health and saves the "
      "configuration.\n- name: 'Step 0: jobs'\n  hosts: localhost\n  "
      "gather_facts: false\n  tasks:\n"
      "    - name: Drain\n      ansible.builtin.pause:\n        prompt: >-\n"
      "          Drain jobs from the hosts behind the switches of the first step (ports go down "
      "for\n          minutes), then press Enter. ROLLOUT.md has the times\n"
      "      when: not (dlcp_drained | default(false) | bool)\n";
  for (std::size_t i = 0; i < steps.size(); ++i)
    text += play(i + 1, steps[i], pace, "change.yml",
                 "  max_fail_percentage: 0\n  any_errors_fatal: true\n");
  return text;
}

std::string rollback(const std::vector<CanaryStep>& steps, const RolloutPace& pace) {
  std::string text = "# ansible-playbook -i inventory.yml rollback.yml      in reverse order.\n";
  for (std::size_t i = steps.size(); i > 0; --i)
    text += play(i, steps[i - 1], pace, "back.yml", "");
  return text;
}

std::size_t ports_of(const SwitchIntent& device) {
  std::size_t count = 0;
  for (const PortGroup& group : device.port_groups)
    count += group.ports.size();
  return count;
}

std::set<std::string> systems_without_health(const Intent& intent) {
  std::set<std::string> systems;
  for (const SwitchIntent& device : intent.switches)
    if (!has_health(device.os)) systems.insert(device.os);
  return systems;
}

std::string rollout_page(const Intent& intent, const std::vector<CanaryStep>& steps,
                         const RolloutPace& pace) {
  constexpr double kSonicMinutesPerPort = 3;  // duration published for the updater, for one port
  std::map<std::string, const SwitchIntent*> device_of;
  for (const SwitchIntent& device : intent.switches)
    device_of[device.name] = &device;
  std::string text = fmt::format(
      "# {}: rollout\n\ndlcp-switch runs none of these files. First write the switches' files with "
      "`dlcp-switch render -o` this\nfolder, then run `ansible-playbook -i inventory.yml "
      "playbook.yml`. `rollback.yml` reverts all changes.\n\n"
      "0. Drain jobs from the hosts behind the ports that change: SONiC's updater takes a port "
      "down\n   for minutes. According to their documentation, other systems change without "
      "loss.\n",
      intent.fabric.name);
  double hours = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const CanaryStep& step = steps[i];
    const unsigned serial = is_batch(step) ? pace.leaves : 1;
    double longest = 0;
    for (const std::string& name : step.switches) {
      const SwitchIntent& device = *device_of.at(name);
      const double change =
          device.os == "sonic" ? kSonicMinutesPerPort * static_cast<double>(ports_of(device)) : 1;
      longest = std::max(longest, change);
    }
    const double rounds =
        std::max(1.0, static_cast<double>((step.switches.size() + serial - 1) / serial));
    const double step_hours = rounds * (longest + minutes_of(step, pace)) / 60;
    hours += step_hours;
    text += fmt::format(
        "{}. {}: {}, {} at a time, {} minutes under load after each: about {:.1f} hours\n", i + 1,
        step.title, counted(step.switches.size(), "switch"), serial, minutes_of(step, pace),
        step_hours);
  }
  text += fmt::format(
      "\nAbout {:.0f} hours in all, if SONiC needs 3 minutes per port (published for 202405 with "
      "one port per patch; larger patches take longer for each port). The rollout may end after "
      "any step.\n\n"
      "Four minutes after a change (`-e dlcp_settle=SECONDS`) the playbook checks the switch, and "
      "then confirms\nthe timed commit of Cumulus, EOS, SR Linux and Junos. If the switch is not "
      "reachable then, it reverts the\nchange by itself ten minutes after it.\n\n"
      "The playbook rolls a switch back and stops if, after the wait, a routing session or a port "
      "is down, or (on SONiC) a lossless class has dropped packets. The commands that count these, "
      "in\ninventory.yml, are unverified: they were not tested on a switch. Run each by "
      "hand\nfirst. REPORT.md of each switch lists what else to watch.\n",
      hours);
  const auto unwatched = systems_without_health(intent);
  if (!unwatched.empty()) {
    text += fmt::format(
        "\nThere is no automatic stop on {}: inventory.yml has no health commands for them. During "
        "the wait,\nwatch these switches yourself, and interrupt the playbook if their health gets "
        "worse. Then run\n`rollback.yml --limit SWITCH`.\n",
        fmt::join(unwatched, ", "));
  }
  return text;
}

}  // namespace

std::vector<TextFile> rollout_files(const Intent& intent, const std::vector<CanaryStep>& steps,
                                    const std::vector<unsigned>& lossless,
                                    const RolloutPace& pace) {
  return {{"inventory.yml", inventory(intent, steps, lossless, pace)},
          {"playbook.yml", playbook(steps, pace)},
          {"rollback.yml", rollback(steps, pace)},
          {"change.yml", kChangeTasks},
          {"undo.yml", kUndoTasks},
          {"back.yml", kRollbackTasks},
          {"ROLLOUT.md", rollout_page(intent, steps, pace)}};
}

}  // namespace dlcp::fabric::cli
