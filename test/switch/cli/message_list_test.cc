// Lists of many similar messages: each hint once, and the first ten messages of each kind.
#include "switch/cli/report/message_list.h"

#include "catch.h"

using namespace dlcp::fabric::cli;

namespace {

// "row N is wrong" at "file:N", with this hint.
std::vector<Message> wrong_rows(int count, const std::string& hint) {
  std::vector<Message> messages;
  for (int i = 1; i <= count; ++i) {
    const std::string number = std::to_string(i), what = "row " + number + " is wrong";
    messages.push_back({what, kind_of(what), hint, "file:" + number});
  }
  return messages;
}

}  // namespace

TEST_CASE("Messages that differ only in names and numbers are of one kind") {
  CHECK(kind_of("wrong value of speed in ports of switch 'leaf1'") ==
        kind_of("wrong value of speed in ports of switch 'core'"));
  CHECK(kind_of("port Ethernet0 is wrong") == kind_of("port Ethernet4 is wrong"));
  CHECK(kind_of("the site's queue 3") == "the site's queue #");
  CHECK(kind_of("wrong value of speed") != kind_of("wrong value of trust"));
}

TEST_CASE("A single message has its hint on the next line") {
  CHECK(message_list({{"no ports", "no ports", "add ports", "file:3"}}, false) ==
        "no ports\n  hint: add ports\n");
}

TEST_CASE("A hint of several messages is printed once, with their number and first places") {
  CHECK(message_list(wrong_rows(2, "repair it"), false) ==
        "row 1 is wrong\nrow 2 is wrong\n"
        "  hint for these 2 (file:1, file:2): repair it\n");
  const std::string text = message_list(wrong_rows(200, "repair it"), false);
  CHECK_THAT(text,
             Contains("  hint for these 200 (file:1, file:2, file:3 and 197 more): repair it\n"));
  CHECK(text.find("hint") == text.rfind("hint"));
}

TEST_CASE("Of each kind ten messages are printed, and with `all` every one") {
  CHECK_THAT(message_list(wrong_rows(10, ""), false), !Contains("more"));
  const std::string text = message_list(wrong_rows(11, ""), false);
  CHECK_THAT(text, Contains("row 10 is wrong\n  ... and 1 more like these; --all prints them\n"));
  CHECK_THAT(text, !Contains("row 11"));
  const std::string all = message_list(wrong_rows(200, "repair it"), true);
  CHECK_THAT(all, Contains("row 200 is wrong\n  hint for these 200 (file:1"));
  CHECK_THAT(all, !Contains("--all"));
}

TEST_CASE("Messages of different kinds with the same hint are counted separately") {
  auto messages = wrong_rows(11, "repair it");
  messages.push_back({"no ports", "no ports", "repair it", "file:20"});
  const std::string text = message_list(messages, false);
  CHECK_THAT(text,
             Contains("and 1 more like these; --all prints them\nno ports\n  hint for these 12"));
}

TEST_CASE("Messages that need no joining remain in their order") {
  const std::vector<Message> messages = {
      {"a", "a", "x", ""}, {"b", "b", "", ""}, {"c", "c", "x", ""}, {"d", "d", "y", ""}};
  CHECK(message_list(messages, false) == "a\nc\n  hint for these 2: x\nb\nd\n  hint: y\n");
}

TEST_CASE("Long lists of names are shortened") {
  CHECK(first_names({"a", "b", "c", "d"}, false) == "a, b, c, d");
  CHECK(first_names({"a", "b", "c", "d", "e"}, false) == "a, b, c and 2 more");
  CHECK(first_names({"a", "b", "c", "d", "e"}, true) == "a, b, c, d, e");
}

TEST_CASE("Switches with equal reports share one") {
  const auto joined = joined_reports({{"leaf1", "x"}, {"spine1", "y"}, {"leaf2", "x"}});
  REQUIRE(joined.size() == 2);
  CHECK(joined[0].names == std::vector<std::string>{"leaf1", "leaf2"});
  CHECK(joined[1].text == "y");
}
