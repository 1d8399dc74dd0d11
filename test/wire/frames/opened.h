// A control frame as its receiver sees it.
#pragma once

#include <optional>

#include "catch.h"
#include "wire/frames/control_frame.h"

namespace dlcp::test {

// The frame decoded again, after it was sealed.
template <class Frame>
std::optional<Frame> opened(wire::Buffer frame) {
  wire::seal(frame, {1, 2}, 3, 4);
  CHECK(wire::authentic(frame, {1, 2}));
  return wire::decode<Frame>(frame);
}

}  // namespace dlcp::test
