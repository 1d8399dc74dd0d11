// The page by which a process shows itself, written by a real process and read by another.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "catch.h"
#include "engine/live_file.h"
#include "engine/monitor.h"

using namespace dlcp;
using namespace dlcp::engine;

namespace {

// Runs `show` in a child, which then waits to be killed; `ready` holds once it has returned.
class Shower {
 public:
  explicit Shower(const std::function<void()>& show) {
    REQUIRE(pipe(pipe_) == 0);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      show();
      [[maybe_unused]] const ssize_t put = write(pipe_[1], "r", 1);
      for (;;)
        pause();
    }
    char byte = 0;
    REQUIRE(read(pipe_[0], &byte, 1) == 1);
  }
  ~Shower() {
    end();
    close(pipe_[0]);
    close(pipe_[1]);
  }
  void end() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      pid_ = -1;
    }
  }
  int pid() const { return pid_; }

 private:
  int pipe_[2] = {-1, -1};
  pid_t pid_ = -1;
};

std::vector<LivePlace> pages_of(int pid) {
  auto places = find_live_pages();
  std::erase_if(places, [pid](const LivePlace& place) { return place.pid != pid; });
  return places;
}

void show_one(const char* version) {
  static LiveFile* const file = new LiveFile(LiveFile::create(version).value());
  LiveDevice device;
  device.name = "eth7";
  device.counters[0] = 42;
  file->page().devices[3].write(device);
}

}  // namespace

TEST_CASE("a process's page is found while it lives, and says what it wrote") {
  Shower shower([] { show_one("1.2.3"); });
  const auto places = pages_of(shower.pid());
  REQUIRE(places.size() == 1);
  auto view = open_live_page(places[0].path, "1.2.3");
  REQUIRE(view.ok());
  const auto device = view.value().page().devices[3].read();
  REQUIRE(device.has_value());
  CHECK(device->name.view() == "eth7");
  CHECK(device->counters[0] == 42);
  CHECK_FALSE(view.value().page().devices[2].read().has_value());
  shower.end();
  CHECK(pages_of(shower.pid()).empty());
}

TEST_CASE("a forked child that inherits the page is not taken for its owner") {
  static pid_t* const grandchild = static_cast<pid_t*>(
      mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  Shower shower([] {
    show_one("1");
    const pid_t forked = fork();
    if (forked == 0) {
      alarm(20);  // should the test not get to end it
      for (;;)
        pause();
    }
    *grandchild = forked;
  });
  const pid_t left = *grandchild;
  REQUIRE(left > 0);
  CHECK(pages_of(shower.pid()).size() == 1);
  CHECK(pages_of(left).empty());
  shower.end();
  CHECK(pages_of(left).empty());
  kill(left, SIGKILL);
}

TEST_CASE("a page of another version, and a file that is no page, are refused by name") {
  Shower shower([] { show_one("9.9"); });
  const auto places = pages_of(shower.pid());
  REQUIRE(places.size() == 1);
  const auto other = open_live_page(places[0].path, "1.2.3");
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message().find("DLCP 9.9") != std::string::npos);
  CHECK(other.error().message().find("1.2.3") != std::string::npos);
  const auto none = open_live_page("/proc/self/exe", "1.2.3");
  CHECK_FALSE(none.ok());
}

TEST_CASE("a reader never sees half of two rows") {
  auto slot = std::make_unique<LiveSlot<LiveDevice>>();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; !stop; ++i) {
      LiveDevice row;
      row.counters.fill(i);
      slot->write(row);
      std::this_thread::sleep_for(std::chrono::microseconds(i % 7));
    }
  });
  std::uint64_t last = 0;
  int seen = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (seen < 2000 && std::chrono::steady_clock::now() < end) {
    const auto row = slot->read();
    if (!row) continue;
    ++seen;
    const auto first = row->counters[0];
    REQUIRE(std::all_of(row->counters.begin(), row->counters.end(),
                        [&](std::uint64_t count) { return count == first; }));
    REQUIRE(first >= last);
    last = first;
  }
  stop = true;
  writer.join();
  CHECK(seen == 2000);
}

TEST_CASE("rows are given back, and a page that is full is nobody's loss") {
  auto file = LiveFile::create("1");
  REQUIRE(file.ok());
  auto rows = std::make_shared<LiveRows>(std::move(file).value());
  std::vector<std::unique_ptr<Monitor>> monitors;
  for (std::size_t i = 0; i < LivePage::kDevicesMax + 2; ++i)
    monitors.push_back(std::make_unique<Monitor>(rows, "lo", "udp"));
  CHECK_FALSE(rows->take_device().has_value());
  monitors.clear();
  CHECK(rows->take_device() == std::size_t{0});
}
