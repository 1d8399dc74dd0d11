// Config file text and environment values: any input is either accepted or refused with a message,
// and accepted values are in range.
#include "engine/settings/config_file.h"
#include "engine/settings/knobs.h"
#include "engine/settings/settings.h"
#include "fuzz_input.h"

using namespace dlcp;
using dlcp::test::FuzzInput;
using dlcp::test::require;

std::vector<std::string> fuzz_seeds() {
  const auto seed = [](const char* name, const char* value, const char* file) {
    std::string text(24, '\0');
    text.replace(0, std::strlen(name), name);
    std::string padded(12, '\0');
    padded.replace(0, std::strlen(value), value);
    return text + padded + file;
  };
  return {seed("DLCP_PATHS", "8", "# comment\nDLCP_BURST = 4\nDLCP_EAGER=64K\n"),
          seed("DLCP_PEER_TIMEOUT", "2.5", "DLCP_CHECKSUM = full\r\n\n"),
          seed("NCCL_SOCKET_IFNAME", "=lo", "DLCP_PATHS = 16 # sixteen\nDLCP_PATHS = 17\n")};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  const auto text = [&](std::size_t bytes) {
    const std::string taken = input.take_text(bytes);
    return taken.substr(0, taken.find('\0'));
  };
  const std::string name = text(24);
  const std::string value = text(12);
  const std::string file = input.take_text(size);
  const engine::Variables environment = {{name, value}};
  const auto settings = engine::load_settings(
      environment, [&](const std::string&) -> Result<std::optional<std::string>> {
        return std::optional(file);
      });
  if (!settings.ok()) {
    require(!settings.error().what.empty() && settings.error().code == ErrorCode::kInvalidUsage,
            "a refusal has words");
    return 0;
  }
  const engine::Settings& taken = settings.value();
  require(taken.paths >= 1 && taken.paths <= 256, "paths are in range");
  require(taken.burst_packets_max <= 64, "the burst is in range");
  require(taken.peer_timeout >= 100ms && taken.peer_timeout <= 3600s, "the timeout is in range");
  require(taken.linger <= 10s, "the linger is in range");
  require(taken.effective.size() == engine::knobs().size(), "every knob has a value");
  return 0;
}
