#include "core/association/stream_schedule.h"

#include <map>
#include <memory>
#include <vector>

#include "catch.h"
#include "core/association/send_association.h"
#include "core/congestion/endpoint_rate.h"
#include "core/streams/send_stream.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr std::uint32_t kPayload = 8192;
constexpr std::size_t kQuantum = StreamSchedule::kQuantumBytes;

class Scene {
 public:
  explicit Scene(std::uint32_t streams) {
    for (std::uint32_t number = 0; number < streams; ++number) {
      streams_.push_back(std::make_unique<SendStream>(Time{}, config_, counters_,
                                                      wire::EndpointAddress{}, 100 + number,
                                                      Handshake::Target{}, *association_));
      queue(number).set_payload_bytes(kPayload);
      queue(number).set_posted(1'000);
      schedule.add(number, *streams_.back());
    }
  }
  ~Scene() {  // the association has none of these packets in flight
    for (const auto& [number, chunk] : sent_)
      queue(number).mark_lost(chunk);
  }
  SendQueue& queue(std::uint32_t number) { return streams_[number]->queue(); }
  void post(std::uint32_t number, std::size_t bytes, const Licence* licence = nullptr) {
    queue(number).push(1, std::span(memory_).first(bytes), licence);
    schedule.wake(number);
  }
  // Nothing more is expected of the peer after the handshake.
  void open(std::uint32_t number) {
    SendStream& stream = *streams_[number];
    wire::Welcome welcome;
    welcome.datagram_bytes_max = welcome.hello_bytes =
        static_cast<std::uint32_t>(config_.datagram_bytes_max);
    stream.begin(Time{});
    stream.on_welcome(Time{}, welcome);
    stream.on_peer_closed(Time{}, 0);
    queue(number).set_payload_bytes(kPayload);
  }
  std::vector<std::uint32_t> busy() const {
    std::vector<std::uint32_t> numbers;
    schedule.for_each_busy([&](const SendStream& busy) {
      for (std::uint32_t number = 0; number < streams_.size(); ++number)
        if (streams_[number].get() == &busy) numbers.push_back(number);
    });
    return numbers;
  }
  // Sends one packet and returns the number of its stream.
  std::uint32_t send(std::size_t overhead = 0) {
    SendStream* const stream = schedule.next();
    REQUIRE(stream != nullptr);
    const auto chunk = stream->queue().next();
    REQUIRE(chunk);
    SentChunk sent;
    stream->queue().mark_sent(*chunk, sent);
    const std::size_t bytes = sent.bytes + overhead;
    schedule.on_sent(bytes);
    for (std::uint32_t number = 0; number < streams_.size(); ++number) {
      if (streams_[number].get() != stream) continue;
      bytes_[number] += bytes;
      sent_.emplace_back(number, *chunk);
      return number;
    }
    return ~0u;
  }
  std::size_t bytes_of(std::uint32_t number) { return bytes_[number]; }

 private:
  const Config config_;
  Counters counters_;
  EndpointRate rate_;
  UnmarkedPeers unmarked_peers_;
  std::shared_ptr<SendAssociation> association_ = std::make_shared<SendAssociation>(
      config_, counters_, rate_, unmarked_peers_, SendAssociation::Open{});
  std::vector<std::unique_ptr<SendStream>> streams_;
  std::vector<std::byte> memory_{std::size_t{4} << 20};
  std::map<std::uint32_t, std::size_t> bytes_;
  std::vector<std::pair<std::uint32_t, ChunkRef>> sent_;

 public:
  StreamSchedule schedule;
};

}  // namespace

TEST_CASE("streams take turns of one quantum") {
  Scene s(3);
  for (std::uint32_t number = 0; number < 3; ++number)
    s.post(number, 4 * kQuantum);
  std::vector<std::uint32_t> turns;
  for (std::size_t packet = 0; packet < 9 * kQuantum / kPayload; ++packet) {
    const std::uint32_t number = s.send();
    if (packet % (kQuantum / kPayload) == 0) turns.push_back(number);
  }
  CHECK(turns == std::vector<std::uint32_t>{1, 2, 0, 1, 2, 0, 1, 2, 0});
  for (std::uint32_t number = 0; number < 3; ++number)
    CHECK(s.bytes_of(number) == 3 * kQuantum);
}

