#include "hub_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "nccl/plugin.h"

namespace dlcp::test {

HubProcess::HubProcess(const std::vector<std::string>& arguments) {
  set_environment();  // not the environment that earlier ranks had
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  std::vector<std::string> words{DLCP_HUB_PATH, "serve", "--listen", "127.0.0.1:0"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(ends[1], 2);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  stderr_ = ends[0];
  ::fcntl(stderr_, F_SETFL, O_NONBLOCK);
  for (int tries = 0; tries < 2000; ++tries) {
    const std::string text = said();
    const std::size_t at = text.find("ready at ");
    if (at != text.npos && text.find('\n', at) != text.npos) {
      place_ = text.substr(at + 9, text.find('\n', at) - at - 9);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw std::runtime_error("dlcp-hub did not become ready: " + said_);
}

HubProcess::~HubProcess() {
  signal(SIGKILL);
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  ::close(stderr_);
}

unsigned HubProcess::port() const {
  return static_cast<unsigned>(std::stoul(place_.substr(place_.rfind(':') + 1)));
}

void HubProcess::signal(int number) {
  if (pid_ > 0) ::kill(pid_, number);
}

int HubProcess::wait() {
  for (int tries = 0; tries < 2000; ++tries) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return -1;
}

std::string HubProcess::said() {
  char buffer[4096];
  for (auto got = ::read(stderr_, buffer, sizeof buffer); got > 0;
       got = ::read(stderr_, buffer, sizeof buffer))
    said_.append(buffer, static_cast<std::size_t>(got));
  return said_;
}

TextFile::TextFile(const std::string& text) {
  char name[] = "/tmp/dlcp-hub-test-XXXXXX";
  const int file = ::mkstemp(name);
  path_ = name;
  if (file < 0 || ::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("no temporary file");
  ::close(file);
}

TextFile::~TextFile() {
  ::unlink(path_.c_str());
}

}  // namespace dlcp::test
