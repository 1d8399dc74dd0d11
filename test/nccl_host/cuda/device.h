// The properties of a device: constants similar to an A100's, and a bus address for each.
#pragma once

#include <string>

namespace softcuda {

int attribute_of(int device, int attribute);  // 0 for an unknown attribute
std::string bus_id_of(int device);

}  // namespace softcuda
