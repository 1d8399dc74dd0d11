// Two datapaths joined by memory, with a network card that is often too busy to accept packets: it
// tests the engine's handling of refused packets, which is rare with a real socket.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "datapath/datapath.h"

namespace dlcp::test {

struct Wire {
  std::mutex mutex;
  std::deque<std::vector<std::byte>> packets[2];  // towards side 0 and side 1
  int readable[2] = {eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE),
                     eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE)};
  std::size_t take_at_once = 64;  // packets per send(); 0: the card is stuck
  std::size_t refused = 0;        // calls that left packets behind
  bool reads_on = false;          // the card is slow to release memory ...
  std::size_t abandoned = 0;      // ... until it is forced to
  bool gone = false;              // the card has been removed
  std::function<bool(std::span<const std::byte> datagram)> keep;  // false: the packet is lost
  std::function<void()> on_check_reachable;

  // Delivers the datagram to that side.
  void put(std::size_t side, std::vector<std::byte> datagram) {
    const std::lock_guard lock(mutex);
    packets[side].push_back(std::move(datagram));
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto told = write(readable[side], &one, sizeof one);
  }

  ~Wire() {
    close(readable[0]);
    close(readable[1]);
  }
};

class MemoryDatapath final : public datapath::Datapath {
 public:
  MemoryDatapath(std::shared_ptr<Wire> wire, int side)
      : MemoryDatapath(std::move(wire), side, {{static_cast<std::byte>(side)}, 1}) {}
  MemoryDatapath(std::shared_ptr<Wire> wire, int side, const wire::EndpointAddress& address)
      : wire_(std::move(wire)), side_(side), address_(address) {}

  std::string_view name() const override { return "memory"; }
  const wire::EndpointAddress& local_address() const override { return address_; }
  datapath::Limits limits() const override { return {1472, 4, 64, std::size_t{1} << 20}; }

  std::size_t send(std::span<const wire::TxPacket> packets) override {
    const std::lock_guard lock(wire_->mutex);
    const std::size_t count = std::min(packets.size(), wire_->take_at_once);
    wire_->refused += count < packets.size() ? 1 : 0;
    for (const auto& packet : packets.first(count)) {
      const auto to = static_cast<std::size_t>(*packet.destination == address_ ? side_ : 1 - side_);
      std::vector<std::byte> bytes(packet.header.begin(),
                                   packet.header.begin() + packet.header_bytes);
      bytes.insert(bytes.end(), packet.payload.begin(), packet.payload.end());
      if (wire_->keep && !wire_->keep(bytes)) continue;
      wire_->packets[to].push_back(std::move(bytes));
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto put = write(wire_->readable[to], &one, sizeof one);
    }
    return count;
  }

  std::size_t receive(Time now, std::span<wire::RxPacket> out) override {
    const std::lock_guard lock(wire_->mutex);
    received_.clear();
    auto& waiting = wire_->packets[side_];
    while (!waiting.empty() && received_.size() < out.size()) {
      received_.push_back(std::move(waiting.front()));
      waiting.pop_front();
      std::uint64_t one = 0;
      [[maybe_unused]] const auto got = read(wire_->readable[side_], &one, sizeof one);
    }
    for (std::size_t i = 0; i < received_.size(); ++i) {
      out[i] = {};
      out[i].bytes = received_[i];
      out[i].arrived_at = now;
    }
    return received_.size();
  }

  Status check_reachable(const wire::EndpointAddress&) const override {
    if (wire_->on_check_reachable) wire_->on_check_reachable();
    return Unit{};
  }
  bool reads(std::span<const std::byte>) override { return wire_->reads_on; }
  void abandon(std::span<const std::byte>) override {
    wire_->reads_on = false;
    ++wire_->abandoned;
  }
  std::optional<Error> failure() const override {
    return wire_->gone && side_ == 0
               ? std::optional<Error>(Error{ErrorCode::kSystem, "the card is gone", ""})
               : std::nullopt;
  }
  int wait_descriptor() const override { return wire_->readable[side_]; }

 private:
  std::shared_ptr<Wire> wire_;
  int side_;
  wire::EndpointAddress address_;
  std::vector<std::vector<std::byte>> received_;
};

}  // namespace dlcp::test
