// The answer of `dlcp whatif` as one HTML page with its pictures inside.
#pragma once

#include <string>

#include "whatif/predict/predict.h"

namespace dlcp::cli {

std::string whatif_page(const whatif::Answer& answer);

}  // namespace dlcp::cli
