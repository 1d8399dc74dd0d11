// Rank 0's side of the rendezvous: who has come, who is missing, and whom to refuse. Every rank
// that came learns the outcome: go, or the one reason why not.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/frames.h"
#include "cli/launch/world.h"
#include "util/fd.h"

namespace dlcp::cli {

// What a rank says first; both ends build it alike.
std::string hello_of(const World& world, const std::string& options);
// What two hellos differ in, for both ends' messages; "" if they go together.
std::string difference(const std::string& theirs, const std::string& ours);
// "1, 3-7"
std::string rank_ranges(const std::vector<int>& ranks);

class Gathering {
 public:
  // Listens on world.port; throws BenchError(kUsage) when that cannot be.
  Gathering(const World& world, const std::string& options);

  // Takes what arrives within `timeout_ms`.
  void serve(int timeout_ms);

  std::vector<int> missing() const;                        // ranks that have not come
  const std::string& failure() const { return failure_; }  // "" while all is well
  void fail(const std::string& why);                       // unless it has failed before

  // Sockets by rank, -1 for rank 0; tells all of them to go.
  std::vector<int> let_go();
  // Tells all that came why nothing comes of it.
  void tell();
  // tell(), after those that come within a few seconds as well.
  void refuse_all();

 private:
  struct Newcomer {
    Fd fd;
    FrameReader reader;
  };

  bool admit(Newcomer& newcomer);  // false: nothing to do with it any more

  World world_;
  std::string hello_;
  Fd listener_;
  std::vector<Newcomer> newcomers_;  // that have not named themselves
  std::vector<Fd> sockets_;          // by rank
  std::vector<Fd> refused_;
  std::string failure_;
};

}  // namespace dlcp::cli
