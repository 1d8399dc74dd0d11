#include "nccl/profile/profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <span>

#include "core/counters.h"
#include "engine/devices/registry.h"
#include "engine/settings/environment.h"
#include "engine/settings/settings.h"
#include "nccl/context/log.h"
#include "util/system/fork_guard.h"
#include "util/system/host_name.h"
#include "util/system/signals_blocked.h"
#include "util/system/system_text.h"
#include "util/system/write_file.h"
#include "util/text/file_pattern.h"
#include "whatif/run/overlap.h"
#include "whatif/run/run_file.h"

namespace dlcp::nccl {
namespace {

constinit std::atomic<Profile*> process_profile{nullptr};

// The file is as it was written, not replaced by another one.
bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

std::string load_path() {
  const auto settings = engine::process_settings();
  if (!settings) {
    say({engine::LogLevel::kWarn, "no profile is written: " + settings.error().message()});
    return {};
  }
  return settings.value().profile_file;
}

}  // namespace

std::string profile_file_name(const std::string& path, const whatif::Run& run) {
  const std::string pid = fmt::format("{}", run.pid);
  return file_name_of(path, {{'r', run.rank >= 0 ? fmt::format("{}", run.rank) : "pid" + pid},
                             {'h', run.host},
                             {'p', pid}});
}

Profile* Profile::of_process() {
  static Profile* const profile = [] {
    const std::string path = load_path();
    if (!path.empty()) arm_fork_guard();
    return path.empty() ? nullptr : new Profile(path);
  }();
  process_profile.store(profile, std::memory_order_release);
  return profile;
}

Profile* Profile::active() {
  return process_profile.load(std::memory_order_acquire);
}

Profile::~Profile() {
  {
    const std::lock_guard lock(mutex_);
    if (stop_ != nullptr) *stop_ = true;
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::uint32_t Profile::begin(const whatif::Communicator& communicator) {
  const std::uint32_t index = recorder_.add_communicator(communicator);
  const std::lock_guard lock(mutex_);
  if (communicators_ == 0) stop_ = std::make_shared<bool>(false);
  if (communicators_++ > 0) return index;
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this, stop = stop_] { write_periodically(*stop); });
  } catch (const std::system_error&) {
    // Without the thread the file is written at the end alone.
  }
  return index;
}

void Profile::end() {
  std::thread ended;
  {
    const std::lock_guard lock(mutex_);
    if (communicators_ == 0 || --communicators_ > 0) return;
    *stop_ = true;
    ended = std::move(thread_);
  }
  stopping_.notify_all();
  if (ended.joinable()) ended.join();
  write();
}

void Profile::write_periodically(const bool& stop) {
  std::uint64_t written = 0;
  std::unique_lock lock(mutex_);
  // By the system clock: to wait by the steady clock, the C++ library needs a function of
  // glibc 2.34.
  const auto next = [] { return std::chrono::system_clock::now() + kWriteInterval; };
  while (!stopping_.wait_until(lock, next(), [&] { return stop; })) {
    lock.unlock();
    if (const std::uint64_t recorded = recorder_.recorded(); recorded != written) {
      write();
      written = recorded;
    }
    lock.lock();
  }
}

whatif::Run Profile::collect() {
  whatif::Run run;
  recorder_.copy_to(run);
  whatif::find_overlaps(run.records);
  sampler_.copy_to(run);
  for (const whatif::Communicator& one : run.communicators) {
    if (run.rank >= 0 && one.ranks <= run.ranks) continue;
    run.rank = static_cast<std::int32_t>(one.rank);
    run.ranks = one.ranks;
  }
  run.host = host_name();
  run.pid = getpid();
  engine::Registry& registry = engine::Registry::of_process();
  run.compressed_bytes = registry.total(core::Counter::kBytesCompressed);
  run.compressed_wire_bytes = registry.total(core::Counter::kBytesCompressedWire);
  return run;
}

void Profile::write() {
  const std::lock_guard lock(file_mutex_);
  const whatif::Run run = collect();
  const std::string name = profile_file_name(path_, run);
  // While only small communicators exist, several ranks have this name.
  const std::string part = fmt::format("{}.{}-{}.part", name, run.host, run.pid);
  const std::string text = whatif::write_run(run);
  struct stat written {};
  int error = write_file(part, std::as_bytes(std::span(text)), 0644);
  if (error == 0 && stat(part.c_str(), &written) != 0) error = errno;
  if (error == 0 && std::rename(part.c_str(), name.c_str()) != 0) error = errno;
  if (error == 0) {
    struct stat before {};
    if (name != name_ && stat(name_.c_str(), &before) == 0 && is_same(before, file_))
      unlink(name_.c_str());
    name_ = name;
    file_ = written;
  }
  if (error == 0 || failed_) return;
  failed_ = true;
  unlink(part.c_str());
  say({engine::LogLevel::kWarn,
       fmt::format("cannot write the profile '{}': {}; set DLCP_PROFILE_FILE to a file in a folder "
                   "that this rank may write to",
                   name, system_text(error))});
}

}  // namespace dlcp::nccl
