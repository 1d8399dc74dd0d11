// The streams of a sending association, and which of them sends next: deficit round robin
// (Shreedhar and Varghese 1995) with a quantum of bytes, urgent layers before others, repairs at
// once. A quantum of about a message keeps messages whole: they complete one after the other, not
// all late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlcp::core {

class SendStream;

class StreamSchedule {
 public:
  static constexpr std::size_t kQuantumBytes = std::size_t{128} << 10;

  // Numbers ascend: a stream that joins later has a larger one.
  void add(std::uint32_t number, SendStream& stream) { entries_.push_back({number, &stream}); }
  void remove(std::uint32_t number);
  // null: no stream has this number.
  SendStream* find(std::uint32_t number) const;
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }

  template <class Work>
  void for_each(Work&& work) const {
    for (const Entry& entry : entries_)
      work(*entry.stream);
  }
  template <class Holds>
  bool any_of(Holds&& holds) const {
    for (const Entry& entry : entries_)
      if (holds(*entry.stream)) return true;
    return false;
  }

  // The stream whose chunk leaves next; null: none has anything that may be sent.
  SendStream* next();
  // The stream that next() named has sent so many bytes.
  void on_sent(std::size_t bytes) { left_ -= left_ < bytes ? left_ : bytes; }
  // It is this stream's turn now: what it has lost is waited for.
  void prefer(std::uint32_t number);
  bool has_next() const;

 private:
  struct Entry {
    std::uint32_t number = 0;
    SendStream* stream = nullptr;
  };
  std::size_t index_of(std::uint32_t number) const;

  std::vector<Entry> entries_;  // by number
  std::size_t turn_ = 0;        // index of the stream that sends
  std::size_t left_ = 0;        // bytes of its quantum
};

}  // namespace dlcp::core
