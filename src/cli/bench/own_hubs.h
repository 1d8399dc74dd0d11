// Hubs that last as long as a case, dlcp-hub in processes of their own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/bench/bench_case.h"
#include "util/fd.h"

namespace dlcp::cli {

class OwnHubs {
 public:
  // As many as the case wants: on loopback, or inside the namespaces behind those of its ranks.
  // Throws BenchError.
  explicit OwnHubs(const BenchCase& c);
  ~OwnHubs();
  OwnHubs(const OwnHubs&) = delete;
  OwnHubs& operator=(const OwnHubs&) = delete;

  const std::string& places() const { return places_; }  // for DLCP_COLLNET_HUBS

 private:
  struct Hub {
    pid_t pid = -1;
    Fd said;  // what it says on stderr
  };
  void start(const BenchCase& c, const std::string& program, const std::string& name_space);

  std::vector<Hub> hubs_;
  std::string places_;
};

}  // namespace dlcp::cli
