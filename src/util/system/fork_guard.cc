// MADV_WIPEONFORK needs Linux 4.14. If it fails, the process id is compared instead.
#include "util/system/fork_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>

namespace dlcp {
namespace {

constexpr unsigned char kOurs = 0xa5;  // a wiped page reads 0

constinit std::atomic<const volatile unsigned char*> guard_page{nullptr};
constinit std::atomic<pid_t> armed_by{0};  // set only if there is no page

const volatile unsigned char* make_page() {
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, bytes, MADV_WIPEONFORK) != 0) {
    munmap(page, bytes);
    return nullptr;
  }
  *static_cast<unsigned char*>(page) = kOurs;
  return static_cast<const volatile unsigned char*>(page);
}

}  // namespace

void arm_fork_guard() {
  if (guard_page.load(std::memory_order_acquire) != nullptr || armed_by.load() != 0) return;
  const volatile unsigned char* page = make_page();
  if (page == nullptr) {
    armed_by.store(getpid());
    return;
  }
  const volatile unsigned char* none = nullptr;
  // If two threads race here, one page is leaked, which is harmless.
  guard_page.compare_exchange_strong(none, page, std::memory_order_release);
}

bool in_forked_child() {
  const volatile unsigned char* page = guard_page.load(std::memory_order_acquire);
  if (page != nullptr) return *page != kOurs;
  const pid_t owner = armed_by.load(std::memory_order_relaxed);
  return owner != 0 && owner != getpid();
}

}  // namespace dlcp
