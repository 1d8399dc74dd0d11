// What the plugin says of itself to `dlcp doctor`, which compares it with its own version.
extern "C" __attribute__((visibility("default"))) const char* dlcp_plugin_version() noexcept {
  return DLCP_VERSION;
}
