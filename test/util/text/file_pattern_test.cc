#include "util/text/file_pattern.h"

#include "catch.h"

using dlcp::file_name_of;

TEST_CASE("each placeholder in the name of a file is replaced, as often as it occurs") {
  CHECK(file_name_of("/tmp/%h.%p-%h", {{'p', "42"}, {'h', "n7"}}) == "/tmp/n7.42-n7");
}

TEST_CASE("other text stays as it is, also a percent sign in a value or at the end") {
  CHECK(file_name_of("a%r%%p%", {{'p', "%p"}}) == "a%r%%p%");
  CHECK(file_name_of("", {{'p', "42"}}).empty());
}
