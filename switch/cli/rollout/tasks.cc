// Tasks of Ansible, as they are written.
#include "switch/cli/rollout/tasks.h"

namespace dlcp::fabric::cli {

const char* const kChangeTasks =
    R"YAML(# Changes one switch: checks its health, applies the change, waits under load and checks again. Rolls the switch back if
# its health got worse.
- name: No change failed so far
  ansible.builtin.set_fact: {dlcp_undone: false}
- name: Remove the files of an earlier rollout  # the scripts run every patch that they find
  ansible.builtin.file: {path: "{{ dlcp_place }}", state: absent}
  when: dlcp_place != dlcp_source
- name: Copy the rendered files
  ansible.builtin.copy:
    src: "{{ dlcp_source }}/"
    dest: "{{ dlcp_place }}/"
    mode: preserve
  when: dlcp_place != dlcp_source
- name: Check the health before the change
  ansible.builtin.shell: "{{ item.command }}"
  environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
  loop: "{{ dlcp_health }}"
  loop_control: {label: "{{ item.name }}"}
  changed_when: false
  register: dlcp_before
- name: Refuse health figures that are always zero
  ansible.builtin.assert:
    that: "item.item.name != 'ports_up' or item.stdout | int > 0"
    fail_msg: "{{ item.item.name }}: the command counted nothing, so it could not stop the rollout"
    quiet: true
  loop: "{{ dlcp_before.results }}"
  loop_control: {label: "{{ item.item.name }}"}
- name: Report sessions that are not counted
  ansible.builtin.debug:
    msg: "{{ item.item.name }}: the command counted nothing. If this switch has sessions, correct the command"
  loop: "{{ dlcp_before.results }}"
  loop_control: {label: "{{ item.item.name }}"}
  when: item.item.name == 'bgp_sessions' and item.stdout | int == 0
- name: Change and confirm
  block:
    - name: Apply
      ansible.builtin.shell: "bash {{ dlcp_apply }}"
      args: {chdir: "{{ dlcp_place }}"}
      environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
      # On the switch it goes on if the connection is lost.
      async: "{{ 0 if ansible_connection | default('') == 'local' else 86400 }}"
      poll: 15
      register: dlcp_applied
      changed_when: "'nothing to do' not in dlcp_applied.stdout"
    - name: Keep these files for the rollback
      ansible.builtin.shell: "rm -rf '{{ dlcp_place }}.applied' && cp -a '{{ dlcp_place }}' '{{ dlcp_place }}.applied' && rm -f '{{ dlcp_place }}.applied/applied/session'"
      changed_when: false
      when: dlcp_applied is changed
    - name: Wait for protocols to notice a fault  # hold timers, within the ten minutes of the timed commit
      # A pause is for the whole batch: waits of single switches would use up Ansible's forks.
      ansible.builtin.pause:
        seconds: "{{ dlcp_settle | default(240) | int }}"
      when: dlcp_any_changed
    - name: Check the health before the confirmation
      ansible.builtin.shell: "{{ item.command }}"
      environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
      loop: "{{ dlcp_health }}"
      loop_control: {label: "{{ item.name }}"}
      changed_when: false
      register: dlcp_now
      when: dlcp_confirm | length > 0
    - name: Stop if the health got worse at once
      ansible.builtin.assert:
        that: "((item.1.stdout | int >= item.0.stdout | int) if item.0.item.may_grow else (item.1.stdout | int <= item.0.stdout | int))"
        fail_msg: "{{ item.0.item.name }}: {{ item.0.stdout }} before, {{ item.1.stdout }} after"
        quiet: true
      loop: "{{ dlcp_before.results | zip(dlcp_now.results) | list }}"
      loop_control: {label: "{{ item.0.item.name }}"}
      when: dlcp_confirm | length > 0
    - name: Confirm the timed commit  # the switch is reachable and healthy; the wait under load is longer than the timer
      ansible.builtin.shell: "{{ dlcp_confirm }}"
      args: {chdir: "{{ dlcp_place }}"}
      environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
      register: dlcp_confirmed
      # Cumulus fails if nothing is pending; the other systems report success.
      failed_when: dlcp_confirmed.rc != 0 and (dlcp_applied is changed or dlcp_os != "cumulus")
      changed_when: dlcp_applied is changed
      when: dlcp_confirm | length > 0
  rescue: 
    - name: Roll this switch back
      ansible.builtin.include_tasks: undo.yml
- name: Wait under load
  ansible.builtin.pause:
    seconds: "{{ 60 * dlcp_minutes | int }}"
  when: dlcp_any_changed
- name: Check again
  when: not dlcp_undone
  block:
    - name: Check the health after the change
      ansible.builtin.shell: "{{ item.command }}"
      environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
      loop: "{{ dlcp_health }}"
      loop_control: {label: "{{ item.name }}"}
      changed_when: false
      register: dlcp_after
    - name: Stop if the health got worse
      ansible.builtin.assert:
        that: "((item.1.stdout | int >= item.0.stdout | int) if item.0.item.may_grow else (item.1.stdout | int <= item.0.stdout | int))"
        fail_msg: "{{ item.0.item.name }}: {{ item.0.stdout }} before, {{ item.1.stdout }} after"
        quiet: true
      loop: "{{ dlcp_before.results | zip(dlcp_after.results) | list }}"
      loop_control: {label: "{{ item.0.item.name }}"}
    - name: Save the configuration
      ansible.builtin.shell: "{{ dlcp_keep }}"
      environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
      when: dlcp_keep | length > 0
  rescue: 
    - name: Roll this switch back
      ansible.builtin.include_tasks: undo.yml
- name: End the rollout here  # after the other switches of the batch
  ansible.builtin.fail:
    msg: "{{ inventory_hostname }} was rolled back; later switches were not changed"
  when: dlcp_undone
)YAML";

