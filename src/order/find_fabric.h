// From leaves to a fabric: groups the leaves into pods where the distances between them show such,
// and says how far the hosts of each group are from each other.
#pragma once

#include <vector>

#include "fabric/fabric.h"
#include "order/measurements.h"
#include "order/survey.h"

namespace dlcp::order {

// `hosts` as given, with nothing known but who they are. Silent hosts hang on the top group.
fabric::Fabric find_fabric(std::vector<fabric::Host> hosts, const Measurements& known,
                           const Survey& survey);

}  // namespace dlcp::order
