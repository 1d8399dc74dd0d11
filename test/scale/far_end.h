// A datapath that contains the other end: sent packets go to a core at once, without payload, and
// its answers are the received packets. So one thread does all the work of a lane, as with a card
// that transfers bytes by itself, and two lanes share only the caller.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "core/endpoint.h"
#include "datapath/datapath.h"
#include "engine/host/clock.h"
#include "secrets.h"

namespace dlcp::test {

class FarEnd final : public datapath::Datapath {
 public:
  FarEnd(const wire::EndpointAddress& here, const wire::EndpointAddress& there,
         std::size_t message_bytes)
      : here_(here),
        peer_(config(), there, secrets_of(9)),
        message_(message_bytes),
        slots_(kBatch * kSlotBytes),
        readable_(eventfd(0, EFD_NONBLOCK)) {}
  ~FarEnd() override { close(readable_); }

  static core::Config config() {
    core::Config config;
    config.datagram_bytes_max = 4172;
    config.receive_capacity_bytes = std::size_t{1} << 20;
    config.paths = 4;
    return config;
  }

  // Receives every message of the listener's connection.
  core::Listening take(std::vector<wire::EndpointAddress> lanes) {
    const auto listening = peer_.listen(1, 1, std::move(lanes));
    listener_ = listening.id;
    return listening;
  }
  // Sends messages endlessly to a listener of the engine.
  core::ConnectionId bring(const wire::Invitation& listener, const wire::Membership& membership) {
    brings_ = peer_.connect(engine::steady_now(), 1, listener, here_, membership);
    wake();
    return *brings_;
  }

  std::string_view name() const override { return "far end"; }
  const wire::EndpointAddress& local_address() const override { return here_; }
  datapath::Limits limits() const override { return {4172, 4, 0, std::size_t{1} << 20, {}}; }
  int wait_descriptor() const override { return readable_; }
  Time next_release() const override { return peer_.next_timeout(); }

  std::size_t send(std::span<const wire::TxPacket> packets) override {
    const Time now = engine::steady_now();
    for (const wire::TxPacket& packet : packets) {
      const wire::RxPacket taken = arrived(now, packet, taken_.data());
      peer_.on_packets(now, {&taken, 1});
    }
    serve(now);
    wake();
    return packets.size();
  }

  std::size_t receive(Time now, std::span<wire::RxPacket> out) override {
    if (peer_.next_timeout() <= now) peer_.on_timeout(now);
    serve(now);
    const std::size_t room = std::min(out.size(), kBatch);
    const std::size_t count = peer_.poll_transmit(now, std::span(sent_).first(room));
    for (std::size_t i = 0; i < count; ++i)
      out[i] = arrived(now, sent_[i], slots_.data() + i * kSlotBytes);
    if (count == 0) {
      std::uint64_t woken = 0;
      [[maybe_unused]] const auto got = read(readable_, &woken, sizeof woken);
    }
    return count;
  }

 private:
  static constexpr std::size_t kBatch = 64;
  static constexpr std::size_t kSlotBytes = 4224;

  void wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto told = write(readable_, &one, sizeof one);
  }
  // Control frames are complete; of data only the header is real, with arbitrary payload behind it:
  // tags cover no more.
  static wire::RxPacket arrived(Time now, const wire::TxPacket& packet, std::byte* slot) {
    std::memcpy(slot, packet.header.data(), packet.header_bytes);
    if (packet.traffic_class == TrafficClass::kControl)
      std::memcpy(slot + packet.header_bytes, packet.payload.data(), packet.payload.size());
    wire::RxPacket arrived{};
    arrived.bytes = {slot, packet.header_bytes + packet.payload.size()};
    arrived.arrived_at = now;
    return arrived;
  }
  void serve(Time now) {
    while (peer_.poll_event()) {
    }
    if (listener_ && !takes_) takes_ = peer_.accept(*listener_);
    while (takes_ && peer_.post_receive(now, *takes_, 0, message_)) {
    }
    while (brings_ && peer_.post_send(now, *brings_, 0, message_)) {
    }
  }

  const wire::EndpointAddress here_;
  core::Endpoint peer_;
  std::vector<std::byte> message_;
  std::optional<core::ListenerId> listener_;
  std::optional<core::ConnectionId> takes_;
  std::optional<core::ConnectionId> brings_;
  std::array<std::byte, kSlotBytes> taken_{};
  std::array<wire::TxPacket, kBatch> sent_;
  std::vector<std::byte> slots_;
  const int readable_;
};

}  // namespace dlcp::test
