// One thread block of one GPU in a plan for MSCCL++'s executor: its operations, and what they refer
// to. It knows what the executor's threads may do at the same time, and puts a barrier of threads
// between operations that would otherwise meet.
#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace dlcp::synth {

// Units of a GPU's input (i), output (o) or scratch (s).
struct MscclppSpan {
  char buffer = 'i';
  int begin = 0;
  int units = 0;

  bool meets(const MscclppSpan& other) const {
    return buffer == other.buffer && begin < other.begin + other.units &&
           other.begin < begin + units;
  }
};

struct MscclppPut {
  int peer = 0;
  MscclppSpan from;  // here
  MscclppSpan to;    // there
};

// Channels of one kind lead to peers: through memory of the same box, or through a network port.
enum class MscclppChannel { kMemory, kPort };
inline constexpr const char* kMscclppChannelNames[] = {"memory", "port"};  // in plans

struct MscclppOperation {
  const char* name = "nop";
  std::optional<MscclppChannel> kind{};
  std::vector<int> channels{};
  std::vector<MscclppSpan> from{};
  std::vector<MscclppSpan> to{};
  std::vector<int> remote{};  // whose buffers `to` is in, as the block numbers them; empty: here
};

class MscclppBlock {
 public:
  // What one block may have; the executor refuses plans with more, or reads beyond its arrays.
  static constexpr std::size_t kOperationsMax = 64;
  static constexpr std::size_t kChannelsMax = 16;  // of each kind; as many remote buffers
  static constexpr std::size_t kAtOnce = 8;        // channels of one operation

  using Peers = std::vector<int>;

  // Peers of the same number after division by `box` share memory.
  MscclppBlock(int rank, int box) : rank_(rank), box_(box) {}

  MscclppChannel kind(int peer) const {
    return peer / box_ == rank_ / box_ ? MscclppChannel::kMemory : MscclppChannel::kPort;
  }
  // Tells peers, or is told by them.
  void signal(const Peers& peers) { talk("signal", peers); }
  void wait(const Peers& peers) { talk("wait", peers); }
  // Writes, and tells each peer once after the last of its own.
  void send(const std::vector<MscclppPut>& puts);
  // `to` = the sum of all `from`, of the same length; a single one is copied.
  void sum(const std::vector<MscclppSpan>& from, const MscclppSpan& to);

  bool fits() const;
  bool empty() const { return operations_.empty(); }
  const Peers& peers(MscclppChannel kind) const { return used_[index(kind)].peers; }
  // In the order of their numbers in this block: peer and buffer.
  const std::vector<std::pair<int, char>>& remote_buffers(MscclppChannel kind) const {
    return used_[index(kind)].buffers;
  }
  const std::vector<MscclppOperation>& operations() const { return operations_; }

 private:
  struct Used {
    Peers peers;
    std::vector<std::pair<int, char>> buffers;
  };
  static std::size_t index(MscclppChannel kind) { return static_cast<std::size_t>(kind); }
  int channel(int peer);
  int remote_buffer(int peer, char buffer);
  void talk(const char* name, const Peers& peers);
  void put(const char* name, MscclppChannel kind, const std::vector<MscclppPut>& puts);
  void begin(const std::vector<MscclppSpan>& reads, const std::vector<MscclppSpan>& writes);
  void synchronise();

  int rank_;
  int box_;
  Used used_[2];
  std::vector<MscclppOperation> operations_;
  // Since the last barrier of threads.
  std::vector<MscclppSpan> reads_, writes_;
  bool put_ = false;
  bool waited_ = false;
};

}  // namespace dlcp::synth
