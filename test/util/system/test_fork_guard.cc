#include <sys/wait.h>
#include <unistd.h>

#include "catch.h"
#include "util/system/fork_guard.h"

TEST_CASE("the guard distinguishes a child from its parent once armed, and never before") {
  CHECK_FALSE(dlcp::in_forked_child());
  dlcp::arm_fork_guard();
  dlcp::arm_fork_guard();
  CHECK_FALSE(dlcp::in_forked_child());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(dlcp::in_forked_child() ? 7 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  CHECK_FALSE(dlcp::in_forked_child());
}
