// Tables that the program prints: no line is wider than requested, and no text is lost.
#include "cli/command_line/output/document.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.h"
#include "cli/command_line/terminal.h"
#include "util/text/host_port.h"

using namespace dlcp;
using namespace dlcp::cli;

namespace {

std::size_t widest(const std::string& text) {
  std::istringstream lines(text);
  std::size_t width = 0;
  for (std::string line; std::getline(lines, line);)
    width = std::max(width, line.size());
  return width;
}

const Document kTwo{
    {"name", "if it grows"},
    {{"drops", "look at the switches, then at the hosts, then at the cables"}, {"acks", ""}},
    true};

}  // namespace

TEST_CASE("text is broken at blanks and keeps its own newlines") {
  CHECK(wrapped("one two three", 9) == "one two\nthree\n");
  CHECK(wrapped("one\n\ntwo", 80) == "one\n\ntwo\n");
  CHECK(wrapped("  dlcp bench --mode ring", 14, 2) == "    dlcp bench\n    --mode\n    ring\n");
  CHECK(wrapped("averyverylongword", 5) == "averyverylongword\n");
  CHECK(wrapped("", 5) == "");
  CHECK(beside("  --json", "As JSON", 12, 40) == "  --json    As JSON\n");
  CHECK(beside("  --a-long-name N", "Help", 12, 40) == "  --a-long-name N\n            Help\n");
}

TEST_CASE("a table has columns if they fit, and paragraphs otherwise") {
  CHECK(kTwo.to_text(50) ==
        "name   if it grows\n"
        "drops  look at the switches, then at the hosts,\n"
        "       then at the cables\n"
        "acks\n");
  const Document wide{
      {"name", "type", "default", "meaning"},
      {{"DLCP_SOMETHING_LONG", "size", "a default of many letters", "what it does"}}};
  CHECK(
      wide.to_text(60) ==
      "DLCP_SOMETHING_LONG\n    type size; default a default of many letters\n    what it does\n");
  for (const std::size_t width : {40, 60, 80, 100}) {
    CHECK(widest(kTwo.to_text(width)) <= width);
    CHECK(widest(wide.to_text(width)) <= width);
  }
}

TEST_CASE("Markdown escapes bars and marks text to be typed; JSON keeps all") {
  const Document document{{"the name", "range"}, {{"X", "a|b"}}, true};
  CHECK(document.to_markdown() == "| the name | range |\n|---|---|\n| `X` | a\\|b |\n");
  CHECK(document.to_json().dump() == R"([{"the_name":"X","range":"a|b"}])");
}

TEST_CASE("rows are found by a word in any case") {
  CHECK(kTwo.filtered("SWITCHES").rows.size() == 1);
  CHECK(kTwo.filtered("").rows.size() == 2);
  CHECK(kTwo.filtered("no such").rows.empty());
}

TEST_CASE("hosts and ports are separated in every address family") {
  CHECK(split_host_port("h")->host == "h");
  CHECK_FALSE(split_host_port("h")->port);
  CHECK(*split_host_port("h:5")->port == 5);
  CHECK(split_host_port("fd00::1")->host == "fd00::1");
  CHECK(split_host_port("[fd00::1]")->host == "fd00::1");
  CHECK(*split_host_port("[fd00::1]:5")->port == 5);
  CHECK(join_host_port("h", 5) == "h:5");
  CHECK(join_host_port("fd00::1", 5) == "[fd00::1]:5");
  for (const char* bad : {"", ":5", "h:", "h:0", "h:65536", "[::1", "[::1]5", "[]:5"})
    CHECK_FALSE(split_host_port(bad));
}
