#include "engine/lane/notices.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "catch.h"

namespace dlcp::engine::test {

TEST_CASE("a notice whose receiver throws is lost, and the others are delivered") {
  std::vector<std::string> log;
  std::vector<core::ContextId> failed;
  Notices notices(
      [&](const LogLine& line) {
        if (line.text == "bad") throw std::runtime_error("no memory");
        log.push_back(line.text);
      },
      [&](core::ContextId context, const Error&) {
        if (context == 1) throw std::runtime_error("no memory");
        failed.push_back(context);
      });
  notices.log(LogLevel::kWarn, "bad");
  notices.log(LogLevel::kWarn, "good");
  notices.failed(1, {});
  notices.failed(2, {});
  notices.speak(notices.take());
  CHECK(log == std::vector<std::string>{"good"});
  CHECK(failed == std::vector<core::ContextId>{2});
}

}  // namespace dlcp::engine::test
