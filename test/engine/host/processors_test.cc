#include "engine/host/processors.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "catch.h"

namespace dlcp::engine::test {
namespace {

// Files below a temporary folder.
class Root {
 public:
  Root() {
    std::string name = std::filesystem::temp_directory_path() / "processorsXXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Root() { std::filesystem::remove_all(path_); }
  void put(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }
  std::optional<std::size_t> granted() const { return granted_processors(path_); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("the smallest limit of the process's control group and those above it counts") {
  const Root root;
  CHECK(root.granted() == std::nullopt);
  root.put("proc/self/cgroup", "1:cpu:/other\n0::/pods/job\n");
  root.put("sys/fs/cgroup/pods/job/cpu.max", "max 100000\n");
  CHECK(root.granted() == std::nullopt);
  root.put("sys/fs/cgroup/pods/cpu.max", "850000 100000\n");
  CHECK(root.granted() == 9u);
  root.put("sys/fs/cgroup/pods/job/cpu.max", "50000 100000\n");
  CHECK(root.granted() == 1u);
}

TEST_CASE("the limit of a container counts whatever path its host knows it by") {
  const Root root;
  root.put("proc/self/cgroup", "0::/../host/path\n");
  root.put("sys/fs/cgroup/cpu.max", "400000 100000\n");
  CHECK(root.granted() == 4u);
  root.put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  root.put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  CHECK(root.granted() == 4u);
  root.put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  CHECK(root.granted() == 2u);
}

TEST_CASE("at least one processor is usable") {
  CHECK(usable_processors() >= 1);
}

}  // namespace dlcp::engine::test
