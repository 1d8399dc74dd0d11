// What there is to know about a device: constants of an A100's kind, and a bus address each.
#pragma once

#include <string>

namespace softcuda {

int attribute_of(int device, int attribute);  // 0 for one that is not known
std::string bus_id_of(int device);

}  // namespace softcuda
