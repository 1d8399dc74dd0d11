#include "stream.h"

#include <map>
#include <set>
#include <vector>

#include "error.h"

namespace softcuda {
namespace {

std::mutex streams_lock;
std::set<Stream*> streams;
std::map<int, Stream*> default_streams;  // by device

template <class Predicate>
void wait_for(Predicate concerns) {
  std::vector<Stream*> chosen;
  {
    const std::lock_guard guard(streams_lock);
    for (Stream* stream : streams)
      if (stream->device() == current_device && concerns(*stream)) chosen.push_back(stream);
  }
  for (Stream* stream : chosen)
    stream->wait_until_idle();
}

}  // namespace

void Mark::pass() {
  const std::lock_guard guard(lock_);
  passed_at_ = std::chrono::steady_clock::now();
  passed_ = true;
  changed_.notify_all();
}

void Mark::wait() {
  std::unique_lock guard(lock_);
  changed_.wait(guard, [&] { return passed_; });
}

bool Mark::is_passed() {
  const std::lock_guard guard(lock_);
  return passed_;
}

std::chrono::steady_clock::time_point Mark::passed_at() {
  const std::lock_guard guard(lock_);
  return passed_at_;
}

std::shared_ptr<Mark> Event::mark() {
  const std::lock_guard guard(lock_);
  return mark_;
}

void Event::set_mark(std::shared_ptr<Mark> mark) {
  const std::lock_guard guard(lock_);
  mark_ = std::move(mark);
}

Stream::Stream(int device, bool blocks_default)
    : device_(device), blocks_default_(blocks_default), thread_([this] { run(); }) {}

Stream::~Stream() {
  {
    const std::lock_guard guard(lock_);
    ends_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Stream::push(std::function<void()> work) {
  const std::lock_guard guard(lock_);
  queue_.push_back(std::move(work));
  changed_.notify_all();
}

void Stream::wait_until_idle() {
  std::unique_lock guard(lock_);
  idle_.wait(guard, [&] { return queue_.empty() && !busy_; });
}

bool Stream::is_idle() {
  const std::lock_guard guard(lock_);
  return queue_.empty() && !busy_;
}

void Stream::run() {
  current_device = device_;
  std::unique_lock guard(lock_);
  for (;;) {
    changed_.wait(guard, [&] { return ends_ || !queue_.empty(); });
    if (queue_.empty()) return;
    auto work = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    guard.unlock();
    work();
    work = nullptr;
    guard.lock();
    busy_ = false;
    if (queue_.empty()) idle_.notify_all();
  }
}

Stream* open_stream(bool blocks_default) {
  auto* const stream = new Stream(current_device, blocks_default);
  const std::lock_guard guard(streams_lock);
  streams.insert(stream);
  return stream;
}

void close_stream(Stream* stream) {
  {
    const std::lock_guard guard(streams_lock);
    streams.erase(stream);
  }
  delete stream;
}

bool is_default(cudaStream_t handle) {
  return reinterpret_cast<std::uintptr_t>(handle) <= 2;  // none, legacy, per thread
}

Stream& stream_of(cudaStream_t handle) {
  if (!is_default(handle)) return *reinterpret_cast<Stream*>(handle);
  const std::lock_guard guard(streams_lock);
  Stream*& stream = default_streams[current_device];
  if (stream == nullptr) {
    stream = new Stream(current_device, true);
    streams.insert(stream);
  }
  return *stream;
}

void wait_for_blocking_streams() {
  wait_for([](const Stream& stream) { return stream.blocks_default(); });
}

void wait_for_all_streams() {
  wait_for([](const Stream&) { return true; });
}

}  // namespace softcuda
