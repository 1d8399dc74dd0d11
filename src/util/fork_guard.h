// Tells a forked child apart from the process that armed the guard, without a system call per
// question: the kernel wipes one page of ours in every child. A child owns none of our threads and
// may have inherited locks in any state, so it must turn back before it touches anything.
#pragma once

namespace dlcp {

// Called before anything exists that a child could trip over; later calls do nothing.
void arm_fork_guard();

// True in a child of a process that armed the guard. Costs one load.
bool in_forked_child();

}  // namespace dlcp
