#include "plugin.h"

#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "catch.h"
#include "util/rng.h"

extern char** environ;

namespace dlcp::test {
namespace {

std::mutex log_mutex;
std::vector<std::string> log_lines;

}  // namespace

void set_environment(const Settings& settings) {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::strncmp(*entry, "DLCP_", 5) == 0)
      names.emplace_back(*entry, std::strcspn(*entry, "="));
  for (const auto& name : names)
    unsetenv(name.c_str());
  setenv("DLCP_IFNAME", "=lo", 1);
  setenv("DLCP_CONFIG", "", 1);
  for (const auto& [name, value] : settings)
    setenv(name.c_str(), value.c_str(), 1);
}

Plugin::Plugin() : library_(dlopen(DLCP_PLUGIN_PATH, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  net_ = static_cast<const NetV12*>(symbol(nccl::kNetSymbolV12));
}

Plugin::~Plugin() {
  dlclose(library_);
}

void* Plugin::symbol(const char* name) const {
  return dlsym(library_, name);
}

void logger(nccl::LogLevel level, unsigned long flags, const char*, int, const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const std::lock_guard lock(log_mutex);
  log_lines.push_back((level == nccl::LogLevel::kWarn ? "WARN " : "INFO ") + std::to_string(flags) +
                      " " + text);
}

std::vector<std::string> take_log() {
  const std::lock_guard lock(log_mutex);
  return std::exchange(log_lines, {});
}

std::string joined_log() {
  std::string all;
  for (const std::string& line : take_log())
    all += line + "\n";
  return all;
}

std::vector<std::string> await_log(std::size_t lines) {
  std::vector<std::string> said;
  within(std::chrono::seconds(10), [&] {
    for (std::string& line : take_log())
      said.push_back(std::move(line));
    return said.size() >= lines;
  });
  return said;
}

Rank::Rank(const NetV12& net) : net_(net) {
  nccl::NetCommConfigV12 config{nccl::kUndefined};
  if (net_.init(&context_, 42, &config, logger, nullptr) != ResultCode::kSuccess) std::abort();
}

void Rank::finalize() {
  if (context_ != nullptr) net_.finalize(std::exchange(context_, nullptr));
}

void Link::close() {
  for (void** comm : {&send, &recv})
    if (*comm != nullptr) net->closeSend(std::exchange(*comm, nullptr));
  if (listener != nullptr) net->closeListen(std::exchange(listener, nullptr));
}

Link make_link(Rank& from, Rank& to) {
  Link link(from.net());
  Handle handle;
  REQUIRE(to.net().listen(to.context(), 0, handle.data(), &link.listener) == ResultCode::kSuccess);
  const bool connected = within(std::chrono::seconds(20), [&] {
    if (link.send == nullptr)
      REQUIRE(from.net().connect(from.context(), 0, handle.data(), &link.send, nullptr) ==
              ResultCode::kSuccess);
    if (link.recv == nullptr)
      REQUIRE(to.net().accept(link.listener, &link.recv, nullptr) == ResultCode::kSuccess);
    return link.send != nullptr && link.recv != nullptr;
  });
  REQUIRE(connected);
  return link;
}

Mover::Mover(const NetV12& net, void* comm, bool sends, std::size_t bytes)
    : net_(net), comm_(comm), sends_(sends), memory_(bytes) {
  if (net_.regMr(comm_, memory_.data(), bytes, nccl::kPtrHost, &registration_) !=
      ResultCode::kSuccess)
    std::abort();
}

Mover::~Mover() {
  deregister();
}

void Mover::deregister() {
  if (registration_ != nullptr) net_.deregMr(comm_, std::exchange(registration_, nullptr));
}

void* Mover::try_post(std::size_t offset, std::size_t bytes, ResultCode* code) {
  void* request = reinterpret_cast<void*>(nccl::kOptionalRecvCompletion);
  void* data = memory_.data() + offset;
  int tag = 0;
  const ResultCode result =
      sends_ ? net_.isend(comm_, data, bytes, tag, registration_, nullptr, &request)
             : net_.irecv(comm_, 1, &data, &bytes, &tag, &registration_, nullptr, &request);
  if (code != nullptr)
    *code = result;
  else if (result != ResultCode::kSuccess)
    return nullptr;
  return request;
}

void* Mover::post(std::size_t offset, std::size_t bytes) {
  void* request = nullptr;
  within(std::chrono::seconds(20), [&] {
    ResultCode code{};
    request = try_post(offset, bytes, &code);
    return request != nullptr || code != ResultCode::kSuccess;
  });
  return request;
}

ResultCode finish(const NetV12& net, void* request, int* size, std::chrono::milliseconds limit) {
  int done = 0;
  ResultCode code = ResultCode::kSuccess;
  if (!within(limit, [&] {
        code = net.test(request, &done, size);
        return done != 0 || code != ResultCode::kSuccess;
      }))
    return ResultCode::kTimeout;
  return code;
}

void fill_random(std::vector<std::byte>& memory, std::uint64_t seed) {
  Rng rng(seed);
  std::size_t i = 0;
  for (; i + 8 <= memory.size(); i += 8) {
    const std::uint64_t word = rng.next();
    std::memcpy(memory.data() + i, &word, 8);
  }
  for (; i < memory.size(); ++i)
    memory[i] = static_cast<std::byte>(rng.next());
}

}  // namespace dlcp::test
