#include "cli/doctor/nccl/nccl_checks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "cli/doctor/nccl/collnet_check.h"
#include "cli/doctor/nccl/net_abi.h"
#include "cli/own_plugin.h"
#include "datapath/udp/interfaces/interfaces.h"
#include "datapath/verbs/device/roce_ports.h"
#include "datapath/verbs/verbs_options.h"
#include "engine/settings/environment.h"
#include "engine/settings/settings.h"

namespace dlcp::cli {
namespace {

struct Library {
  void* handle = nullptr;
  std::string path;

  explicit Library(const std::string& name)
      : handle(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    link_map* map = nullptr;
    if (handle != nullptr && ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) path = map->l_name;
  }
  ~Library() {
    if (handle != nullptr) ::dlclose(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

std::vector<std::string> files_like(const std::string& pattern) {
  glob_t matches{};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0)
    files.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  ::globfree(&matches);
  return files;
}

std::vector<std::string> lines_of(const char* command) {
  std::vector<std::string> lines;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command, "r"), ::pclose);
  std::array<char, 4096> buffer;
  while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    std::string line(buffer.data());
    while (!line.empty() && line.back() == '\n')
      line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

// For a shell: in quotes if a character has a special meaning there.
std::string quoted(const std::string& path) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-:@%,";
  if (path.find_first_not_of(kPlain) == path.npos) return path;
  std::string text = "'";
  for (const char c : path)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

// Possible locations of NCCL, in the order in which a job would most likely find it: the loader's
// path, the Python in the PATH (an active environment before the system's), the usual folders.
std::vector<std::string> nccl_candidates() {
  std::vector<std::string> candidates = {"libnccl.so.2", "libnccl.so"};
  const auto folders = lines_of(
      "python3 -c 'import site, sys; print(*(p for p in sys.path + [site.getusersitepackages()] if "
      "\"-packages\" in p), sep=\"\\n\")' 2>/dev/null");
  for (const std::string& folder : folders)
    candidates.push_back(folder + "/nvidia/nccl/lib/libnccl.so.2");
  for (const char* pattern : {"/usr/lib/*/libnccl.so.2", "/usr/local/lib/libnccl.so.2",
                              "/usr/local/cuda*/lib64/libnccl.so.2",
                              "/usr/local/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2",
                              "/opt/*/lib/python3*/site-packages/nvidia/nccl/lib/libnccl.so.2"})
    for (std::string& file : files_like(pattern))
      candidates.push_back(std::move(file));
  return candidates;
}

std::string exported_abis(void* plugin) {
  std::string list;
  for (const int abi : kOurNetAbis) {
    if (::dlsym(plugin, fmt::format("ncclNetPlugin_v{}", abi).c_str()) == nullptr) continue;
    list += fmt::format("{}v{}", list.empty() ? "" : " ", abi);
  }
  return list;
}

std::string version_of(void* plugin) {
  auto* version = reinterpret_cast<const char* (*)()>(::dlsym(plugin, "dlcp_plugin_version"));
  return version == nullptr ? std::string() : version();
}

bool are_equal(const std::string& one, const std::string& other) {
  std::error_code error;
  if (std::filesystem::equivalent(one, other, error)) return true;
  std::ifstream a(one, std::ios::binary), b(other, std::ios::binary);
  return a && b &&
         std::equal(std::istreambuf_iterator<char>(a), {}, std::istreambuf_iterator<char>(b), {});
}

// Whether the library that NCCL loads without a plugin name is this plugin.
bool is_ours_unasked() {
  const Library unasked("libnccl-net.so");
  std::error_code error;
  const auto file = std::filesystem::canonical(unasked.path, error);
  return unasked.handle != nullptr && !error && file.filename() == kPluginFile;
}

}  // namespace

Finding judge_plugin_version(const std::string& path, const std::string& version,
                             const std::string& own, bool same) {
  const std::string wanted =
      own.empty() ? "install the plugin of this release where the job's loader finds it"
                  : fmt::format(
                        "export LD_LIBRARY_PATH={}:$LD_LIBRARY_PATH, or install the plugin and "
                        "the tools from the same package",
                        quoted(own.substr(0, own.rfind('/'))));
  if (version != DLCP_VERSION) {
    return {"plugin_version", Level::kWarn,
            fmt::format("jobs load {} ({}), but this program has version {}{}", path,
                        version.empty() ? "it reports no version" : "version " + version,
                        DLCP_VERSION, own.empty() ? "" : ", as does " + own),
            wanted};
  }
  if (!own.empty() && !same) {
    return {"plugin_version", Level::kWarn,
            fmt::format("jobs load {}, which is a different build of version {} than {} next to "
                        "this program",
                        path, version, own),
            wanted};
  }
  return {"plugin_version", Level::kOk, version + ", the same as this program", ""};
}

Finding judge_reload(int version, bool keeps, bool unasked) {
  const std::string nccl = "NCCL " + nccl_version_text(version);
  if (version < kForgetsPluginSince || version > kForgetsPluginUntil) {
    return {"nccl_reload", Level::kOk,
            nccl +
                " finds the plugin again when a process creates communicators after its last "
                "one was destroyed",
            ""};
  }
  const std::string forgets =
      nccl +
      " drops the plugin name (NCCL_NET_PLUGIN) when the last communicator of a process is "
      "destroyed";
  if (keeps || unasked) {
    return {"nccl_reload", Level::kOk,
            fmt::format("{}, but {} lets later communicators find it", forgets,
                        keeps ? "NCCL_NET_PLUGIN_REF_COUNT" : "libnccl-net.so, which is DLCP,"),
            ""};
  }
  return {"nccl_reload", Level::kWarn,
          forgets + ": later communicators may fail or silently use another network",
          "export NCCL_NET_PLUGIN_REF_COUNT=1"};
}

Findings check_nccl() {
  std::string unusable;
  for (const std::string& candidate : nccl_candidates()) {
    const Library library(candidate);
    if (library.handle == nullptr) {
      std::error_code error;
      if (unusable.empty() && std::filesystem::exists(candidate, error)) unusable = ::dlerror();
      continue;
    }
    auto* get_version = reinterpret_cast<int (*)(int*)>(::dlsym(library.handle, "ncclGetVersion"));
    int version = 0;
    if (get_version == nullptr || get_version(&version) != 0) continue;
    const int taken = net_abi_taken(version);
    if (taken == 0) {
      return {{"nccl", Level::kFail,
               fmt::format("{} at {} is too old: it supports none of this plugin's net ABI "
                           "versions",
                           nccl_version_text(version), library.path),
               "NCCL 2.13.4 or newer"}};
    }
    return {
        {"nccl", Level::kOk,
         fmt::format("{} at {}; uses net ABI v{}", nccl_version_text(version), library.path, taken),
         ""},
        judge_reload(version, engine::nccl_keeps_net_plugin(), is_ours_unasked()),
        check_collnet(version)};
  }
  if (!unusable.empty()) {
    return {{"nccl", Level::kWarn, "found, but cannot be loaded: " + unusable,
             "run this in the job's own environment (its LD_LIBRARY_PATH, container or virtual "
             "environment)"}};
  }
  return {{"nccl", Level::kWarn,
           "not found in the loader's search path, Python's package folders or /usr/local",
           "run this in the job's own environment; `dlcp bench` works without NCCL"},
          check_collnet(0)};
}

Findings check_plugin() {
  const Library by_name(kPluginFile);
  if (by_name.handle != nullptr) {
    const std::string abis = exported_abis(by_name.handle);
    if (abis.empty()) {
      return {{"plugin", Level::kFail, by_name.path + " exports no net plugin",
               "build or install it again"}};
    }
    const std::string own = own_plugin_path();
    return {{"plugin", Level::kOk, fmt::format("{} (net ABI {})", by_name.path, abis), ""},
            judge_plugin_version(by_name.path, version_of(by_name.handle), own,
                                 are_equal(by_name.path, own))};
  }
  const std::string reason = ::dlerror();
  const std::string own = own_plugin_path();
  if (own.empty()) {
    return {{"plugin", Level::kFail, "cannot be loaded: " + reason,
             "build it (cmake --preset release && cmake --build --preset release) and put its "
             "folder on LD_LIBRARY_PATH"}};
  }
  const Library by_path(own);
  if (by_path.handle == nullptr) {
    return {{"plugin", Level::kFail, fmt::format("{} does not load: {}", own, ::dlerror()),
             "build it on this machine, or install the libraries that the message names"}};
  }
  return {{"plugin", Level::kWarn,
           fmt::format("{} can be loaded (net ABI {}), but NCCL_NET_PLUGIN=dlcp does not find "
                       "it there",
                       by_path.path, exported_abis(by_path.handle)),
           fmt::format("export LD_LIBRARY_PATH={}:$LD_LIBRARY_PATH",
                       quoted(own.substr(0, own.rfind('/'))))}};
}

Finding check_rdma() {
  const auto settings = engine::process_settings();
  const std::size_t paths = (settings ? settings.value() : engine::default_settings()).paths;
  const auto ports = datapath::list_roce_ports();
  auto local = ports;
  if (const auto interfaces = datapath::list_interfaces(std::nullopt); interfaces)
    datapath::keep_local_gids(local, datapath::addresses_of(interfaces.value()));
  std::string list;
  bool usable = false;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const datapath::RocePort& port = ports[i];
    std::string state = datapath::why_unusable(port, -1);
    if (state.empty() && local[i].gids.empty())
      state = "its addresses are not in this network namespace";
    if (state.empty()) {
      usable = true;
      const bool by_label = port.entropy == datapath::Entropy::kFlowLabel;
      state =
          fmt::format("paths by {}, {} UDP source ports", by_label ? "flow label" : "queue pair",
                      by_label ? paths : std::min(paths, datapath::kQueuePairsMax));
    }
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", to_string(port), state);
  }
  const std::string value = fmt::format("RDMA ports: {}", list.empty() ? "none" : list);
  if (const auto library = datapath::check_verbs(); usable && !library)
    return {"rdma", Level::kWarn, value + "; " + library.error().what, library.error().hint};
  return {"rdma", Level::kOk,
          value + (usable ? "; used with peers that also have a usable port" : ""), ""};
}

}  // namespace dlcp::cli
