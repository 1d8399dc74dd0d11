// The plugin's version for `dlcp doctor`, which compares it with its own.
extern "C" __attribute__((visibility("default"))) const char* dlcp_plugin_version() noexcept {
  return DLCP_VERSION;
}
