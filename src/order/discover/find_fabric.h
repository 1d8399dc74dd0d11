// Builds a fabric from leaves: groups the leaves into pods if the distances between them show any,
// and sets the distance between the hosts of each group.
#pragma once

#include <vector>

#include "fabric/fabric.h"
#include "order/measure/measurements.h"
#include "order/measure/survey.h"

namespace dlcp::order {

// `hosts`: names and addresses only. Silent hosts are placed in the top group.
fabric::Fabric find_fabric(std::vector<fabric::Host> hosts, const Measurements& known,
                           const Survey& survey);

}  // namespace dlcp::order
