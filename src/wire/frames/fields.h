// Functions list the fields of a frame once for both directions: called with a FieldWriter they
// write the frame, with a FieldReader they read it.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <string>

#include "wire/codec.h"
#include "wire/packet.h"

namespace dlcp::wire {

// Writes fields into a frame one after the other; a list as its length followed by its items.
class FieldWriter {
 public:
  explicit FieldWriter(Buffer& out) : out_(out) {}

  bool ok() const { return true; }
  bool goes_on(bool wanted) const { return wanted; }  // whether the last, optional fields follow
  template <std::unsigned_integral T>
  void operator()(T value) {
    out_.put(value);
  }
  void operator()(bool value) { out_.put(std::uint8_t{value}); }
  template <class Enum>
  void operator()(Enum value, Enum, Enum) {
    out_.put(static_cast<std::uint8_t>(value));
  }
  void operator()(const EndpointAddress& address) {
    out_.put(address.size);
    out_.put_bytes(std::span(address.bytes).first(address.size));
  }
  void operator()(const std::string& text, std::size_t max) { out_.put_text(text, max); }
  template <std::unsigned_integral Count, class List, class One>
  void list(const List& list, std::size_t, const One& one) {
    out_.put(static_cast<Count>(list.size()));
    for (const auto& item : list)
      one(item);
  }

 private:
  Writer out_;
};

// Reads fields in the same order.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : in_(bytes) {}

  bool ok() const { return ok_ && in_.ok(); }
  std::size_t left() const { return in_.left(); }
  bool goes_on(bool) const { return ok() && left() > 0; }
  template <std::unsigned_integral T>
  void operator()(T& value) {
    value = in_.get<T>();
  }
  void operator()(bool& value) {
    const auto byte = in_.get<std::uint8_t>();
    value = byte != 0;
    check(byte <= 1);
  }
  template <class Enum>
  void operator()(Enum& value, Enum first, Enum last) {
    value = static_cast<Enum>(in_.get<std::uint8_t>());
    check(value >= first && value <= last);
  }
  void operator()(EndpointAddress& address) {
    address = {.bytes = {}, .size = in_.get<std::uint8_t>()};
    check(address.size <= EndpointAddress::kMaxBytes);
    if (!ok_) address.size = 0;
    std::ranges::copy(in_.get_bytes(address.size), address.bytes.begin());
  }
  void operator()(std::string& text, std::size_t max) {
    text = in_.get_text();
    check(text.size() <= max);
  }
  // `bytes` is the minimum size of an item; a longer list than the frame can hold is not allocated.
  template <std::unsigned_integral Count, class List, class One>
  void list(List& list, std::size_t bytes, const One& one) {
    const std::size_t count = in_.get<Count>();
    list.clear();
    check(count * bytes <= in_.left());
    for (std::size_t i = 0; ok_ && i < count; ++i)
      one(list.emplace_back());
  }

 private:
  void check(bool sound) { ok_ = ok_ && sound; }

  Reader in_;
  bool ok_ = true;
};

}  // namespace dlcp::wire
