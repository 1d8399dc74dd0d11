// A path between two network namespaces with the delay, jitter, loss and rate that a test requests,
// on kernels without netem: packets leave by one TUN device, wait in this process, and enter by
// another TUN device.
//
//   path_relay PREFIX [key=value...]     hosts PREFIX0 (10.78.0.1) and PREFIX1 (10.78.0.2), eth0
//     delay=US      each way                      jitter=US   uniform, on top, drawn per packet
//     order=keep|free   whether jitter may let packets overtake (default keep)
//     step=AT_MS:US the delay grows by US, AT_MS after the first packet
//     loss=PPM      random, each way              mtu=1500
//     rate=MBIT     each way, behind a queue of queue=KIB (default 256) that drops at its tail
//     seed=N
//
// Prints "ready", and ends at SIGTERM; then one JSON object has the packet counts and the lateness
// of deliveries (a late relay adds jitter of its own: results are as accurate as `late_us`).
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Nanoseconds = std::int64_t;
constexpr Nanoseconds kMicrosecond = 1000;
constexpr std::size_t kPacketBytes = 9216;
constexpr std::size_t kChecksumHeaderBytes = 10;  // struct virtio_net_hdr, before each packet
constexpr int kBatch = 32;  // packets read before due packets are checked again
// The kernel takes about this long to wake a sleeping process; for shorter waits the relay spins.
constexpr Nanoseconds kSpin = 60 * kMicrosecond;
constexpr std::size_t kLateBuckets = 10'000;  // of 1 us

volatile std::sig_atomic_t ended = 0;

Nanoseconds now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

struct Options {
  std::string prefix;
  Nanoseconds delay = 0;
  Nanoseconds jitter = 0;
  bool keep_order = true;
  Nanoseconds step_at = 0;  // 0: no step
  Nanoseconds step = 0;
  std::uint64_t loss_ppm = 0;
  std::uint64_t rate_bits = 0;  // 0: no limit
  Nanoseconds queue_bytes = 256 << 10;
  long mtu = 1500;
  std::uint64_t seed = 1;
};

long number(const std::string& text) {
  long value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

Options parse(int count, char** words) {
  Options options;
  options.prefix = words[1];
  for (int i = 2; i < count; ++i) {
    const std::string word = words[i];
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "delay") {
      options.delay = number(value) * kMicrosecond;
    } else if (key == "jitter") {
      options.jitter = number(value) * kMicrosecond;
    } else if (key == "order" && (value == "keep" || value == "free")) {
      options.keep_order = value == "keep";
    } else if (key == "step" && value.find(':') != std::string::npos) {
      options.step_at = number(value.substr(0, value.find(':'))) * 1000 * kMicrosecond;
      options.step = number(value.substr(value.find(':') + 1)) * kMicrosecond;
    } else if (key == "loss") {
      options.loss_ppm = static_cast<std::uint64_t>(number(value));
    } else if (key == "rate") {
      options.rate_bits = static_cast<std::uint64_t>(number(value)) * 1'000'000;
    } else if (key == "queue") {
      options.queue_bytes = number(value) << 10;
    } else if (key == "mtu") {
      options.mtu = number(value);
    } else if (key == "seed") {
      options.seed = static_cast<std::uint64_t>(number(value));
    } else {
      throw std::invalid_argument(word);
    }
    const std::string last =
        value.substr(value.find(':') == std::string::npos ? 0 : value.find(':') + 1);
    if (key != "order" && (number(last) < 0 || number(value.substr(0, value.find(':'))) < 0))
      throw std::invalid_argument(word);
  }
  return options;
}

int enter(const std::string& path) {
  const int there = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (there < 0 || setns(there, CLONE_NEWNET) != 0)
    throw std::runtime_error("cannot enter " + path);
  return there;
}

// A TUN device named eth0 in the namespace, up and with its address.
int open_device(const Options& options, int host) {
  const int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  const std::string name = options.prefix + std::to_string(host);
  close(enter("/run/netns/" + name));
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request{};
  std::strcpy(request.ifr_name, "eth0");
  // The header with unfinished checksums is passed on unchanged, so the kernel may segment bursts
  // (UDP_SEGMENT, TSO) in software, as with any NIC.
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0 ||
      ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM) != 0)
    throw std::runtime_error("cannot open a TUN device in " + name);
  setns(home, CLONE_NEWNET);
  close(home);
  const std::string ip = "ip -n " + name + " ";
  const std::string address = "10.78.0." + std::to_string(host + 1) + "/24";
  const std::string commands = ip + "addr add " + address + " dev eth0 && " + ip +
                               "link set eth0 mtu " + std::to_string(options.mtu) +
                               " txqueuelen 10000 up";
  if (std::system(commands.c_str()) != 0) throw std::runtime_error("cannot set up eth0 in " + name);
  return device;
}

struct Packet {
  Nanoseconds due = 0;
  std::uint64_t number = 0;  // equal times keep their order
  std::vector<char> bytes;
};

struct Later {
  bool operator()(const Packet& a, const Packet& b) const {
    return a.due != b.due ? a.due > b.due : a.number > b.number;
  }
};

