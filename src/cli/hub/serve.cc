// `dlcp-hub serve`: opens the device and the TCP server, and serves until it receives a signal to
// stop.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/command_line/end_signals.h"
#include "cli/command_line/options/options.h"
#include "cli/command_line/text_file.h"
#include "cli/hub/admission/front.h"
#include "cli/hub/verbs.h"
#include "datapath/address/ip_address.h"
#include "engine/host/clock.h"
#include "util/system/long_connection.h"
#include "util/system/system_text.h"
#include "util/text/quantity.h"

namespace dlcp::cli {
namespace {

struct ServeOptions {
  std::string listen;
  std::string token_file;
  std::string metrics;
  std::string memory = "4G";
  std::vector<int> processors;
  bool lock_memory = false;
  FrontOptions front;
};

struct Place {
  std::optional<datapath::IpAddress> ip;  // nullopt: that of the first device
  std::uint16_t port = engine::kHubPort;
};

Error usage(const std::string& what, const std::string& hint) {
  return {ErrorCode::kInvalidUsage, what, hint};
}

Error system_error(const std::string& what) {
  return {ErrorCode::kSystem, fmt::format("{}: {}", what, system_text(errno)), ""};
}

// Port 0: any free port.
Result<Place> read_place(const std::string& text) {
  Place place;
  if (text.empty()) return place;
  const bool any_port = text.ends_with(":0");
  const auto places = engine::parse_hub_places(any_port ? text.substr(0, text.size() - 2) : text);
  const auto hint = "give an address of this host as ADDRESS, ADDRESS:PORT or [IPV6]:PORT";
  if (!places || places.value().size() != 1) return usage("--listen " + text, hint);
  auto ip = datapath::parse_ip_address(places.value()[0].host);
  if (!ip) return usage("--listen " + text + ": " + ip.error().what, hint);
  place.ip = ip.value();
  place.port = any_port ? std::uint16_t{0} : places.value()[0].port;
  return place;
}

// Selects the interface that has the address, and the address' family, which is the one that ranks
// use to reach it.
Status choose_interface(const datapath::IpAddress& ip) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return system_error("cannot list the network interfaces");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const auto has = datapath::ip_address_of(*each->ifa_addr);
    if (has && has->bytes == ip.bytes && has->family == ip.family) {
      const bool is_v4 = ip.family == datapath::IpFamily::kV4;
      ::setenv("DLCP_IFNAME", fmt::format("={}", each->ifa_name).c_str(), 1);
      ::setenv("NCCL_SOCKET_FAMILY", is_v4 ? "AF_INET" : "AF_INET6", 0);
      return Unit{};
    }
  }
  return usage("--listen " + to_string(ip) + ": no interface of this host has that address",
               "choose one that `ip address` shows");
}

