// No other code of the plugin reads environment variables.
#include "engine/settings/environment.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "engine/settings/knobs.h"
#include "util/system/system_text.h"

namespace dlcp::engine {

Variables process_environment() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && text.starts_with(kKnobPrefix))
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const char* name : {"NCCL_SOCKET_IFNAME", "NCCL_SOCKET_FAMILY", "NCCL_IB_HCA"})
    if (const char* value = std::getenv(name); value != nullptr)
      variables.emplace_back(name, value);
  return variables;
}

Result<Settings> process_settings() {
  return load_settings(process_environment(), read_text_file);
}

std::size_t nccl_simple_buffer_bytes() {
  constexpr std::size_t kDefault = std::size_t{4} << 20;
  const char* text = std::getenv("NCCL_BUFFSIZE");
  char* end = nullptr;
  const long long bytes = text != nullptr ? std::strtoll(text, &end, 0) : 0;
  return text != nullptr && end != text && bytes > 0 ? static_cast<std::size_t>(bytes) : kDefault;
}

bool nccl_keeps_net_plugin() {
  const char* text = std::getenv("NCCL_NET_PLUGIN_REF_COUNT");
  return text != nullptr && std::strtoll(text, nullptr, 0) != 0;
}

bool nccl_offers_collnet() {
  const char* text = std::getenv("NCCL_COLLNET_ENABLE");
  return text != nullptr && std::strtoll(text, nullptr, 0) != 0;
}

Result<std::optional<std::string>> read_text_file(const std::string& path) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<std::string>{};
    const bool too_many = errno == EMFILE || errno == ENFILE;
    return Error{ErrorCode::kInvalidUsage, system_text(errno),
                 too_many ? "raise the limit on open files (ulimit -n)" : ""};
  }
  std::string text;
  char piece[4096];
  ssize_t got = 0;
  while (text.size() <= kMaxBytes && (got = read(file, piece, sizeof piece)) > 0)
    text.append(piece, static_cast<std::size_t>(got));
  const int failure = got < 0 ? errno : 0;
  close(file);
  if (failure != 0 || text.size() > kMaxBytes) {
    return Error{ErrorCode::kInvalidUsage,
                 failure != 0 ? system_text(failure) : "it is larger than the limit of 1 MiB", ""};
  }
  return std::optional<std::string>(std::move(text));
}

}  // namespace dlcp::engine
