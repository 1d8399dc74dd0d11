// Messages through the plugin within one process: exactness, sizes, order, limits, errors.
#include <unistd.h>

#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <thread>

#include "catch.h"
#include "compression/gradients.h"
#include "nccl/exchange.h"

namespace {

using namespace dlcp::test;
using namespace std::chrono_literals;

// Streams `messages` of `bytes` with `inflight` outstanding, and compares each of them.
void stream(const Link& link, std::size_t bytes, int messages, std::size_t inflight) {
  const NetV12& net = *link.net;
  Mover sender(net, link.send, true, bytes * inflight);
  Mover receiver(net, link.recv, false, bytes * inflight);
  std::deque<void*> sends;
  std::deque<void*> receives;
  int sent = 0;
  int posted = 0;
  int received = 0;
  fill_random(sender.memory(), bytes);
  std::vector<std::vector<std::byte>> expected(inflight);
  int wrong = 0;
  const bool finished = within(60s, [&] {
    if (posted < messages && receives.size() < inflight) {
      const std::size_t at = static_cast<std::size_t>(posted) % inflight * bytes;
      if (void* request = receiver.try_post(at, bytes)) {
        receives.push_back(request);
        ++posted;
      }
    }
    if (sent < messages && sends.size() < inflight &&
        sent < received + static_cast<int>(inflight)) {
      const std::size_t slot = static_cast<std::size_t>(sent) % inflight;
      std::byte* data = sender.memory().data() + slot * bytes;
      if (bytes >= sizeof sent) std::memcpy(data, &sent, sizeof sent);
      if (void* request = sender.try_post(slot * bytes, bytes)) {
        expected[slot].assign(data, data + bytes);
        sends.push_back(request);
        ++sent;
      }
    }
    int done = 0;
    if (!sends.empty()) {
      REQUIRE(net.test(sends.front(), &done, nullptr) == ResultCode::kSuccess);
      if (done != 0) sends.pop_front();
    }
    int size = -1;
    done = 0;
    if (!receives.empty()) {
      REQUIRE(net.test(receives.front(), &done, &size) == ResultCode::kSuccess);
      if (done != 0) {
        receives.pop_front();
        const std::size_t slot = static_cast<std::size_t>(received) % inflight;
        const bool exact = static_cast<std::size_t>(size) == bytes &&
                           (bytes == 0 || std::memcmp(receiver.memory().data() + slot * bytes,
                                                      expected[slot].data(), bytes) == 0);
        wrong += exact ? 0 : 1;
        ++received;
      }
    }
    return received == messages && sends.empty();
  });
  CHECK(finished);
  CHECK(wrong == 0);
}

// One message that compresses on each link, at the same time.
void exchange_gradients(std::initializer_list<const Link*> links) {
  const auto sent = gradients(dlcp::compression::Format::kBfloat16, 1 << 19, 12);
  std::vector<std::unique_ptr<Mover>> movers;
  std::vector<void*> requests;
  for (const Link* link : links) {
    for (void* comm : {link->recv, link->send}) {
      const bool sends = comm == link->send;
      movers.push_back(std::make_unique<Mover>(*link->net, comm, sends, sent.size()));
      if (sends) movers.back()->memory() = sent;
      requests.push_back(movers.back()->post(0, sent.size()));
    }
  }
  for (void* request : requests)
    REQUIRE(finish(*(*links.begin())->net, request) == ResultCode::kSuccess);
  for (const auto& mover : movers)
    REQUIRE((mover->memory() == sent));
}

}  // namespace

TEST_CASE("messages of unusual sizes arrive exactly") {
  set_environment();
  TwoRanks two;
  for (const std::size_t bytes :
       {0u, 1u, 7u, 8u, 127u, 128u, 129u, 1408u, 1409u, 65536u, 1u << 20}) {
    INFO(bytes);
    stream(two.link, bytes, bytes > 100000 ? 12 : 60, 8);
  }
}

TEST_CASE("32 requests of 1 MiB are outstanding at once in each direction") {
  set_environment();
  TwoRanks two;
  constexpr std::size_t kBytes = 1 << 20;
  constexpr std::size_t kCount = 32;
  Mover sender(two.net, two.link.send, true, kBytes * kCount);
  Mover receiver(two.net, two.link.recv, false, kBytes * kCount);
  fill_random(sender.memory(), 5);
  std::vector<void*> requests;
  for (std::size_t i = 0; i < kCount; ++i) {
    requests.push_back(receiver.try_post(i * kBytes, kBytes));
    REQUIRE(requests.back() != nullptr);
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    requests.push_back(sender.try_post(i * kBytes, kBytes));
    REQUIRE(requests.back() != nullptr);
  }
  for (void* request : requests)
    CHECK(finish(two.net, request) == ResultCode::kSuccess);
  CHECK(sender.memory() == receiver.memory());
}

