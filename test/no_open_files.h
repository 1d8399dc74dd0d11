// While an object of this class exists, the process cannot open further files. Open ones stay
// usable.
#pragma once

#include <sys/resource.h>

namespace dlcp::test {

class NoOpenFiles {
 public:
  NoOpenFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoOpenFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoOpenFiles(const NoOpenFiles&) = delete;
  NoOpenFiles& operator=(const NoOpenFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace dlcp::test