// One direction: the packets that were read and wait for their time.
class Direction {
 public:
  Direction(const Options& options, int from, int to, std::uint64_t seed)
      : options_(options), from_(from), to_(to), random_(seed), late_(kLateBuckets) {}

  // True if a packet was read.
  bool take(Nanoseconds began) {
    std::array<char, kPacketBytes> buffer;
    for (int i = 0; i < kBatch; ++i) {
      const ssize_t bytes = read(from_, buffer.data(), buffer.size());
      if (bytes <= 0) return i > 0;
      accept(now(), began, {buffer.data(), buffer.data() + bytes});
    }
    return true;
  }

  bool deliver(Nanoseconds time) {
    bool any = false;
    for (; !waiting_.empty() && waiting_.top().due <= time; waiting_.pop()) {
      const Packet& packet = waiting_.top();
      const auto late = static_cast<std::size_t>((time - packet.due) / kMicrosecond);
      ++late_[std::min(late, kLateBuckets - 1)];
      if (write(to_, packet.bytes.data(), packet.bytes.size()) < 0) ++refused_;
      any = true;
    }
    return any;
  }

  Nanoseconds next() const { return waiting_.empty() ? INT64_MAX : waiting_.top().due; }

  void report() const {
    std::printf(
        "{\"packets\": %lu, \"lost\": %lu, \"overflowed\": %lu, \"refused\": %lu, "
        "\"late_us\": {\"p50\": %zu, \"p99\": %zu, \"p999\": %zu}}",
        count_, lost_, overflowed_, refused_, late(0.5), late(0.99), late(0.999));
  }

 private:
  void accept(Nanoseconds time, Nanoseconds began, std::vector<char> bytes) {
    ++count_;
    if (random_() % 1'000'000 < options_.loss_ppm) {
      ++lost_;
      return;
    }
    Nanoseconds due = time;
    if (options_.rate_bits > 0) {
      const auto size = static_cast<Nanoseconds>(bytes.size() - kChecksumHeaderBytes);
      const auto rate = static_cast<Nanoseconds>(options_.rate_bits);
      const Nanoseconds begins = std::max(link_free_, time);
      if ((begins - time) / 1000 * (rate / 1'000'000) / 8 > options_.queue_bytes) {
        ++overflowed_;
        return;
      }
      due = link_free_ = begins + size * 8'000'000'000 / rate;
    }
    due += options_.delay;
    if (options_.step > 0 && time - began >= options_.step_at) due += options_.step;
    if (options_.jitter > 0)
      due += static_cast<Nanoseconds>(random_() % static_cast<std::uint64_t>(options_.jitter));
    if (options_.keep_order) due = last_due_ = std::max(due, last_due_);
    waiting_.push({due, count_, std::move(bytes)});
  }

  std::size_t late(double share) const {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : late_)
      sum += n;
    std::uint64_t below = 0;
    for (std::size_t us = 0; us < late_.size(); ++us) {
      below += late_[us];
      if (static_cast<double>(below) >= share * static_cast<double>(sum)) return us;
    }
    return late_.size();
  }

  const Options& options_;
  int from_;
  int to_;
  std::mt19937_64 random_;
  std::priority_queue<Packet, std::vector<Packet>, Later> waiting_;
  Nanoseconds last_due_ = 0;
  Nanoseconds link_free_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t overflowed_ = 0;
  std::uint64_t refused_ = 0;  // by the kernel
  std::vector<std::uint64_t> late_;
};

void run(const Options& options) {
  const std::array<int, 2> devices{open_device(options, 0), open_device(options, 1)};
  Direction forth(options, devices[0], devices[1], options.seed);
  Direction back(options, devices[1], devices[0], options.seed + 1);
  std::puts("ready");
  std::fflush(stdout);
  Nanoseconds began = INT64_MAX;
  while (ended == 0) {
    bool busy = forth.take(began);
    busy = back.take(began) || busy;
    if (busy) began = std::min(began, now());
    const Nanoseconds time = now();
    busy = forth.deliver(time) || busy;
    busy = back.deliver(time) || busy;
    const Nanoseconds next = std::min(forth.next(), back.next());
    if (busy || next - time < kSpin) continue;
    const Nanoseconds sleep = std::min<Nanoseconds>(next - time - kSpin / 2, 20'000'000);
    std::array<pollfd, 2> watched{{{devices[0], POLLIN, 0}, {devices[1], POLLIN, 0}}};
    const timespec limit{0, sleep};
    ppoll(watched.data(), watched.size(), &limit, nullptr);
  }
  std::printf("{\"forth\": ");
  forth.report();
  std::printf(", \"back\": ");
  back.report();
  std::printf("}\n");
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    std::fprintf(stderr, "usage: path_relay PREFIX [key=value...]; see the head of its source\n");
    return 2;
  }
  std::signal(SIGTERM, [](int) { ended = 1; });
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_SET_TIMERSLACK, 1);
  try {
    run(parse(count, words));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "path_relay: cannot read \"%s\"; see the head of its source\n",
                 error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "path_relay: %s (root needed)\n", error.what());
    return 1;
  }
  return 0;
}
