// A picture of an order: the fabric, and the ring through it before and after.
#pragma once

#include <string>
#include <vector>

#include "fabric/fabric.h"

namespace dlcp::order {

// SVG text. Hosts are on a circle, leaf by leaf; lines within a leaf are grey, across leaves
// coloured.
std::string picture(const fabric::Fabric& fabric, const std::vector<int>& before,
                    const std::vector<int>& after);

}  // namespace dlcp::order
