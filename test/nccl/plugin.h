// The plugin as NCCL uses it: opened with dlopen and called through its newest table. Ranks are in
// one process (two contexts) or in forked ones; all traffic goes over UDP on loopback.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nccl/abi/net/net_v12.h"

namespace dlcp::test {

using nccl::NetV12;
using nccl::ResultCode;

using Settings = std::vector<std::pair<std::string, std::string>>;

// Replaces all DLCP_* variables: loopback, no config file, then `settings`.
void set_environment(const Settings& settings = {});

class Plugin {
 public:
  Plugin();
  ~Plugin();  // dlclose
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  const NetV12& net() const { return *net_; }
  void* symbol(const char* name) const;

 private:
  void* library_;
  const NetV12* net_ = nullptr;
};

// The plugin's messages to NCCL's logger since the last call, one string per line.
void logger(nccl::LogLevel level, unsigned long flags, const char* file, int line,
            const char* format, ...);
std::vector<std::string> take_log();
std::string joined_log();  // take_log() as one text
// The same once there are `lines` lines, or after 10 s. Lines are written outside the engine's
// lock, by the thread that was in the engine: the helper's may arrive after the failing call.
std::vector<std::string> await_log(std::size_t lines);

using Handle = std::array<std::byte, nccl::kHandleBytes>;

// One communicator's side of one rank.
class Rank {
 public:
  explicit Rank(const NetV12& net);
  ~Rank() { finalize(); }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  const NetV12& net() const { return net_; }
  void* context() const { return context_; }
  void finalize();

 private:
  const NetV12& net_;
  void* context_ = nullptr;
};

// A connection from one rank to another; destroyed after Movers that are declared later.
struct Link {
  explicit Link(const NetV12& of) : net(&of) {}
  ~Link() { close(); }
  Link(Link&& other) noexcept
      : net(other.net),
        listener(std::exchange(other.listener, nullptr)),
        send(std::exchange(other.send, nullptr)),
        recv(std::exchange(other.recv, nullptr)) {}

  const NetV12* net = nullptr;
  void* listener = nullptr;
  void* send = nullptr;
  void* recv = nullptr;

  void close();
};
Link make_link(Rank& from, Rank& to);

// Repeats `step` until it returns true; false after `limit`.
template <class Step>
bool within(std::chrono::milliseconds limit, Step&& step) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!step())
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

// One direction of a link with registered memory; posts and tests as NCCL's proxy does.
class Mover {
 public:
  Mover(const NetV12& net, void* comm, bool sends, std::size_t bytes);
  ~Mover();
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  std::vector<std::byte>& memory() { return memory_; }
  // Repeats until the plugin accepts the request, at most 20 s.
  void* post(std::size_t offset, std::size_t bytes);
  void* try_post(std::size_t offset, std::size_t bytes, ResultCode* code = nullptr);
  void deregister();

 private:
  const NetV12& net_;
  void* comm_;
  bool sends_;
  std::vector<std::byte> memory_;
  void* registration_ = nullptr;
};

// Calls test until done; returns the last code. `size` receives the message's size.
ResultCode finish(const NetV12& net, void* request, int* size = nullptr,
                  std::chrono::milliseconds limit = std::chrono::seconds(30));

// The same bytes for the same seed, with no short period.
void fill_random(std::vector<std::byte>& memory, std::uint64_t seed);

}  // namespace dlcp::test
