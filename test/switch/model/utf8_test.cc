#include "switch/model/text/utf8.h"

#include <string>

#include "catch.h"

using namespace dlcp::fabric;

TEST_CASE("the first line that is not UTF-8 is found") {
  CHECK_FALSE(first_line_not_utf8(""));
  CHECK_FALSE(first_line_not_utf8("plain\n\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80\n"));
  CHECK(first_line_not_utf8("w\xfcrzburg") == 1);         // Latin-1
  CHECK(first_line_not_utf8("one\ntwo\n\xff\xfe") == 3);  // UTF-16's mark
  CHECK(first_line_not_utf8("\xc3") == 1);                // truncated
  CHECK(first_line_not_utf8("\xe2\x82") == 1);
  CHECK(first_line_not_utf8("\xf0\x9f\x98 ") == 1);
  CHECK(first_line_not_utf8("\xc0\xaf") == 1);  // '/', overlong
  CHECK(first_line_not_utf8("\xe0\x9f\xbf") == 1);
  CHECK_FALSE(first_line_not_utf8("\xe0\xa0\x80"));  // U+0800, the first of three bytes
  CHECK_FALSE(first_line_not_utf8("\xed\x9f\xbf"));  // U+D7FF, the last before surrogates
  CHECK(first_line_not_utf8("\xed\xa0\x80") == 1);
  CHECK_FALSE(first_line_not_utf8("\xf4\x8f\xbf\xbf"));  // U+10FFFF, the last code point
  CHECK(first_line_not_utf8("\xf4\x90\x80\x80") == 1);
  CHECK(first_line_not_utf8("\x80") == 1);
}
