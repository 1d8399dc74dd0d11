// The tasks of one switch for Ansible: its change, what reverts a change that failed, and the
// rollback of the whole rollout.
#pragma once

namespace dlcp::fabric::cli {

extern const char* const kChangeTasks;    // change.yml
extern const char* const kUndoTasks;      // undo.yml
extern const char* const kRollbackTasks;  // back.yml

}  // namespace dlcp::fabric::cli
