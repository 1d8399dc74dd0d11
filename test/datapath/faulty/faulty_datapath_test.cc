// The effects of the fault decorator, on a datapath that only records packets.
#include "datapath/faulty/faulty_datapath.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "catch.h"

namespace dlcp::datapath::test {
namespace {

struct Sent {
  std::vector<std::byte> bytes;
  wire::PathIndex path;
  Time at;
  friend bool operator==(const Sent&, const Sent&) = default;
};

struct Record {
  std::vector<Sent> sent;
  std::size_t room = SIZE_MAX;  // packets it still accepts
  Time now;
};

class RecordingDatapath : public Datapath {
 public:
  explicit RecordingDatapath(Record& record) : record_(record) {}

  std::string_view name() const override { return "recording"; }
  const wire::EndpointAddress& local_address() const override { return address_; }
  Limits limits() const override { return {.datagram_bytes_max = 1472, .paths = 16}; }
  std::size_t send(std::span<const wire::TxPacket> packets) override {
    const std::size_t taken = std::min(packets.size(), record_.room);
    record_.room -= taken;
    for (const wire::TxPacket& packet : packets.first(taken)) {
      Sent sent{{packet.header.begin(), packet.header.begin() + packet.header_bytes},
                packet.path,
                record_.now};
      sent.bytes.insert(sent.bytes.end(), packet.payload.begin(), packet.payload.end());
      CHECK(packet.destination->size == 9);
      record_.sent.push_back(sent);
    }
    return taken;
  }
  std::size_t receive(Time, std::span<wire::RxPacket>) override { return 0; }
  int wait_descriptor() const override { return -1; }

 private:
  Record& record_;
  wire::EndpointAddress address_;
};

// Sends numbered packets, each with its number in the header and in the payload; header, payload
// and destination are destroyed when send() returns.
struct Line {
  explicit Line(const char* spec)
      : faulty(std::make_unique<RecordingDatapath>(record), parse_fault_spec(spec).value()) {}

  bool send(std::uint32_t number, wire::PathIndex path = 0) {
    wire::EndpointAddress destination;
    destination.size = 9;
    std::vector<std::byte> payload(100, static_cast<std::byte>(number));
    wire::TxPacket packet;
    packet.header_bytes = 4;
    packet.path = path;
    std::memcpy(packet.header.data(), &number, 4);
    packet.payload = payload;
    packet.destination = &destination;
    const bool taken = faulty.send({&packet, 1}) == 1;
    std::fill(payload.begin(), payload.end(), std::byte{0xee});
    return taken;
  }
  void send_many(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i)
      send(i, static_cast<wire::PathIndex>(i % 16));
  }
  void advance_to(Time now) {
    record.now = now;
    faulty.receive(now, {});
  }
  std::vector<std::uint32_t> numbers() const {
    std::vector<std::uint32_t> numbers;
    for (const Sent& sent : record.sent) {
      numbers.emplace_back();
      std::memcpy(&numbers.back(), sent.bytes.data(), 4);
    }
    return numbers;
  }

  Record record;
  FaultyDatapath faulty;
};

Time at_us(std::int64_t us) {
  return time_from_ns(us * 1000);
}

}  // namespace

TEST_CASE("without faults every packet passes once, untouched and in order") {
  Line line("");
  line.send_many(1000);
  const auto numbers = line.numbers();
  REQUIRE(numbers.size() == 1000);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    CHECK(numbers[i] == i);
    CHECK(line.record.sent[i].bytes.size() == 104);
    CHECK(line.record.sent[i].bytes[50] == static_cast<std::byte>(i));
  }
  CHECK(line.faulty.next_release() == kNever);
}

TEST_CASE("equal seeds give equal outcomes, different seeds different ones") {
  const std::string faults = "drop=0.1,dup=0.1,reorder=0.1,corrupt=0.1,jitter_us=30";
  const auto run = [](const std::string& spec) {
    Line line(spec.c_str());
    for (std::uint32_t i = 0; i < 2000; ++i) {
      line.send(i);
      line.advance_to(at_us(10 * i));
    }
    line.advance_to(at_us(1'000'000));
    return line.record.sent;
  };
  const auto first = run(faults + ",seed=3");
  CHECK(first.size() > 1500);
  CHECK(first == run(faults + ",seed=3"));
  CHECK_FALSE(first == run(faults + ",seed=4"));
}

