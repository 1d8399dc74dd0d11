#include "wire/data/header_tags.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "catch.h"
#include "wire/data/data_header.h"

using namespace dlcp;
using namespace dlcp::wire;

namespace {

constexpr std::uint64_t kRound = std::uint64_t{1} << 32;  // numbers with other kUnsentBits
constexpr std::size_t kPayload = 128;
const Key kKey{0x0706050403020100u, 0x0f0e0d0c0b0a0908u};

DataHeader sample(std::uint64_t number) {
  DataHeader header;
  header.destination = 0x1122334455667788u;
  header.message = 7;
  header.message_bytes = 1 << 20;
  header.offset = 3 * kPayload;
  header.path_sequence = static_cast<std::uint32_t>(number);
  header.sent_at = 0xfffffff0;
  header.path = 13;
  header.traffic_class = TrafficClass::kBulkProtected;
  header.window_epoch = 60'000;
  return header;
}

// Packets that were sent as one run, numbered from `number`, and their receiver.
struct Run {
  explicit Run(std::size_t count, std::uint64_t from = 2 * kRound + 5) : number(from) {
    std::vector<TxPacket> sent(count);
    encode_run(sample(from), kPayload, sent);
    seal_headers(kKey, from, sent);
    for (const TxPacket& packet : sent) {
      auto& bytes = datagrams.emplace_back(packet.header.begin(), packet.header.end());
      bytes.resize(kDataHeaderBytes + kPayload);
    }
    for (const auto& bytes : datagrams)
      packets.push_back({.bytes = bytes, .arrived_at = {}, .source = {}});
  }
  void seal_again(std::size_t index) {
    TxPacket packet;
    std::copy_n(datagrams[index].begin(), kDataTagOffset, packet.header.begin());
    seal_headers(kKey, number, {&packet, 1});
    std::copy_n(packet.header.begin(), kDataHeaderBytes, datagrams[index].begin());
  }
  bool together(Protection protection = Protection::kHeader, std::uint64_t as = 0) const {
    return authentic_together(packets, sample(0).destination, {kKey, protection},
                              as == 0 ? number : as);
  }
  std::size_t in_run(Protection protection = Protection::kHeader) const {
    return authentic_run(packets, {kKey, protection}, number);
  }

  std::uint64_t number;
  std::vector<std::vector<std::byte>> datagrams;
  std::vector<RxPacket> packets;
};

}  // namespace

TEST_CASE("packets that are sent as a run are those that are sent one by one") {
  for (std::size_t count = 1; count <= 2 * kTagsTogether + 1; ++count) {
    INFO(count << " packets");
    std::uint64_t number = 6 * kRound - 3;  // the fourth begins another 2^32 numbers
    std::vector<TxPacket> run(count);
    encode_run(sample(number), kPayload, run);
    ask_ack(run.back());
    seal_headers(kKey, number, run);
    DataHeader header = sample(number);
    for (const TxPacket& packet : run) {
      header.path_sequence = static_cast<std::uint32_t>(number);
      header.asks_ack = &packet == &run.back();
      std::vector<std::byte> expected(kDataHeaderBytes);
      encode_data(header, number++, {}, {kKey, Protection::kHeader}, expected);
      CHECK(std::equal(expected.begin(), expected.end(), packet.header.begin()));
      header.offset += kPayload;
    }
  }
}

TEST_CASE("a packet of a run can be sealed alone, with any protection") {
  const std::vector<std::byte> payload(kPayload, std::byte{9});
  for (const Protection protection :
       {Protection::kHeader, Protection::kFull, Protection::kEncrypted}) {
    TxPacket packet;
    packet.payload = payload;
    encode_run(sample(kRound + 1), kPayload, {&packet, 1});
    seal_header({kKey, protection}, kRound + 1, packet);
    std::vector<std::byte> expected(kDataHeaderBytes);
    encode_data(sample(kRound + 1), kRound + 1, payload, {kKey, protection}, expected);
    CHECK(std::equal(expected.begin(), expected.end(), packet.header.begin()));
  }
}

TEST_CASE("packets are authentic together only if each of them is") {
  CHECK(Run(kTagsTogether).together());
  CHECK(Run(kTagsTogether + 1).together());
  CHECK_FALSE(Run(kTagsTogether - 1).together());
  CHECK_FALSE(Run(kTagsTogether).together(Protection::kFull));
  CHECK(Run(kTagsTogether, 7 * kRound).together(Protection::kHeader, 7 * kRound + 1000));
  CHECK_FALSE(Run(kTagsTogether, 7 * kRound).together(Protection::kHeader, 6 * kRound));
  // Half of the packets have other kUnsentBits.
  CHECK_FALSE(Run(kTagsTogether, kRound - 2).together());
  CHECK_FALSE(Run(kTagsTogether, kRound - 2).together(Protection::kHeader, kRound));
  for (std::size_t at = 0; at < kTagsTogether; ++at) {
    for (std::size_t bit = 0; bit < 8 * kDataHeaderBytes; ++bit) {
      Run run(kTagsTogether);
      run.datagrams[at][bit / 8] ^= std::byte{1} << (bit % 8);
      INFO("packet " << at << ", bit " << bit);
      CHECK_FALSE(run.together());
    }
  }
}

TEST_CASE("a run ends before the group in which a packet does not continue it") {
  constexpr std::size_t kCount = 4 * kTagsTogether;
  CHECK(Run(kCount).in_run() == kCount);
  CHECK(Run(kCount + kTagsTogether - 1).in_run() == kCount);
  CHECK(Run(kTagsTogether - 1).in_run() == 0);
  CHECK(Run(kCount).in_run(Protection::kFull) == 0);
  CHECK(Run(kCount, kRound - 8).in_run() == 0);  // kUnsentBits change in the middle
  CHECK(Run(kCount, kRound - 1 - kCount).in_run() == kCount);
  for (std::size_t at = 0; at < kCount; ++at) {
    const std::size_t before = at / kTagsTogether * kTagsTogether;
    INFO("packet " << at);
    for (std::size_t bit = 0; bit < 8 * kDataTagOffset; ++bit) {
      if (at == 0) break;  // the others would be its run
      Run run(kCount);
      run.datagrams[at][bit / 8] ^= std::byte{1} << (bit % 8);
      run.seal_again(at);  // authentic, but another header
      INFO("bit " << bit);
      CHECK(run.in_run() == before);
    }
    Run tampered(kCount);
    tampered.datagrams[at][kDataTagOffset] ^= std::byte{1};
    CHECK(tampered.in_run() == before);
    Run longer(kCount);
    longer.datagrams[at].resize(kDataHeaderBytes + kPayload + 1);
    longer.packets[at].bytes = longer.datagrams[at];
    CHECK(longer.in_run() == (at == 0 ? 0 : before));
    Run marked(kCount);
    marked.packets[at].ecn = Ecn::kCe;
    CHECK(marked.in_run() == (at == 0 ? 0 : before));
    Run foreign(kCount);
    foreign.packets[at].source = HostAddress{{1, 2}};
    CHECK(foreign.in_run() == (at == 0 ? 0 : before));
  }
  Run swapped(kCount);
  std::swap(swapped.packets[5], swapped.packets[6]);
  CHECK(swapped.in_run() == kTagsTogether);
}
