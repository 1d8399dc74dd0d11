// The page in which a process publishes its state, written by a real process and read by another.
#include <fcntl.h>
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
#include "datapath/forwarding_datapath.h"
#include "datapath/udp/udp_counters.h"
#include "datapath/verbs/placement/placement_counters.h"
#include "datapath/verbs/verbs_counters.h"
#include "engine/live/live_file.h"
#include "engine/live/monitor.h"
#include "engine/memory_datapath.h"
#include "secrets.h"

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

void show_head_only(int seals) {
  const int file = memfd_create("dlcp-live", MFD_ALLOW_SEALING);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  LiveHead head{};
  head.magic = LiveHead::kMagic;
  head.layout = LivePage::kLayout;
  [[maybe_unused]] const ssize_t put = write(file, &head, sizeof head);
  fcntl(file, F_ADD_SEALS, seals);
  fcntl(file, F_SETLK, &lock);
}

}  // namespace

TEST_CASE("a process's page is found while the process runs, and has the values it wrote") {
  Shower shower([] { show_one("1.2.3"); });
  const auto places = pages_of(shower.pid());
  REQUIRE(places.size() == 1);
  auto view = open_live_page(places[0].path);
  REQUIRE(view.ok());
  const auto device = view.value().page().value()->devices[3].read();
  REQUIRE(device.has_value());
  CHECK(device->name.view() == "eth7");
  CHECK(device->counters[0] == 42);
  CHECK_FALSE(view.value().page().value()->devices[2].read().has_value());
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
      alarm(20);  // in case the test does not end it
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

TEST_CASE("a page of another version with the same layout is read") {
  Shower shower([] { show_one("9.9"); });
  const auto places = pages_of(shower.pid());
  REQUIRE(places.size() == 1);
  CHECK(places[0].user == geteuid());
  auto view = open_live_page(places[0].path);
  REQUIRE(view.ok());
  CHECK(view.value().head().version.view() == "9.9");
  CHECK(view.value().page().ok());
  CHECK_FALSE(open_live_page("/proc/self/exe").ok());
}

TEST_CASE("a page of another layout is not read, but its process can be made exact") {
  Shower shower([] {
    static LiveFile* const file = new LiveFile(LiveFile::create("9.9").value());
    file->page().head.layout = LivePage::kLayout + 1;
  });
  const auto places = pages_of(shower.pid());
  REQUIRE(places.size() == 1);
  auto view = open_live_page(places[0].path);
  REQUIRE(view.ok());
  const auto page = view.value().page();
  REQUIRE_FALSE(page.ok());
  CHECK_THAT(page.error().message(), Contains("DLCP 9.9") && Contains("`dlcp exact` works"));
  CHECK(view.value().head().exact == 0);
  view.value().make_exact(true);
  CHECK(open_live_page(places[0].path).value().head().exact == 1);
}

TEST_CASE("the head of a page that is too short can be used") {
  Shower shower([] { show_head_only(F_SEAL_SHRINK); });
  const auto places = pages_of(shower.pid());
  REQUIRE(places.size() == 1);
  auto view = open_live_page(places[0].path);
  REQUIRE(view.ok());
  CHECK_FALSE(view.value().page().ok());
  view.value().make_exact(true);
  CHECK(view.value().head().exact == 1);
}

TEST_CASE("a page that its owner could still shrink is rejected, so that no reader dies of it") {
  Shower shower([] { show_head_only(F_SEAL_GROW); });
  const auto places = pages_of(shower.pid());
  REQUIRE(places.size() == 1);
  const auto view = open_live_page(places[0].path);
  REQUIRE_FALSE(view.ok());
  CHECK_THAT(view.error().message(), Contains("is not a statistics page"));
}

TEST_CASE("control characters in another process's version do not reach the terminal") {
  Shower shower([] {
    static LiveFile* const file = new LiveFile(LiveFile::create("9.9\x1b[31m").value());
    file->page().head.layout = LivePage::kLayout + 1;
  });
  const auto places = pages_of(shower.pid());
  REQUIRE(places.size() == 1);
  const auto view = open_live_page(places[0].path);
  REQUIRE(view.ok());
  CHECK_THAT(view.value().page().error().message(), Contains("DLCP 9.9?[31m,"));
}

TEST_CASE("the flag of `dlcp exact` has its fixed offset") {
  CHECK(LiveHead::kMagic == 0x31766c70636c64);
  CHECK(offsetof(LiveHead, exact) == 120);
  CHECK(offsetof(LivePage, head) == 0);
}

TEST_CASE("a monitor reports each change of a reader's request once") {
  auto file = LiveFile::create("1");
  REQUIRE(file.ok());
  auto rows = std::make_shared<LiveRows>(std::move(file).value());
  Monitor monitor(rows, "lo", "udp");
  CHECK_FALSE(monitor.exact_changed().has_value());
  rows->page().head.exact = 1;
  CHECK(monitor.exact_changed() == true);
  CHECK_FALSE(monitor.exact_changed().has_value());
  rows->page().head.exact = 0;
  CHECK(monitor.exact_changed() == false);
  CHECK_FALSE(monitor.exact_changed().has_value());
}

TEST_CASE("a reader never gets a mixture of two versions of a row") {
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

TEST_CASE("a row in a slot that was cleared has a number that no earlier row had") {
  auto slot = std::make_unique<LiveSlot<LiveDevice>>();
  const auto sequence = [&] {
    std::uint64_t number = 0;  // the first member
    std::memcpy(&number, static_cast<const void*>(slot.get()), sizeof number);
    return number;
  };
  std::uint64_t last = 0;
  for (int row = 0; row < 3; ++row) {
    slot->write(LiveDevice{});
    CHECK(sequence() > last);
    last = sequence();
    slot->clear();
    slot->clear();
    CHECK_FALSE(slot->read().has_value());
  }
}

TEST_CASE("a page without a row for each lane says how many lanes it lacks") {
  auto file = LiveFile::create("1");
  REQUIRE(file.ok());
  auto rows = std::make_shared<LiveRows>(std::move(file).value());
  std::vector<std::unique_ptr<Monitor>> monitors;
  const auto lanes = [&](std::size_t count) {
    while (monitors.size() < count)
      monitors.push_back(std::make_unique<Monitor>(rows, "lo", "udp"));
    monitors.resize(count);
    return rows->page().missing.load();
  };
  CHECK(LivePage::kDevicesMax >= 16 * 16);  // 16 devices of 16 lanes
  CHECK(lanes(LivePage::kDevicesMax) == 0);
  CHECK(lanes(LivePage::kDevicesMax + 2) == 2);
  CHECK(lanes(LivePage::kDevicesMax + 1) == 1);
  CHECK(lanes(0) == 0);
}

TEST_CASE("a page without a row for each communicator says how many it lacks") {
  auto file = LiveFile::create("1");
  REQUIRE(file.ok());
  auto rows = std::make_shared<LiveRows>(std::move(file).value());
  test::MemoryDatapath datapath(std::make_shared<test::Wire>(), 0);
  const core::Endpoint endpoint({}, datapath.local_address(), test::secrets_of(1));
  {
    Monitor monitor(rows, "lo", "udp");
    for (core::ContextId context = 1; context <= LivePage::kCommunicatorsMax + 3; ++context)
      monitor.describe(context, {});
    monitor.show(time_from_ns(1), endpoint, datapath);
    CHECK(rows->page().missing == 3);
    monitor.forget(1, endpoint);
    monitor.show(time_from_ns(2), endpoint, datapath);
    CHECK(rows->page().missing == 2);
  }
  CHECK(rows->page().missing == 0);
}

TEST_CASE("a device's row has the counters of its datapath, as many as fit") {
  struct Counting : datapath::ForwardingDatapath {
    explicit Counting(datapath::Datapath& inner) : ForwardingDatapath(inner) {}
    std::vector<datapath::NamedCount> counts() const override { return all; }
    std::vector<datapath::NamedCount> all = {{"rx_packets", 7}, {"tx_error_bad_destination", 1}};
  };
  test::MemoryDatapath memory(std::make_shared<test::Wire>(), 0);
  Counting datapath(memory);
  auto file = LiveFile::create("1");
  REQUIRE(file.ok());
  auto rows = std::make_shared<LiveRows>(std::move(file).value());
  const core::Endpoint endpoint({}, datapath.local_address(), test::secrets_of(1));
  Monitor monitor(rows, "lo", "udp");
  monitor.show(time_from_ns(1), endpoint, datapath);
  const auto row = rows->page().devices[0].read();
  REQUIRE(row.has_value());
  CHECK(row->datapath_counts[0].name.view() == "rx_packets");
  CHECK(row->datapath_counts[0].value == 7);
  CHECK(row->datapath_counts[1].name.view() == "tx_error_bad_destination");
  CHECK(row->datapath_counts[2].name.view().empty());
  datapath.all.assign(LiveDevice::kCountsMax + 1, {"more", 3});
  monitor.show(time_from_ns(2), endpoint, datapath);
  CHECK(rows->page().devices[0].read()->datapath_counts.back().value == 3);
}

TEST_CASE("a device's row has room for the counters of each datapath, and their names") {
  const auto fits = [](const auto&... lists) {
    std::size_t count = 0;
    const auto add = [&](const auto& rows) {
      for (const auto& row : rows) {
        CHECK(row.name.size() < 32);
        count++;
      }
    };
    (add(lists), ...);
    CHECK(count <= LiveDevice::kCountsMax);
  };
  fits(datapath::kUdpCounterRows);
  fits(datapath::kVerbsCounterRows, datapath::kPlacementCounterRows);
}

TEST_CASE("rows are released, and a full page does no harm") {
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

TEST_CASE("communicators that have ended share one row, and the sums over the rows stay") {
  auto file = LiveFile::create("1");
  REQUIRE(file.ok());
  auto rows = std::make_shared<LiveRows>(std::move(file).value());
  Monitor monitor(rows, "lo", "udp");
  test::MemoryDatapath datapath(std::make_shared<test::Wire>(), 0);
  const core::Endpoint endpoint({}, datapath.local_address(), test::secrets_of(1));
  const auto shown = [&] {
    std::vector<LiveCommunicator> all;
    for (const auto& slot : rows->page().communicators)
      if (const auto row = slot.read()) all.push_back(*row);
    return all;
  };
  for (core::ContextId context = 1; context <= 2 * LivePage::kCommunicatorsMax; ++context) {
    INFO(context);
    ContextDescription description;
    description.communicator = 1000 + context;
    monitor.describe(context, description);
    Completion completion;
    completion.context = context;
    completion.sends = true;
    monitor.completed(completion);
    monitor.show(time_from_ns(static_cast<std::int64_t>(context)), endpoint, datapath);
    std::uint64_t sends = 0;
    bool is_shown = false;
    for (const LiveCommunicator& row : shown()) {
      sends += row.sends.count();
      is_shown = is_shown || row.communicator == 1000 + context;
    }
    CHECK(is_shown);
    CHECK(sends == context);
    monitor.forget(context, endpoint);
    const auto left = shown();
    REQUIRE(left.size() == 1);
    CHECK(left[0].context == 0);
    CHECK(left[0].sends.count() == context);
  }
  monitor.describe(1000, {});
  monitor.forget(1000, endpoint);  // it did nothing
  CHECK(shown().size() == 1);
}
