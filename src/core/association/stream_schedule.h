// Schedules the streams of a sending association: deficit round robin (Shreedhar and Varghese 1995)
// with a quantum in bytes. Urgent layers go before others, and retransmissions go at once; the turn
// that they interrupt continues afterwards. The quantum is about the size of a message, so that
// messages complete one after the other instead of all of them late.
// Only busy streams are visited, so that idle ones, which may be hundreds, cost nothing per packet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlcp::core {

class SendStream;

class StreamSchedule {
 public:
  static constexpr std::size_t kQuantumBytes = std::size_t{128} << 10;

  // Numbers ascend: a stream that joins later has a larger number.
  void add(std::uint32_t number, SendStream& stream);
  void remove(std::uint32_t number);
  // A stream is busy while it opens, and from wake(), called when a message is posted, until rest()
  // finds that all its messages are complete.
  void wake(std::uint32_t number);
  void rest();
  // null: no stream has this number.
  SendStream* find(std::uint32_t number) const;
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }

  template <class Work>
  void for_each(Work&& work) const {
    for (const Entry& entry : entries_)
      work(*entry.stream);
  }
  template <class Work>
  void for_each_busy(Work&& work) const {
    for (const std::size_t index : busy_)
      work(*entries_[index].stream);
  }
  template <class Holds>
  bool any_busy(Holds&& holds) const {
    return std::ranges::any_of(
        busy_, [&](std::size_t at) { return holds(*entries_[at].stream); });
  }

  // The stream that sends the next chunk; null: no stream has anything that may be sent.
  SendStream* next();
  // Bytes left of the turn of the stream that next() returned. Its last packet may exceed them.
  std::size_t left() const {
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(entries_[turn_].left, 0));
  }
  // The stream that next() returned has sent this many bytes.
  void on_sent(std::size_t bytes) { entries_[turn_].left -= static_cast<std::ptrdiff_t>(bytes); }
  // Gives the turn to this stream, which has a chunk to retransmit.
  void prefer(std::uint32_t number);
  bool has_next() const;

 private:
  struct Entry {
    std::uint32_t number = 0;
    SendStream* stream = nullptr;
    std::ptrdiff_t left = 0;  // bytes of its turn; negative: its next turn is shorter
    bool can_send() const;
    bool holds_turn() const;
  };
  std::size_t index_of(std::uint32_t number) const;  // size(): no stream has this number
  template <class Holds>
  std::size_t find_behind(std::size_t place, const Holds& holds) const;
  static void grant(Entry& entry);
  SendStream* let_retransmit(std::size_t index);

  std::vector<Entry> entries_;     // sorted by number
  std::vector<std::size_t> busy_;  // indexes of busy streams, ascending
  std::size_t turn_ = 0;           // index of the stream that sends
  std::size_t ring_ = 0;           // index of the stream that has its turn of the round
};

}  // namespace dlcp::core