TEST_CASE("drop loses the configured share, singly or in bursts") {
  struct Case {
    const char* spec;
    double share;
    std::uint32_t burst;
  };
  for (const Case& c : {Case{"drop=0.05", 0.05, 1}, Case{"drop=0.05,burst=10", 0.05, 10},
                        Case{"drop=0.5,burst=3,seed=5", 0.5, 3}, Case{"drop=1", 1, 1}}) {
    INFO(c.spec);
    Line line(c.spec);
    line.send_many(100000);
    const double lost = 1 - static_cast<double>(line.record.sent.size()) / 100000;
    CHECK(lost == Approx(c.share).epsilon(0.1));
    CHECK(line.faulty.counters().dropped == 100000 - line.record.sent.size());
    const auto numbers = line.numbers();
    std::size_t ended_early = 0;  // bursts may follow each other, but never end early
    for (std::size_t i = 1; i < numbers.size(); ++i)
      ended_early += (numbers[i] - numbers[i - 1] - 1) % c.burst != 0 ? 1 : 0;
    CHECK(ended_early == 0);
  }
}

TEST_CASE("black-holed paths lose all packets and the others none") {
  Line line("blackhole=3+5");
  line.send_many(1600);
  CHECK(line.record.sent.size() == 1400);
  for (const Sent& sent : line.record.sent) {
    CHECK(sent.path != 3);
    CHECK(sent.path != 5);
  }
  CHECK(line.faulty.counters().blackholed == 200);

  Line share("blackhole=25%,seed=9");
  share.send_many(1600);
  CHECK(share.record.sent.size() == 1200);
  Line all("blackhole=100%");
  all.send_many(1600);
  CHECK(all.record.sent.empty());
}

TEST_CASE("a corrupted packet differs in one bit, in the header or in the payload") {
  Line line("corrupt=1");
  std::map<std::size_t, int> places;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    line.send(i);
    std::vector<std::byte> right(104, static_cast<std::byte>(i));
    std::memcpy(right.data(), &i, 4);
    int bits = 0;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const auto difference =
          static_cast<std::uint8_t>(right[j] ^ line.record.sent.back().bytes[j]);
      bits += std::popcount(difference);
      places[j] += difference != 0 ? 1 : 0;
    }
    CHECK(bits == 1);
  }
  CHECK(places.size() == 104);
  CHECK(std::all_of(places.begin(), places.end(), [](auto& place) { return place.second > 0; }));
}

TEST_CASE("duplicates are whole and counted") {
  Line line("dup=1");
  line.send_many(100);
  CHECK(line.faulty.counters().duplicated == 100);
  const auto numbers = line.numbers();
  REQUIRE(numbers.size() == 200);
  for (std::uint32_t i = 0; i < 200; ++i) {
    CHECK(numbers[i] == i / 2);
    CHECK(line.record.sent[i].bytes[100] == static_cast<std::byte>(i / 2));
  }
}

TEST_CASE("a reordered packet is overtaken by a bounded number of others, and none is lost") {
  Line line("reorder=0.1,reorder_packets=5");
  line.send_many(10000);
  line.advance_to(at_us(2000));
  auto numbers = line.numbers();
  REQUIRE(numbers.size() == 10000);
  std::uint32_t late = 0;
  std::uint32_t highest = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < highest) {
      ++late;
      CHECK(i - numbers[i] <= 5 + 1);
    }
    highest = std::max(highest, numbers[i]);
  }
  CHECK(late == Approx(1000).epsilon(0.15));
  std::sort(numbers.begin(), numbers.end());
  CHECK(std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end());
}

TEST_CASE("a reordered packet that no other packet overtakes leaves after a millisecond") {
  Line line("reorder=1");
  line.advance_to(at_us(10));
  line.send(1);
  CHECK(line.faulty.next_release() == at_us(1010));
  line.advance_to(at_us(1010) - 1ns);
  CHECK(line.record.sent.empty());
  line.advance_to(at_us(1010));
  CHECK(line.numbers() == std::vector<std::uint32_t>{1});
  CHECK(line.faulty.next_release() == kNever);
}

TEST_CASE("a delayed packet leaves exactly at its time, with its own bytes") {
  Line line("delay_us=100");
  line.advance_to(at_us(50));
  line.send(1);
  line.advance_to(at_us(60));
  line.send(2);
  CHECK(line.faulty.next_release() == at_us(150));
  line.advance_to(at_us(150) - 1ns);
  CHECK(line.record.sent.empty());
  line.advance_to(at_us(150));
  CHECK(line.numbers() == std::vector<std::uint32_t>{1});
  CHECK(line.record.sent[0].bytes[103] == std::byte{1});
  CHECK(line.faulty.next_release() == at_us(160));
  line.advance_to(at_us(500));
  CHECK(line.numbers() == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("if the datapath below is full, packets wait in order, and then send() refuses more") {
  Line line("");
  line.record.room = 1;
  CHECK(line.send(1));
  CHECK(line.send(2));        // stored
  CHECK_FALSE(line.send(3));  // refused until the stored one has left
  line.record.room = 1;
  line.advance_to(at_us(1));
  line.record.room = 5;
  CHECK(line.send(3));
  CHECK(line.numbers() == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(line.record.sent[1].bytes[103] == std::byte{2});
}

}  // namespace dlcp::datapath::test
