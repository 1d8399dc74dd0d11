// The storage of live pages: memory of the process itself (memfd), which other processes of the
// same user, and root, find among its open files in /proc, also from outside a container. Nothing
// remains when the process dies. The process holds a lock on the file (fcntl), by which a reader
// distinguishes it from its forked children.
#pragma once

#include <string>
#include <vector>

#include "engine/live/live_page.h"
#include "util/result.h"
#include "util/system/fd.h"

namespace dlcp::engine {

// The page of this process, removed when this object is destroyed.
class LiveFile {
 public:
  // Fails if the system refuses; the caller continues without a page.
  static Result<LiveFile> create(const std::string& version);
  LiveFile(LiveFile&& other) noexcept;
  LiveFile& operator=(LiveFile&&) = delete;
  ~LiveFile();

  LivePage& page() { return *page_; }
  int descriptor() const { return file_.get(); }

 private:
  LiveFile(Fd file, LivePage* page) : file_(std::move(file)), page_(page) {}

  Fd file_;
  LivePage* page_ = nullptr;
};

// The page of another process.
class LiveView {
 public:
  LiveView(LiveView&& other) noexcept;
  LiveView& operator=(LiveView&&) = delete;
  ~LiveView();

  LiveHead& head() const { return *head_; }
  // The part after the head if the process uses the same layout; otherwise an error that states
  // what to do.
  Result<const LivePage*> page() const;

  void ask_for_paths() { head_->paths_wanted.fetch_add(1); }
  void make_exact(bool exact) { head_->exact.store(exact ? 1 : 0); }

 private:
  friend Result<LiveView> open_live_page(const std::string&);
  LiveView(LiveHead* head, std::size_t bytes) : head_(head), bytes_(bytes) {}

  LiveHead* head_ = nullptr;
  std::size_t bytes_ = 0;  // mapped
};

struct LivePlace {
  int pid = 0;        // as seen by this process
  std::string path;   // for open_live_page
  unsigned user = 0;  // its effective user ID
};

// Whether this entry of a process's open files (/proc/PID/fd) is a live page: its own, or the one
// of the process that forked it.
bool is_live_page(const std::string& path);
// Pages of running processes that this one may read, by process ID. `proc` is the mount point of
// procfs.
std::vector<LivePlace> find_live_pages(const std::string& proc = "/proc");
// Rejects a file that is not a live page. Among these is one that its owner could still shrink,
// because reading the missing part would end this process (SIGBUS).
Result<LiveView> open_live_page(const std::string& path);

}  // namespace dlcp::engine
