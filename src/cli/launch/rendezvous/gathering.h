// Rank 0's side of the rendezvous: which ranks have connected, which are missing, which are
// refused. Every rank that connected is told the outcome: go, or the reason why not.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/rendezvous/frames.h"
#include "cli/launch/rendezvous/world.h"
#include "util/system/fd.h"

namespace dlcp::cli {

// The first frame of a rank.
std::string hello_of(const World& world, const std::string& options);
// The differences between two hellos, for the error messages of both sides; "" if they match.
std::string difference(const std::string& theirs, const std::string& ours);
// True if a rank of some version may have sent this text as its hello.
bool is_hello(const std::string& text);
// "1, 3-7"
std::string rank_ranges(const std::vector<int>& ranks);

class Gathering {
 public:
  // Listens on world.port; throws BenchError(kUsage) if the port cannot be opened.
  Gathering(const World& world, const std::string& options);

  // Handles the connections and frames that arrive within `timeout_ms`. Throws
  // BenchError(kUsage) at the limit of open files.
  void serve(int timeout_ms);

  std::vector<int> missing() const;                        // ranks that have not connected
  const std::string& failure() const { return failure_; }  // "" if none
  void fail(const std::string& why);                       // the first reason counts

  // Tells all ranks to go. Returns their sockets by rank, -1 for rank 0.
  std::vector<int> let_go();
  // Sends the reason of the failure to all ranks that have connected.
  void tell();
  // tell(), after a few seconds in which further ranks may connect.
  void refuse_all();

 private:
  struct Newcomer {
    Fd fd;
    FrameReader reader;
  };

  bool admit(Newcomer& newcomer);  // false: forget this connection

  World world_;
  std::string hello_;
  Fd listener_;
  std::vector<Newcomer> newcomers_;  // connected, hello not yet received
  std::vector<Fd> sockets_;          // by rank
  std::vector<Fd> refused_;
  std::string failure_;
};

}  // namespace dlcp::cli
