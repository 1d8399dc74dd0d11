// The reader of order.json on any text: it refuses with a message, or its result is valid and
// unchanged after writing and reading it again.
#include "fabric/order_file.h"

#include "fuzz_input.h"

using namespace dlcp;
using dlcp::test::require;

std::vector<std::string> fuzz_seeds() {
  return {R"({"version": 1, "hosts": [{"name": "a", "gb_per_s": 100, "addresses": ["::1"]},
   {"name": "b", "slots": 8, "slow": true}], "fabric": {"name": "f", "round_trip_us": 24, "groups": [
   {"name": "l", "round_trip_us": 1.5, "uplink_gb_per_s": 1e2, "hosts": ["a"]}], "hosts": ["b"]},
   "order": ["b", "a"], "report": {"probes": 1}})"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = fabric::read_order({reinterpret_cast<const char*>(data), size});
  if (!read) {
    require(!read.error().what.empty(), "a refusal has a message");
    return 0;
  }
  require(fabric::check(read.value().fabric).ok(), "a file that was read is valid");
  require(read.value().order.size() == read.value().fabric.size(), "the order contains every host");
  const std::string text = fabric::write_order(read.value());
  const auto again = fabric::read_order(text);
  require(again.ok(), "a written file can be read");
  require(fabric::write_order(again.value()) == text, "and gives the same file");
  return 0;
}
