// The cost of one device in a large job: the real protocol core with a sending and a receiving
// connection per peer and channel, and simulated peers in the same process. Packets are passed in
// memory, so that only the core is measured: no sockets (a device has one per path, however many
// peers there are) and no kernel.
//
//   bench_peers [--peers 504] [--channels 16] [--json]
#include <fmt/core.h>
#include <malloc.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/endpoint.h"
#include "secrets.h"
#include "wire/codec.h"

using namespace dlcp;
using core::Endpoint;

namespace {

constexpr std::size_t kMessageBytes = 4096;

wire::EndpointAddress address_of(std::uint32_t host) {
  wire::EndpointAddress address;
  address.size = 4;
  wire::store_le(address.bytes.data(), host);
  return address;
}

std::ptrdiff_t heap_in_use =
    0;  // bytes in this single-threaded process, counted by operator new below

double cpu_seconds_now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The simulated network: host 0 is the measured device, the others are its peers.
class Fabric {
 public:
  explicit Fabric(std::uint32_t hosts) {
    for (std::uint32_t host = 0; host < hosts; ++host) {
      core::Config config;
      config.receive_capacity_bytes = std::size_t{4} << 20;
      endpoints_.push_back(
          std::make_unique<Endpoint>(config, address_of(host), test::secrets_of(host + 1)));
    }
  }

  Endpoint& endpoint(std::uint32_t host) { return *endpoints_[host]; }
  Time now() const { return now_; }

  // Runs `work` on a host; records memory and time used by host 0.
  template <class Work>
  auto on(std::uint32_t host, Work work) {
    if (host != 0) return work(*endpoints_[host]);
    const std::ptrdiff_t before = heap_in_use;
    const double begin = cpu_seconds_now();
    auto result = work(*endpoints_[0]);
    cpu_ += cpu_seconds_now() - begin;
    heap_ += heap_in_use - before;
    return result;
  }

  // Advances simulated time in steps of 20 us until no packet has moved for `quiet`.
  void settle(Duration quiet) {
    Time last_move = now_;
    while (now_ - last_move < quiet) {
      now_ += 20us;
      bool moved = false;
      for (std::uint32_t host = 0; host < endpoints_.size(); ++host)
        moved |= turn(host);
      moved |= deliver();
      if (moved) last_move = now_;
    }
  }

  std::size_t events(std::uint32_t host, core::Event::Kind kind) {
    std::size_t count = 0;
    while (const auto event = endpoints_[host]->poll_event())
      count += event->kind == kind;
    return count;
  }
  std::ptrdiff_t heap() const { return heap_; }
  double cpu_seconds() const { return cpu_; }

 private:
  struct Datagram {
    std::uint32_t to = 0;
    std::vector<std::byte> bytes;
  };

  bool turn(std::uint32_t host) {
    bool any = false;
    for (int batch = 0; batch < 64; ++batch) {
      const std::size_t count = on(host, [&](Endpoint& endpoint) {
        if (endpoint.next_timeout() <= now_) endpoint.on_timeout(now_);
        return endpoint.poll_transmit(now_, out_);
      });
      for (std::size_t i = 0; i < count; ++i)
        post(out_[i]);
      any |= count > 0;
      if (count < out_.size()) break;
    }
    return any;
  }

  void post(const wire::TxPacket& packet) {
    Datagram datagram;
    datagram.to = wire::load_le<std::uint32_t>(packet.destination->bytes.data());
    datagram.bytes.assign(packet.header.data(), packet.header.data() + packet.header_bytes);
    datagram.bytes.insert(datagram.bytes.end(), packet.payload.begin(), packet.payload.end());
    wire_.push_back(std::move(datagram));
  }

