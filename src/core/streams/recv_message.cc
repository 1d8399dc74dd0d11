#include "core/streams/recv_message.h"

#include <algorithm>
#include <utility>

#include "wire/data/data_header.h"

namespace dlcp::core {

bool RecvMessage::start(std::uint32_t message_bytes, std::uint32_t size) {
  if (started) return bytes == message_bytes || resize(message_bytes);
  if (message_bytes > wire::kMessageBytesMax) return false;
  started = true;
  bytes = message_bytes;
  chunk_bytes = size;
  const std::uint64_t count = (std::uint64_t{bytes} + chunk_bytes - 1) / chunk_bytes;
  chunks = static_cast<std::uint32_t>(std::max<std::uint64_t>(count, 1));
  present.reset(chunks);
  return true;
}

[[gnu::cold]] void RecvMessage::start_with_buffer(std::uint32_t size) {
  const std::size_t most = std::min<std::size_t>(buffer.size(), wire::kMessageBytesMax);
  start(static_cast<std::uint32_t>(most), size);
  provisional = true;
}

[[gnu::cold]] bool RecvMessage::resize(std::uint32_t message_bytes) {
  if (!provisional || message_bytes == 0 || message_bytes > wire::kMessageBytesMax) return false;
  const std::uint32_t count = (message_bytes - 1) / chunk_bytes + 1;
  if (received > 0 && highest >= count) return false;
  Bitmap arrived;
  arrived.reset(count);
  const std::size_t words = std::min(arrived.word_count(), present.word_count());
  for (std::size_t word = 0; word < words; ++word)
    arrived.merge(word, present.word(word));
  present = std::move(arrived);
  provisional = false;
  bytes = message_bytes;
  chunks = count;
  return true;
}

}  // namespace dlcp::core
