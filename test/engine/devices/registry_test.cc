// The engines of a process, on a device of memory.
#include "engine/devices/registry.h"

#include "catch.h"
#include "datapath/address/device_address.h"
#include "engine/devices/carrier.h"
#include "engine/memory_datapath.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::engine;

namespace {

class MemoryAccess final : public Access {
 public:
  explicit MemoryAccess(const std::shared_ptr<Wire>& wire) : wire_(wire) {}
  const Carrier& over() const override { return kRoce; }
  Result<OpenedDevice> open(const Settings&) const override {
    if (wire_->gone) return Error{ErrorCode::kSystem, "there is no such card", ""};
    return OpenedDevice{std::make_unique<MemoryDatapath>(wire_, 0), {}, "a card"};
  }

 private:
  const std::shared_ptr<Wire>& wire_;
};

}  // namespace

TEST_CASE("a device that has failed is opened again for later users") {
  auto wire = std::make_shared<Wire>();
  Setup setup;
  setup.settings.live_stats = false;
  setup.devices.emplace_back().accesses.push_back(std::make_shared<MemoryAccess>(wire));
  Registry registry([](const LogLine&) {}, [&] { return Result<Setup>(setup); });
  auto earlier = registry.port(0);
  REQUIRE(earlier.ok());
  CHECK(registry.port(0)->lanes()[0].engine == earlier->lanes()[0].engine);
  wire->gone = true;
  const auto without = registry.port(0);
  REQUIRE_FALSE(without.ok());
  CHECK(without.error().what == "there is no such card");
  wire = std::make_shared<Wire>();
  auto later = registry.port(0);
  REQUIRE(later.ok());
  CHECK(later->lanes()[0].engine != earlier->lanes()[0].engine);
}
