#include "cli/hub/tenants.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "engine/settings/settings.h"
#include "util/text/quantity.h"

namespace dlcp::cli {
namespace {

constexpr Duration kAhead = std::chrono::milliseconds(5);

Error wrong(const std::string& path, int line, const std::string& what) {
  return {ErrorCode::kInvalidUsage, fmt::format("{}:{}: {}", path, line, what),
          "write each line as NAME TOKEN [memory=SIZE] [gbit=RATE] [jobs=COUNT]; create a token "
          "with openssl rand -hex 16"};
}

// False if the word is not a limit.
bool read_limit(const std::string& word, Tenant& tenant) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const std::string value = equals == word.npos ? "" : word.substr(equals + 1);
  if (name == "memory") {
    const auto bytes = parse_bytes(value);
    tenant.memory_max = bytes.value_or(0);
    return bytes && *bytes > 0;
  }
  if (name == "gbit") {
    const auto rate = parse_number(value);
    tenant.rate.set(rate.value_or(0) * 1e9 / 8);
    return rate && *rate > 0;
  }
  const auto jobs = parse_count(value);
  tenant.jobs_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(jobs.value_or(0), 1u << 20));
  return name == "jobs" && jobs && *jobs > 0;
}

}  // namespace

bool RateShare::has_credit(Time now) {
  const std::lock_guard lock(mutex_);
  if (rate_ <= 0) return true;
  const double passed = std::chrono::duration<double>(now - at_).count();
  const double most = rate_ * std::chrono::duration<double>(kAhead).count();
  credit_ = std::min(credit_ + passed * rate_, most);
  at_ = now;
  return credit_ > 0;
}

void RateShare::spend(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (rate_ > 0) credit_ -= static_cast<double>(bytes);
}

Result<Tenants> parse_tenants(std::string_view text, const std::string& path) {
  Tenants tenants;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    auto tenant = std::make_unique<Tenant>();
    std::string token;
    if (!(words >> tenant->name)) continue;
    if (!(words >> token)) token = std::exchange(tenant->name, "default");
    const auto key = engine::parse_secret(token);
    if (!key) {
      return wrong(
          path, number,
          token.find('=') != token.npos
              ? fmt::format("'{}' is in the place of the token; limits need a name", token)
              : fmt::format("the token has {} characters, but it must have 32 hexadecimal digits "
                            "that are not all 0",
                            token.size()));
    }
    tenant->token = *key;
    for (std::string word; words >> word;)
      if (!read_limit(word, *tenant))
        return wrong(path, number, fmt::format("'{}' is not a valid limit", word));
    const bool printable = std::ranges::all_of(
        tenant->name, [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\\'; });
    const bool twice = std::ranges::any_of(tenants, [&](const auto& other) {
      return other->name == tenant->name || other->token == tenant->token;
    });
    if (!printable || twice) {
      return wrong(path, number,
                   twice ? "the name or the token is already used in another line"
                         : "the name contains other characters than printable ASCII");
    }
    tenants.push_back(std::move(tenant));
  }
  if (tenants.empty()) return wrong(path, 1, "the file contains no token");
  return tenants;
}

Tenants everybody() {
  Tenants all;
  all.push_back(std::make_unique<Tenant>());
  all.front()->name = "everybody";
  return all;
}

}  // namespace dlcp::cli
