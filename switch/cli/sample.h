// The commented sample intent that `dlcp-switch init` writes and README shows.
#pragma once

#include <string_view>

namespace dlcp::fabric::cli {

std::string_view sample_intent();

// Overrides of the class table that avoid AF1x, AF2x and CS5, which sites often use.
std::string_view local_classes();

}  // namespace dlcp::fabric::cli
