// Where live pages lie: in memory of the process itself (memfd), which others of the same user, and
// root, find among its open files in /proc, from outside a container too. Nothing is left behind
// when the process dies. It holds a lock on it (fcntl), by which a reader tells it from its forked
// children.
#pragma once

#include <string>
#include <vector>

#include "engine/live_page.h"
#include "util/fd.h"
#include "util/result.h"

namespace dlcp::engine {

// The page of this process; gone when this ends.
class LiveFile {
 public:
  // Fails where the system refuses; whoever calls goes on without.
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
  // The rest, where the process lays it out as we do; else what to do about it.
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
  int pid = 0;        // as seen from here
  std::string path;   // to open_live_page
  unsigned user = 0;  // its effective user
};

// Pages of living processes that we may look into, by process id. `proc`: where procfs is.
std::vector<LivePlace> find_live_pages(const std::string& proc = "/proc");
// Refuses a file that is no live page.
Result<LiveView> open_live_page(const std::string& path);

}  // namespace dlcp::engine
