#include "board.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <new>

namespace dlcp::test {

void Board::meet(int count) {
  arrived.fetch_add(1);
  const bool all = within(std::chrono::seconds(30), [&] {
    usleep(1000);
    return arrived.load() >= count;
  });
  if (!all) _exit(99);
}

bool join_ring(const NetV12& net, Rank& self, Board& board, int rank, int ranks, Link& link) {
  if (net.listen(self.context(), 0, board.handles[rank][0].data(), &link.listener) !=
      ResultCode::kSuccess)
    return false;
  board.meet(ranks);
  Handle next = board.handles[(rank + 1) % ranks][0];
  bool failed = false;
  return within(std::chrono::seconds(20),
                [&] {
                  failed = (link.send == nullptr &&
                            net.connect(self.context(), 0, next.data(), &link.send, nullptr) !=
                                ResultCode::kSuccess) ||
                           (link.recv == nullptr &&
                            net.accept(link.listener, &link.recv, nullptr) != ResultCode::kSuccess);
                  return failed || (link.send != nullptr && link.recv != nullptr);
                }) &&
         !failed;
}

Processes::Processes(int count, const std::function<int(Board& board, int rank)>& rank) {
  void* memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  board_ = new (memory) Board{};
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(rank(*board_, i));
    children_.push_back(child);
  }
}

Processes::~Processes() {
  for (const pid_t child : children_) {
    if (child > 0) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  munmap(board_, sizeof(Board));
}

void Processes::kill_rank(int rank) {
  kill(children_[static_cast<std::size_t>(rank)], SIGKILL);
}

int Processes::wait_for(int rank, std::chrono::milliseconds limit) {
  pid_t& child = children_[static_cast<std::size_t>(rank)];
  int status = 0;
  if (!within(limit, [&] {
        usleep(2000);
        return waitpid(child, &status, WNOHANG) == child;
      }))
    return -1;
  child = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace dlcp::test
