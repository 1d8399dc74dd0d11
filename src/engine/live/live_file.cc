#include "engine/live/live_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "util/system/system_text.h"
#include "util/text/printable.h"

namespace dlcp::engine {
namespace {

constexpr const char* kName = "dlcp-live";
constexpr std::string_view kLink = "/memfd:dlcp-live";  // followed by " (deleted)"

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

Error failed(const std::string& what, std::string hint) {
  return {ErrorCode::kSystem, fmt::format("{}: {}", what, system_text(errno)), std::move(hint)};
}

void* map(int file, std::size_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

std::string own_command() {
  const Fd file(open("/proc/self/comm", O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text{};
  const ssize_t got = file.valid() ? read(file.get(), text.data(), text.size()) : 0;
  return std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got - 1, 0)));
}

// Process ID of the page's owner, which holds its lock; 0 if the owner has died or is this process.
int owner_of(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock = whole_file();
  if (!file.valid() || fcntl(file.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid;
}

void each_entry(const std::string& folder, const std::function<void(const char*)>& take) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open_folder(opendir(folder.c_str()), closedir);
  while (const dirent* entry = open_folder == nullptr ? nullptr : readdir(open_folder.get()))
    take(entry->d_name);
}

}  // namespace

Result<LiveFile> LiveFile::create(const std::string& version) {
  const char* const hint = "dlcp stats and dlcp exact will not reach this process";
  Fd file(memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) return failed("cannot create a page for dlcp stats", hint);
  struct flock lock = whole_file();
  LivePage* page = nullptr;
  // The file is sealed: if another process truncated it, the next write would kill this process.
  if (ftruncate(file.get(), sizeof(LivePage)) == 0 &&
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0 &&
      fcntl(file.get(), F_SETLK, &lock) == 0)
    page = static_cast<LivePage*>(map(file.get(), sizeof(LivePage)));
  if (page == nullptr) return failed("cannot set up a page for dlcp stats", hint);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  LiveHead& head = page->head;
  head.version = version;
  head.command = own_command();
  head.started_at = now.tv_sec;
  head.page_bytes = sizeof(LivePage);
  head.layout = LivePage::kLayout;
  std::atomic_ref(head.magic).store(LiveHead::kMagic, std::memory_order_release);
  return LiveFile(std::move(file), page);
}

LiveFile::LiveFile(LiveFile&& other) noexcept
    : file_(std::move(other.file_)), page_(std::exchange(other.page_, nullptr)) {}

LiveFile::~LiveFile() {
  if (page_ != nullptr) munmap(page_, sizeof(LivePage));
}

LiveView::LiveView(LiveView&& other) noexcept
    : head_(std::exchange(other.head_, nullptr)), bytes_(other.bytes_) {}

LiveView::~LiveView() {
  if (head_ != nullptr) munmap(head_, bytes_);
}

Result<const LivePage*> LiveView::page() const {
  if (head_->layout != LivePage::kLayout || bytes_ < sizeof(LivePage)) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("it runs DLCP {}, whose statistics this version of dlcp cannot "
                             "read",
                             printable(head_->version.view())),
                 "use the dlcp of the same release as that plugin; `dlcp exact` works across "
                 "versions"};
  }
  return reinterpret_cast<const LivePage*>(head_);
}

bool is_live_page(const std::string& path) {
  std::array<char, 64> target{};
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  return length > 0 &&
         std::string_view(target.data(), static_cast<std::size_t>(length)).starts_with(kLink);
}

std::vector<LivePlace> find_live_pages(const std::string& proc) {
  std::vector<LivePlace> places;
  each_entry(
      proc,
      [&](const char* process) {
        int pid = 0;
        const auto [end, error] = std::from_chars(process, process + std::strlen(process), pid);
        if (error != std::errc() || *end != '\0') return;
        const std::string folder = fmt::format("{}/{}/fd", proc, process);
        each_entry(
            folder,
            [&](const char* descriptor) {
              std::string path = folder + "/" + descriptor;
              if (is_live_page(path) && owner_of(path) == pid) {
                struct stat status {};
                const bool known = stat(fmt::format("{}/{}", proc, process).c_str(), &status) == 0;
                places.push_back({pid, std::move(path), known ? status.st_uid : 0});
              }
            });
      });
  std::sort(places.begin(), places.end(),
            [](const LivePlace& a, const LivePlace& b) { return a.pid < b.pid; });
  return places;
}

Result<LiveView> open_live_page(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status {};
  // Seals are read before the size: a sealed file keeps at least that size.
  const int seals = file.valid() ? fcntl(file.get(), F_GET_SEALS) : 0;
  if (!file.valid() || fstat(file.get(), &status) != 0)
    return failed("cannot open " + path, "run as the user of the job, or as root");
  const Error no_page{ErrorCode::kInvalidUsage, path + " is not a statistics page of DLCP", ""};
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return no_page;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < sizeof(LiveHead)) return no_page;
  const std::size_t mapped = std::min(bytes, sizeof(LivePage));
  auto* const head = static_cast<LiveHead*>(map(file.get(), mapped));
  if (head == nullptr) return failed("cannot map " + path, "");
  LiveView view(head, mapped);
  if (std::atomic_ref(head->magic).load(std::memory_order_acquire) != LiveHead::kMagic)
    return no_page;
  return view;
}

}  // namespace dlcp::engine
