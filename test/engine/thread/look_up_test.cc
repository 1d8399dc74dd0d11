#include "engine/thread/look_up.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::engine;

TEST_CASE("the helper looks soon at first, and at growing intervals while the application polls") {
  LookUp look_up(5ms, 60ms);
  CHECK(look_up.planned() == 5ms);
  CHECK(look_up.next() == 5ms);
  CHECK(look_up.planned() == 10ms);
  CHECK(look_up.next() == 10ms);
  CHECK(look_up.next() == 20ms);
  CHECK(look_up.next() == 40ms);
  CHECK(look_up.next() == 60ms);
  CHECK(look_up.next() == 60ms);
}

TEST_CASE("when the application stops polling the helper begins with short intervals again") {
  LookUp look_up(5ms, 60ms);
  look_up.next();
  look_up.next();
  look_up.reset();
  CHECK(look_up.next() == 5ms);
}