  bool deliver() {
    const bool any = !wire_.empty();
    for (; !wire_.empty(); wire_.pop_front()) {
      const Datagram& datagram = wire_.front();
      on(datagram.to, [&](Endpoint& endpoint) {
        const wire::RxPacket arrived{.bytes = datagram.bytes, .arrived_at = now_, .source = {}};
        endpoint.on_packets(now_, {&arrived, 1});
        for (const auto& placement : endpoint.placements())
          std::memcpy(placement.destination, placement.payload.data(), placement.payload.size());
        return 0;
      });
    }
    return any;
  }

  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::deque<Datagram> wire_;
  std::array<wire::TxPacket, 64> out_;
  Time now_ = time_from_ns(1'000'000'000);
  std::ptrdiff_t heap_ = 0;
  double cpu_ = 0;
};

struct Link {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  core::ListenerId listener = 0;
  core::ConnectionId sender = 0;
  core::ConnectionId receiver = 0;
  std::vector<std::byte> sent;
  std::vector<std::byte> received;
};

std::vector<Link> open_all(Fabric& fabric, std::uint32_t peers, std::uint32_t channels) {
  std::vector<Link> links;
  for (std::uint32_t peer = 1; peer <= peers; ++peer) {
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      links.push_back({0, peer, 0, 0, 0, {}, {}});
      links.push_back({peer, 0, 0, 0, 0, {}, {}});
    }
  }
  for (Link& link : links) {
    const auto number = static_cast<std::uint32_t>(&link - links.data());
    const auto listening =
        fabric.on(link.to, [&](Endpoint& endpoint) { return endpoint.listen(1, number); });
    link.listener = listening.id;
    link.sender = fabric.on(link.from, [&](Endpoint& endpoint) {
      return endpoint.connect(fabric.now(), 1, listening.invitation, address_of(link.to));
    });
  }
  fabric.settle(20ms);
  for (Link& link : links) {
    link.receiver = fabric.endpoint(link.to).accept(link.listener).value_or(0);
    fabric.on(link.to, [&](Endpoint& endpoint) {
      endpoint.close_listener(fabric.now(), link.listener);
      return 0;
    });
  }
  return links;
}

std::size_t exchange(Fabric& fabric, std::vector<Link>& links) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    Link& link = links[i];
    link.sent.assign(kMessageBytes, static_cast<std::byte>(i * 131 + 7));
    std::memcpy(link.sent.data(), &i, sizeof i);
    link.received.assign(kMessageBytes, std::byte{0});
    fabric.endpoint(link.to).post_receive(fabric.now(), link.receiver, i, link.received);
    fabric.endpoint(link.from).post_send(fabric.now(), link.sender, i, link.sent);
  }
  fabric.settle(50ms);
  std::size_t exact = 0;
  for (const Link& link : links)
    exact += link.sent == link.received;
  return exact;
}

}  // namespace

void* operator new(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  heap_in_use += static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  return memory;
}

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  heap_in_use -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

int main(int argc, char** argv) {
  std::uint32_t peers = 504;
  std::uint32_t channels = 16;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--json") {
      json = true;
    } else if (option == "--peers" && i + 1 < argc) {
      peers = static_cast<std::uint32_t>(std::stoul(argv[++i]));
    } else if (option == "--channels" && i + 1 < argc) {
      channels = static_cast<std::uint32_t>(std::stoul(argv[++i]));
    } else {
      fmt::print(stderr, "usage: bench_peers [--peers N] [--channels N] [--json]\n");
      return 2;
    }
  }
  Fabric fabric(peers + 1);
  const std::ptrdiff_t heap_before = fabric.heap();
  std::vector<Link> links = open_all(fabric, peers, channels);
  const double setup = fabric.cpu_seconds();
  const std::ptrdiff_t idle = fabric.heap() - heap_before;
  std::size_t open = 0;
  for (const Link& link : links) {
    open += link.receiver != 0 &&
            fabric.endpoint(link.from).state(link.sender) == core::ConnectionState::kOpen;
  }
  const std::size_t exact = exchange(fabric, links);
  const std::ptrdiff_t used = fabric.heap() - heap_before;
  const auto per = static_cast<std::ptrdiff_t>(links.size());
  const std::size_t paths = fabric.endpoint(0).config().paths;
  if (json) {
    fmt::print(
        R"({{"peers": {}, "channels": {}, "connections": {}, "open": {}, "exact": {}, "sockets": {}, )"
        R"("bytes_per_connection_idle": {}, "bytes_per_connection_used": {}, "bytes_total": {}, )"
        R"("setup_cpu_s": {:.3f}, "ours": {:.1f}, "unit": "us/conn", "notes": )"
        R"(["set-up CPU; memory {} B a connection idle, {} B used, {:.1f} MB; {} sockets"]}})"
        "\n",
        peers, channels, links.size(), open, exact, paths, idle / per, used / per, used, setup,
        setup * 1e6 / static_cast<double>(per), idle / per, used / per,
        static_cast<double>(used) / 1e6, paths);
  } else {
    fmt::print("{} connections open, {} messages exact\n", open, exact);
    fmt::print("{} sockets; {} bytes a connection idle, {} after use ({:.1f} MB in all)\n", paths,
               idle / per, used / per, static_cast<double>(used) / 1e6);
    fmt::print("set-up: {:.3f} s of CPU, {:.1f} us a connection\n", setup,
               setup * 1e6 / static_cast<double>(per));
  }
  return open == links.size() && exact == links.size() ? 0 : 1;
}
