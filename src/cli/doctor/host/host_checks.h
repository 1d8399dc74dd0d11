// Checks of the host as the plugin uses it: kernel, settings, interfaces.
#pragma once

#include <string>

#include "cli/doctor/finding.h"

namespace dlcp::cli {

Finding check_kernel(const std::string& release);  // "6.1.0-18-amd64", as in uname
std::string kernel_release();

// The settings of environment and config file, then the interfaces that they choose. Each chosen
// interface is a finding with its MTU, speed and address. An error that would stop every job at
// listen is a failure.
Findings check_settings_and_interfaces();

}  // namespace dlcp::cli
