// One thread block of one GPU in a plan for MSCCL++'s executor: its operations and their operands.
// It tracks which operations the executor's threads may run at the same time, and inserts a barrier
// between operations that conflict.
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

// Kinds of channels to peers: through memory of the same box, or through a network port.
enum class MscclppChannel { kMemory, kPort };
inline constexpr const char* kMscclppChannelNames[] = {"memory", "port"};  // in plans

struct MscclppOperation {
  const char* name = "nop";
  std::optional<MscclppChannel> kind{};
  std::vector<int> channels{};
  std::vector<MscclppSpan> from{};
  std::vector<MscclppSpan> to{};
  // Ranks whose buffers `to` is in, as the block numbers them; empty: this GPU.
  std::vector<int> remote{};
};

class MscclppBlock {
 public:
  // Limits of one block. The executor rejects plans beyond them, or reads outside its arrays.
  static constexpr std::size_t kOperationsMax = 64;
  static constexpr std::size_t kChannelsMax = 16;  // of each kind; equally many remote buffers
  static constexpr std::size_t kAtOnce = 8;        // channels of one operation

  using Peers = std::vector<int>;

  // Peers with the same quotient by `box` share memory.
  MscclppBlock(int rank, int box) : rank_(rank), box_(box) {}

  MscclppChannel kind(int peer) const {
    return peer / box_ == rank_ / box_ ? MscclppChannel::kMemory : MscclppChannel::kPort;
  }
  // Signals peers, or waits for their signals.
  void signal(const Peers& peers) { talk("signal", peers); }
  void wait(const Peers& peers) { talk("wait", peers); }
  // Writes the data, and signals each peer once after its last write.
  void send(const std::vector<MscclppPut>& puts);
  // `to` = the sum of all `from`, all of the same length; a single one is copied.
  void sum(const std::vector<MscclppSpan>& from, const MscclppSpan& to);

  bool fits() const;
  bool empty() const { return operations_.empty(); }
  const Peers& peers(MscclppChannel kind) const { return used_[index(kind)].peers; }
  // Peer and buffer, in the order of their numbers in this block.
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
  // Since the last barrier.
  std::vector<MscclppSpan> reads_, writes_;
  bool put_ = false;
  bool waited_ = false;
};

}  // namespace dlcp::synth