const char* const kUndoTasks =
    R"YAML(# Rolls one switch back after a change that failed.
- name: End the timed commit of the change, so that the rollback does not begin while it is pending
  ansible.builtin.shell: "{{ dlcp_confirm }}"
  args: {chdir: "{{ dlcp_place }}"}
  environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
  failed_when: false
  changed_when: false
  when: dlcp_confirm | length > 0
- name: Roll this switch back
  ansible.builtin.shell: "bash {{ dlcp_rollback }}"
  args: {chdir: "{{ dlcp_place }}"}
  environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
  register: dlcp_reverted
  changed_when: "'nothing to do' not in dlcp_reverted.stdout"
- name: Confirm the rollback, which is a timed commit too
  ansible.builtin.shell: "{{ dlcp_confirm }}"
  args: {chdir: "{{ dlcp_place }}"}
  environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
  register: dlcp_confirmed
  failed_when: dlcp_confirmed.rc != 0 and (dlcp_reverted is changed or dlcp_os != "cumulus")
  changed_when: dlcp_reverted is changed
  when: dlcp_confirm | length > 0
- name: Save the configuration without the change  # an earlier run may have saved the change
  ansible.builtin.shell: "{{ dlcp_keep }}"
  environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
  when: dlcp_keep | length > 0 and dlcp_reverted is changed
- name: The rollout ends after this batch
  ansible.builtin.set_fact: {dlcp_undone: true}
)YAML";

const char* const kRollbackTasks =
    R"YAML(# Removes DLCP's rows from one switch, with the files that were applied to it if they are known.
- name: Look for the files that were applied
  ansible.builtin.stat: {path: "{{ dlcp_place }}.applied/rollback.sh"}
  register: dlcp_kept
- name: Use the rendered files
  when: not dlcp_kept.stat.exists
  block:
    - name: Remove the files of an earlier rollout  # the scripts run every patch that they find
      ansible.builtin.file: {path: "{{ dlcp_place }}", state: absent}
      when: dlcp_place != dlcp_source
    - name: Copy the rendered files
      ansible.builtin.copy:
        src: "{{ dlcp_source }}/"
        dest: "{{ dlcp_place }}/"
        mode: preserve
      when: dlcp_place != dlcp_source
- name: Roll back
  ansible.builtin.shell: "bash {{ dlcp_rollback }}"
  args: {chdir: "{{ dlcp_place + ('.applied' if dlcp_kept.stat.exists else '') }}"}
  environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
  register: dlcp_reverted
  changed_when: "'nothing to do' not in dlcp_reverted.stdout"
- name: Confirm the rollback, which is a timed commit too
  ansible.builtin.shell: "{{ dlcp_confirm }}"
  args: {chdir: "{{ dlcp_place + ('.applied' if dlcp_kept.stat.exists else '') }}"}
  environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
  register: dlcp_confirmed
  failed_when: dlcp_confirmed.rc != 0 and (dlcp_reverted is changed or dlcp_os != "cumulus")
  changed_when: dlcp_reverted is changed
  when: dlcp_confirm | length > 0
- name: Save the configuration
  ansible.builtin.shell: "{{ dlcp_keep }}"
  environment: {DLCP_SWITCH: "{{ ansible_host | default(inventory_hostname) }}"}
  when: dlcp_keep | length > 0
- name: Forget the files that were applied
  ansible.builtin.file: {path: "{{ dlcp_place }}.applied", state: absent}
)YAML";

}  // namespace dlcp::fabric::cli
