// A dlcp-hub on loopback, in a process of its own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace dlcp::test {

class HubProcess {
 public:
  // Waits until the hub is ready. `arguments`: further ones for `dlcp-hub serve`.
  explicit HubProcess(const std::vector<std::string>& arguments = {});
  ~HubProcess();
  HubProcess(const HubProcess&) = delete;
  HubProcess& operator=(const HubProcess&) = delete;

  const std::string& place() const { return place_; }  // "127.0.0.1:PORT"
  unsigned port() const;
  void signal(int number);
  // Its exit code once it has ended; -1 if that takes more than 20 s or a signal ended it.
  int wait();
  // Its output on stderr so far.
  std::string said();

 private:
  pid_t pid_ = -1;
  int stderr_ = -1;
  std::string said_;
  std::string place_;
};

// A file that is removed with the object.
class TextFile {
 public:
  explicit TextFile(const std::string& text);
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace dlcp::test