Result<Fd> open_socket(const datapath::IpAddress& ip, std::uint16_t& port) {
  auto address = datapath::socket_address(ip, port);
  Fd socket(::socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  if (!socket.valid()) return system_error("cannot open a socket");
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  prepare_long_connection(socket.get());
  if (::bind(socket.get(), &address.any, address.size) != 0 || ::listen(socket.get(), 512) != 0)
    return system_error(fmt::format("cannot listen on TCP port {} of {}", port, to_string(ip)));
  (void)::getsockname(socket.get(), &address.any, &address.size);
  port = ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
  return socket;
}

Result<Tenants> read_tenants(const std::string& path) {
  if (path.empty()) return everybody();
  auto text = read_text_file(path);
  if (!text) return text.error();
  return parse_tenants(text.value(), path);
}

struct Opened {
  Front::Door door;
  std::string name;  // "10.0.0.1:48890"
  bool loopback = false;
};

Result<Opened> open_door(const Place& place) {
  auto& registry = engine::Registry::of_process();
  registry.set_log([](const engine::LogLine& line) {
    if (line.level == engine::LogLevel::kWarn)
      std::fprintf(stderr, "dlcp-hub: %s\n", line.text.c_str());
  });
  registry.refresh();
  const auto setup = registry.setup();
  if (!setup->ok()) return setup->error();
  const auto& devices = setup->value().devices;
  if (devices.empty()) return usage("this host has no network interface", "see `dlcp doctor`");
  auto port = registry.port(0);
  if (!port) return port.error();
  Opened opened;
  std::uint16_t tcp_port = place.port;
  const datapath::IpAddress ip = place.ip.value_or(devices[0].ip);
  auto socket = open_socket(ip, tcp_port);
  if (!socket) return socket.error();
  const engine::Settings& settings = setup->value().settings;
  Front::Door& door = opened.door;
  door.socket = std::move(socket).value();
  door.registry = &registry;
  door.port = port.value();
  door.speed_mbps = static_cast<std::uint32_t>(devices[0].properties.speed_mbps);
  door.secret_fingerprint = wire::fingerprint(settings.site_secret);
  door.encrypts = settings.protection == wire::Protection::kEncrypted;
  if (::getrandom(&door.random, sizeof door.random, 0) != sizeof door.random)
    return system_error("no random numbers");
  opened.name = to_string(engine::HubPlace{to_string(ip), tcp_port});
  opened.loopback = ip.is_loopback();
  return opened;
}

// The file of --metrics; an empty name: none.
class MetricsFile {
 public:
  explicit MetricsFile(std::string path) : path_(std::move(path)) {}

  Status write(Front& front) const {
    return path_.empty() ? Status(Unit{}) : write_text_file(path_, front.metrics());
  }
  // Prints an error unless it is that of the previous update.
  void update(Front& front) {
    const Status written = write(front);
    const std::string error = written ? "" : written.error().message();
    if (!error.empty() && error != error_)
      std::fprintf(stderr, "dlcp-hub: --metrics: %s\n", error.c_str());
    error_ = error;
  }

 private:
  const std::string path_;
  std::string error_;
};

// Before any thread begins, so that all threads of the process inherit the processors.
Status choose_processors(const std::vector<int>& processors) {
  if (processors.empty()) return Unit{};
  for (const int processor : processors)
    if (std::ranges::count(processors, processor) > 1)
      return usage(fmt::format("--cpus names processor {} twice", processor),
                   "each processor has one thread");
  const std::vector<int> refused = bind_to(processors);
  if (refused.empty()) return Unit{};
  return Error{ErrorCode::kSystem,
               fmt::format("--cpus names processors that this process cannot use: {}",
                           fmt::join(refused, ", ")),
               "`taskset -pc $$` prints those that it may use"};
}

// Locks each page when it is first touched, so that only the memory that jobs use is locked. The
// limit counts untouched memory, too: below it, an allocation would fail later. A mapping as large
// as all jobs, which is never touched, shows whether the limit suffices.
Status lock_memory(std::uint64_t jobs) {
  constexpr std::uint64_t kReserve = std::uint64_t{1} << 30;  // for the program and its threads
  void* probe = MAP_FAILED;
  if (::mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0)
    probe = ::mmap(nullptr, jobs + kReserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
  if (probe != MAP_FAILED) {
    (void)::munmap(probe, jobs + kReserve);
    return Unit{};
  }
  const int why = errno;
  (void)::munlockall();
  errno = why;
  return system_error(
      "--lock-memory failed; the limit must exceed --memory by 1 GiB (check ulimit -l, or "
      "LimitMEMLOCK=infinity in a unit)");
}

void serve_jobs(Front& front, MetricsFile& metrics) {
  Time written{};
  bool drains = false;
  while (end_signals < 2 && !(end_signals == 1 && front.jobs() == 0)) {
    if (end_signals == 1 && !drains) {
      drains = true;
      front.drain();
      std::fprintf(stderr, "dlcp-hub: draining; jobs left: %zu\n", front.jobs());
    }
    front.serve(100ms);
    const Time now = engine::steady_now();
    if (now - written >= 1s) {
      written = now;
      metrics.update(front);
    }
  }
  front.end_all("the hub received a second signal and ended its jobs");
  for (int turn = 0; turn < 10 && front.jobs() > 0; ++turn)
    front.serve(100ms);
  metrics.update(front);
}

Status serve(const ServeOptions& options) {
  const auto memory = parse_bytes(options.memory);
  if (!memory || *memory == 0)
    return usage("--memory " + options.memory, fmt::format("give a size: {}", kBytesExample));
  const auto place = read_place(options.listen);
  if (!place) return place.error();
  auto tenants = read_tenants(options.token_file);
  if (!tenants) return tenants.error();
  if (place.value().ip) {
    if (auto chosen = choose_interface(*place.value().ip); !chosen) return chosen.error();
  }
  if (auto chosen = choose_processors(options.processors); !chosen) return chosen.error();
  if (options.lock_memory) {
    if (auto locked = lock_memory(*memory); !locked) return locked.error();
  }
  count_end_signals();
  auto opened = open_door(place.value());
  if (!opened) return opened.error();
  if (options.token_file.empty() && !opened->loopback)
    std::fprintf(stderr,
                 "dlcp-hub: no --token-file is set: any host that can connect to TCP %s can use "
                 "this hub's memory\n",
                 opened->name.c_str());
  FrontOptions front_options = options.front;
  front_options.memory_max = *memory;
  Drivers drivers(options.processors);
  Front front(
      std::move(opened->door), front_options, std::move(tenants).value(), drivers,
      [](const std::string& line) { std::fprintf(stderr, "dlcp-hub: %s\n", line.c_str()); });
  MetricsFile metrics(options.metrics);
  if (const auto written = metrics.write(front); !written)
    return usage("--metrics: " + written.error().what, written.error().hint);
  std::fprintf(stderr, "dlcp-hub: ready at %s\n", opened->name.c_str());
  serve_jobs(front, metrics);
  return Unit{};
}

}  // namespace

void add_serve(CLI::App& app, ExitCode& exit_code) {
  auto& verb = add_verb(app, "serve", "Adds gradients for jobs that name this hub, until SIGTERM");
  auto options = std::make_shared<ServeOptions>();
  add_text(verb, "--listen", options->listen,
           fmt::format("ADDRESS[:PORT] of this host, where ranks connect; it also selects the "
                       "network interface; default: the first device's address, TCP port {}",
                       engine::kHubPort));
  add_text(verb, "--token-file", options->token_file,
           "File with a line for each tenant: NAME TOKEN [memory=SIZE] [gbit=RATE] "
           "[jobs=COUNT]; or only a token");
  add_text(verb, "--memory", options->memory,
           "Memory of all jobs together; each job uses its DLCP_COLLNET_MEMORY; default 4G");
  add_count(verb, "--jobs", options->front.jobs_max, {1, 4096},
            "Limit of concurrent jobs; default 64");
  add_numbers(verb, "--cpus", options->processors, {0, kProcessorsMax - 1},
              "Processors (2,3), with a thread for each; default: one thread on any processor");
  add_flag(verb, "--lock-memory", options->lock_memory,
           "Lock the memory that jobs have touched, so that it is not paged out; if --cpus "
           "names processors of one NUMA node, the memory is allocated there");
  add_text(verb, "--metrics", options->metrics,
           "Write metrics as Prometheus text to this file every second, for the node exporter's "
           "textfile collector");
  complete(verb,
           "After SIGTERM or SIGINT the hub refuses new jobs and exits when the last job ends; a "
           "second signal ends all jobs with an error. DLCP_* settings apply as in jobs (man "
           "dlcp.conf).\nExit: 0 after a signal, 2 usage error, 3 the address, the port or the "
           "device is not available.",
           [options, &exit_code] {
             const auto served = serve(*options);
             if (served) return;
             std::fprintf(stderr, "dlcp-hub: %s\n", served.error().message().c_str());
             exit_code = served.error().code == ErrorCode::kInvalidUsage ? ExitCode::kUsage
                                                                         : ExitCode::kTransport;
           });
}

}  // namespace dlcp::cli