TEST_CASE("bytes beyond a quantum are subtracted from the stream's next turn") {
  Scene s(2);
  s.post(0, 4 << 20);
  s.post(1, 4 << 20);
  // Packets of stream 0 end its turns half a packet late, those of stream 1 in time.
  for (int packet = 0; packet < 500; ++packet)
    s.send(s.schedule.next() == s.schedule.find(0) ? 5'000 : 0);
  CHECK(s.bytes_of(0) < s.bytes_of(1) + kQuantum + 13'192);
  CHECK(s.bytes_of(1) < s.bytes_of(0) + kQuantum + 13'192);
}

TEST_CASE("a retransmission goes at once, and the interrupted turn continues") {
  Scene s(4);
  for (std::uint32_t number = 0; number < 4; ++number)
    s.post(number, 2 << 20);
  CHECK(s.send() == 1);
  while (s.send() != 3) {
  }
  for (int packet = 0; packet < 4; ++packet)
    s.send();
  s.queue(1).mark_lost({0, 0});
  s.queue(1).mark_lost({0, 1});
  s.queue(2).mark_lost({0, 0});
  s.schedule.prefer(1);
  CHECK(s.send() == 1);
  CHECK(s.send() == 2);
  CHECK(s.send() == 1);
  for (std::size_t packet = 5; packet < kQuantum / kPayload; ++packet)
    CHECK(s.send() == 3);
  CHECK(s.send() == 0);
}

TEST_CASE("losses of one stream do not take the turns of the others") {
  Scene s(3);
  for (std::uint32_t number = 0; number < 3; ++number)
    s.post(number, 4 << 20);
  for (std::uint32_t sent = 0; sent < 300; ++sent) {
    const std::uint32_t number = s.send();
    if (number != 1 || sent % 4 != 0) continue;
    s.queue(1).mark_lost({0, 0});
    s.schedule.prefer(1);
  }
  CHECK(s.bytes_of(0) >= 80 * kPayload);
  CHECK(s.bytes_of(2) >= 80 * kPayload);
}

TEST_CASE("urgent layers go first, and the round continues where it was") {
  Scene s(3);
  s.post(0, kQuantum);
  s.post(1, kQuantum);
  CHECK(s.send() == 1);
  Licence licence;
  licence.urgent = true;
  s.post(2, kQuantum, &licence);
  for (std::size_t packet = 1; packet < kQuantum / kPayload; ++packet)
    CHECK(s.send() == 1);
  CHECK(s.send() == 2);
}

TEST_CASE("the unused part of a turn does not lengthen a retransmission") {
  Scene s(2);
  s.post(1, kPayload);
  s.post(0, 2 << 20);
  CHECK(s.send() == 1);
  CHECK(s.send() == 0);
  s.post(1, 2 << 20);
  s.queue(1).mark_lost({0, 0});
  s.schedule.prefer(1);
  CHECK(s.send() == 1);
  CHECK(s.send() == 0);
}

TEST_CASE("streams that leave do not end the round") {
  Scene s(3);
  for (std::uint32_t number = 0; number < 3; ++number)
    s.post(number, 2 << 20);
  CHECK(s.send() == 1);
  s.schedule.remove(1);
  CHECK(s.schedule.size() == 2);
  for (int packet = 0; packet < 64; ++packet)
    s.send();
  CHECK(s.bytes_of(0) > 0);
  CHECK(s.bytes_of(2) > 0);
  s.schedule.remove(2);
  s.schedule.remove(0);
  CHECK(s.schedule.next() == nullptr);
}

TEST_CASE("only streams with messages are visited, after others have left too") {
  Scene s(4);
  for (std::uint32_t number = 0; number < 4; ++number)
    s.open(number);
  s.schedule.rest();
  CHECK(s.busy().empty());
  CHECK(s.schedule.next() == nullptr);
  s.post(3, kPayload);
  s.post(1, kPayload);
  CHECK(s.busy() == std::vector<std::uint32_t>{1, 3});
  s.schedule.remove(2);
  s.schedule.rest();
  CHECK(s.busy() == std::vector<std::uint32_t>{1, 3});
  CHECK(s.send() == 1);
  CHECK(s.send() == 3);
  s.schedule.remove(1);
  CHECK(s.busy() == std::vector<std::uint32_t>{3});
}
