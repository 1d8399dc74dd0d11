// Distinguishes a forked child from the process that armed the guard, without a system call per
// query: the kernel wipes one page in every child. A child has none of the parent's threads and may
// have inherited locks in any state, so it must return before it touches anything.
#pragma once

namespace dlcp {

// Called before there is any state that a child could damage; later calls do nothing.
void arm_fork_guard();

// True in a child of a process that armed the guard. Costs one load.
bool in_forked_child();

}  // namespace dlcp