TEST_CASE("a network that loses, repeats, reorders and damages packets causes no error") {
  for (const char* fault : {"drop=0.01", "drop=0.2,dup=0.05,reorder=0.1,seed=3",
                            "drop=0.02,reorder=0.3,delay_us=200,jitter_us=400", "blackhole=25%"}) {
    INFO(fault);
    set_environment({{"DLCP_FAULT", fault}});
    TwoRanks two;
    stream(two.link, 64 << 10, 40, 8);
    stream(two.link, 0, 20, 8);
    stream(two.link, 777, 100, 32);
  }
}

TEST_CASE("damaged payloads are detected with DLCP_CHECKSUM=full") {
  set_environment({{"DLCP_FAULT", "corrupt=0.05"}, {"DLCP_CHECKSUM", "full"}});
  TwoRanks two;
  stream(two.link, 100'000, 40, 8);
}

TEST_CASE(
    "a receive larger than its message completes with the message's size and writes no more") {
  set_environment();
  TwoRanks two;
  Mover sender(two.net, two.link.send, true, 5000);
  Mover receiver(two.net, two.link.recv, false, 20000);
  fill_random(sender.memory(), 9);
  void* receive = receiver.post(0, 20000);
  void* send = sender.post(0, 5000);
  int size = 0;
  REQUIRE(finish(two.net, receive, &size) == ResultCode::kSuccess);
  REQUIRE(finish(two.net, send) == ResultCode::kSuccess);
  CHECK(size == 5000);
  CHECK(std::memcmp(receiver.memory().data(), sender.memory().data(), 5000) == 0);
  for (std::size_t i = 5000; i < 20000; ++i)
    REQUIRE(receiver.memory()[i] == std::byte{0});
}

TEST_CASE("a message larger than the posted buffer is an error that names both sizes") {
  set_environment();
  TwoRanks two;
  Mover sender(two.net, two.link.send, true, 20000);
  Mover receiver(two.net, two.link.recv, false, 10000);
  take_log();
  void* receive = receiver.post(0, 10000);
  void* send = sender.post(0, 20000);  // it is not copied, so it reports the failure, too
  CHECK(finish(two.net, receive) == ResultCode::kInvalidUsage);
  CHECK(finish(two.net, send) == ResultCode::kRemoteError);
  CHECK_THAT(joined_log(), Contains("WARN") && Contains("20000") && Contains("10000"));
}

TEST_CASE("a short send is done at once, and with encryption when it has arrived") {
  const bool encrypted = GENERATE(false, true);
  set_environment({{"DLCP_ENCRYPT", encrypted ? "aes-gcm" : "off"}, {"DLCP_EAGER", "0"}});
  TwoRanks two;
  Mover sender(two.net, two.link.send, true, 100);
  Mover receiver(two.net, two.link.recv, false, 100);
  void* send = sender.post(0, 100);
  int sent = 0;
  CHECK(two.net.test(send, &sent, nullptr) == ResultCode::kSuccess);
  CHECK(sent == (encrypted ? 0 : 1));
  CHECK(finish(two.net, receiver.post(0, 100)) == ResultCode::kSuccess);
  if (encrypted) CHECK(finish(two.net, send) == ResultCode::kSuccess);
}

TEST_CASE(
    "encrypted messages are compressed, and connections open after the peer forgot earlier ones") {
  char stats[] = "/tmp/dlcp-stats-XXXXXX";
  close(mkstemp(stats));
  set_environment({{"DLCP_ENCRYPT", "aes-gcm"},
                   {"DLCP_COMPRESS", "on"},
                   {"DLCP_LANES", "1"},
                   {"DLCP_MTU", "1500"},
                   {"DLCP_FAULT", "drop=0.05,dup=0.02,reorder=0.1"},
                   {"DLCP_PEER_TIMEOUT", "1"},
                   {"DLCP_STATS_FILE", stats}});
  {
    TwoRanks two;
    Link other = make_link(two.a, two.b);
    exchange_gradients({&two.link, &other});
    for (void** comm : {&two.link.recv, &other.recv})
      two.net.closeRecv(std::exchange(*comm, nullptr));
    std::this_thread::sleep_for(2s);  // the receiver forgets the senders, which are still open
    Rank c(two.net), d(two.net);
    Link again = make_link(c, d);
    exchange_gradients({&again});
  }
  std::stringstream text;
  text << std::ifstream(stats).rdbuf();
  unlink(stats);
  CHECK_THAT(text.str(), Contains("\"bytes_compressed\": ") && !Contains("_compressed\": 0,"));
}

TEST_CASE("a rank that stops polling still receives and acknowledges") {
  set_environment({{"DLCP_FAULT", "drop=0.1"}});
  TwoRanks two;
  constexpr std::size_t kBytes = 1 << 20;
  Mover sender(two.net, two.link.send, true, kBytes);
  Mover receiver(two.net, two.link.recv, false, kBytes);
  fill_random(sender.memory(), 11);
  void* receive = receiver.post(0, kBytes);
  void* send = sender.post(0, kBytes);
  REQUIRE(receive != nullptr);
  REQUIRE(send != nullptr);
  // Hardly any polling: one call per half second cannot carry a thousand packets, but the helper
  // threads can.
  int received = 0;
  int sent = 0;
  for (int looks = 0; looks < 20 && (received == 0 || sent == 0); ++looks) {
    const timespec pause{0, 500'000'000};
    nanosleep(&pause, nullptr);
    if (received == 0) CHECK(two.net.test(receive, &received, nullptr) == ResultCode::kSuccess);
    if (sent == 0) CHECK(two.net.test(send, &sent, nullptr) == ResultCode::kSuccess);
  }
  CHECK(received == 1);
  CHECK(sent == 1);
  CHECK(sender.memory() == receiver.memory());
}

TEST_CASE("unsupported features of the interface are refused with a message") {
  set_environment();
  TwoRanks two;
  take_log();
  std::vector<std::byte> memory(64);
  void* registration = &memory;
  CHECK(two.net.regMr(two.link.send, memory.data(), 64, dlcp::nccl::kPtrCuda, &registration) ==
        ResultCode::kInvalidUsage);
  CHECK(registration == nullptr);
  CHECK_THAT(joined_log(), Contains("NCCL copies GPU memory through its host buffers"));
  CHECK(two.net.regMr(nullptr, memory.data(), 64, dlcp::nccl::kPtrHost, &registration) ==
        ResultCode::kInvalidArgument);
  CHECK_THAT(joined_log(), Contains("regMr without a connection"));
  CHECK(two.net.regMrDmaBuf(two.link.send, memory.data(), 64, dlcp::nccl::kPtrCuda, 0, -1,
                            &registration) == ResultCode::kInvalidArgument);
  CHECK_THAT(joined_log(), Contains("with descriptor -1"));
  void* request = &memory;
  const std::size_t too_long = (std::size_t{1} << 30) + 1;
  CHECK(two.net.isend(two.link.send, memory.data(), too_long, 0, nullptr, nullptr, &request) ==
        ResultCode::kInvalidUsage);
  CHECK(request == nullptr);
  void* data[2] = {memory.data(), memory.data()};
  std::size_t sizes[2] = {8, 8};
  int tags[2] = {};
  void* handles[2] = {};
  request = &memory;
  CHECK(two.net.irecv(two.link.recv, 2, data, sizes, tags, handles, nullptr, &request) ==
        ResultCode::kInvalidUsage);
  CHECK(request == nullptr);
  sizes[0] = 8;
  request = &memory;
  CHECK(two.net.irecv(two.link.send, 1, data, sizes, tags, handles, nullptr, &request) ==
        ResultCode::kInvalidArgument);
  CHECK(request == nullptr);
  request = &memory;
  CHECK(two.net.isend(two.link.recv, memory.data(), 8, 0, nullptr, nullptr, &request) ==
        ResultCode::kInvalidArgument);
  CHECK(request == nullptr);
  request = &memory;
  CHECK(two.net.iflush(two.link.recv, 1, data, nullptr, handles, &request) == ResultCode::kSuccess);
  CHECK(request == nullptr);
  sizes[0] = too_long;
  request = &memory;
  CHECK(two.net.irecv(two.link.recv, 1, data, sizes, tags, handles, nullptr, &request) ==
        ResultCode::kInvalidUsage);
  CHECK(request == nullptr);
  sizes[0] = 8;
  CHECK(take_log().size() == 5);
  // A registration is optional: the bootstrap network may pass none.
  void* receive = nullptr;
  CHECK(two.net.irecv(two.link.recv, 1, data, sizes, tags, handles, nullptr, &receive) ==
        ResultCode::kSuccess);
}

TEST_CASE("a request beyond the table's size gets a null request, not an error") {
  set_environment();
  TwoRanks two;
  Mover receiver(two.net, two.link.recv, false, 128);
  int taken = 0;
  for (int i = 0; i < 200; ++i) {
    ResultCode code{};
    taken += receiver.try_post(0, 128, &code) != nullptr ? 1 : 0;
    REQUIRE(code == ResultCode::kSuccess);
  }
  CHECK(taken >= 32);
  CHECK(taken <= 64);
}
