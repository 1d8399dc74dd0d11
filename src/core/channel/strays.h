// Frames to send that belong to no connection, because it has ended or does not exist yet. Few are
// queued at a time, because any peer can cause them cheaply.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "core/channel/frame_arena.h"
#include "util/memory/ring_queue.h"

namespace dlcp::core {

// How the answer to a frame is sent: on the path that its sender chose, and without DSCP and ECN if
// it came without them.
struct AnswerWay {
  wire::PathIndex path = 0;
  bool unmarked = false;
};

class Strays {
 public:
  using Frame = std::variant<wire::Refuse, wire::CloseAck, wire::Welcome>;

  void push(const Frame& frame, const wire::Key& key, std::uint64_t sequence,
            const wire::EndpointAddress& to, const AnswerWay& way) {
    if (waiting_.size() < kMost) waiting_.push_back({frame, key, sequence, to, way});
  }
  // Writes as many as fit; addresses stay valid until the next call.
  std::size_t emit(FrameArena& arena, std::span<wire::TxPacket> out) {
    leaving_.clear();
    for (; !waiting_.empty() && leaving_.size() < out.size(); waiting_.pop_front())
      leaving_.push_back(waiting_.front());
    std::size_t count = 0;
    for (const Stray& stray : leaving_) {
      const auto emit_one = [&](const auto& frame) {
        arena.emit(frame, stray.key, stray.sequence, stray.way.path, stray.to, out[count]);
        out[count++].unmarked = stray.way.unmarked;
      };
      std::visit(emit_one, stray.frame);
    }
    return count;
  }

 private:
  static constexpr std::size_t kMost = 64;

  struct Stray {
    Frame frame;
    wire::Key key;
    std::uint64_t sequence = 0;
    wire::EndpointAddress to;
    AnswerWay way;
  };

  RingQueue<Stray> waiting_;
  std::vector<Stray> leaving_;
};

}  // namespace dlcp::core
