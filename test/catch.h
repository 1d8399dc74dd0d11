// Catch2, whichever major version the distribution ships (v2 on Debian 12, v3 on Ubuntu 24.04).
#pragma once
#ifdef DLCP_CATCH2_V2
#include <catch2/catch.hpp>
using Catch::Matchers::Contains;
#else
#include <catch2/catch_all.hpp>
using Catch::Approx;
inline auto Contains(const std::string& text) {
  return Catch::Matchers::ContainsSubstring(text);
}
#endif
