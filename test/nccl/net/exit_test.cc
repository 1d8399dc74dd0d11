// A rank that ends while messages that were copied have not arrived: by exit() without destroying
// its communicators, by an abort, or in order.
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "board.h"
#include "catch.h"
#include "nccl/plugin.h"

using namespace dlcp::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kMessages = 24;
constexpr std::size_t kBytes = 100;

void send_and_exit(Board& board) {
  const Plugin plugin;
  Rank self(plugin.net());
  board.meet(2);
  Handle handle = board.handles[1][0];
  void* comm = nullptr;
  const bool connected = within(20s, [&] {
    plugin.net().connect(self.context(), 0, handle.data(), &comm, nullptr);
    return comm != nullptr;
  });
  if (!connected) _exit(1);
  Mover sender(plugin.net(), comm, true, kBytes);
  for (std::size_t i = 0; i < kMessages; ++i)
    if (finish(plugin.net(), sender.post(0, kBytes)) != ResultCode::kSuccess) _exit(2);
  std::exit(0);
}

// Receives only after the sender has begun to exit.
int receive(Board& board) {
  const Plugin plugin;
  Rank self(plugin.net());
  Link link(plugin.net());
  plugin.net().listen(self.context(), 0, board.handles[1][0].data(), &link.listener);
  board.meet(2);
  const bool accepted = within(20s, [&] {
    plugin.net().accept(link.listener, &link.recv, nullptr);
    return link.recv != nullptr;
  });
  if (!accepted) return 1;
  Mover receiver(plugin.net(), link.recv, false, kBytes * kMessages);
  for (std::size_t i = 0; i < kMessages; ++i)
    if (finish(plugin.net(), receiver.post(i * kBytes, kBytes)) != ResultCode::kSuccess) return 2;
  return 0;
}

}  // namespace

TEST_CASE("messages that are sent arrive although their sender calls exit(), encrypted or not") {
  set_environment({{"DLCP_FAULT", "drop=0.3"},
                   {"DLCP_LINGER", "10000"},
                   {"DLCP_ENCRYPT", GENERATE("off", "aes-gcm")}});
  Processes ranks(2, [](Board& board, int rank) {
    if (rank == 1) return receive(board);
    send_and_exit(board);
    return 3;
  });
  CHECK(ranks.wait_for(1, 30s) == 0);
  CHECK(ranks.wait_for(0, 30s) == 0);
}

TEST_CASE("an abort does not wait for a stopped peer; an end in order does, for the peer timeout") {
  const bool aborts = GENERATE(true, false);
  set_environment({{"DLCP_PEER_TIMEOUT", "2"}});
  Processes ranks(2, [&](Board& board, int rank) {
    const Plugin plugin;
    const NetV12& net = plugin.net();
    Rank self(net);
    Link link(net);
    if (!join_ring(net, self, board, rank, 2, link)) return 1;
    board.meet(4);
    if (rank == 1) raise(SIGSTOP);
    usleep(100'000);
    {
      Mover sender(net, link.send, true, kBytes);
      Mover receiver(net, link.recv, false, kBytes);
      if (aborts && receiver.post(0, kBytes) == nullptr) return 2;
      if (finish(net, sender.post(0, kBytes)) != ResultCode::kSuccess) return 3;
    }
    const auto begin = std::chrono::steady_clock::now();
    link.close();
    self.finalize();
    const auto took = std::chrono::steady_clock::now() - begin;
    return aborts ? (took < 1s ? 0 : 4) : (took > 1s && took < 4s ? 0 : 5);
  });
  CHECK(ranks.wait_for(0) == 0);
}
