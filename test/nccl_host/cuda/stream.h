// A stream is a thread with a queue; an event is a mark that the thread passes.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace softcuda {

class Mark {  // one place in a stream's queue
 public:
  void pass();
  void wait();
  bool is_passed();
  std::chrono::steady_clock::time_point passed_at();

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  bool passed_ = false;
  std::chrono::steady_clock::time_point passed_at_;
};

class Event {  // the mark of its last recording; null: never recorded
 public:
  std::shared_ptr<Mark> mark();
  void set_mark(std::shared_ptr<Mark> mark);

 private:
  std::mutex lock_;
  std::shared_ptr<Mark> mark_;
};

class Stream {
 public:
  Stream(int device, bool blocks_default);
  ~Stream();  // ends when the queue is empty

  void push(std::function<void()> work);
  void wait_until_idle();
  bool is_idle();
  int device() const { return device_; }
  bool blocks_default() const { return blocks_default_; }  // the default stream waits for it

 private:
  void run();

  const int device_;
  const bool blocks_default_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::condition_variable idle_;
  std::deque<std::function<void()>> queue_;
  bool busy_ = false;
  bool ends_ = false;
  std::thread thread_;
};

Stream* open_stream(bool blocks_default);
void close_stream(Stream* stream);
Stream& stream_of(cudaStream_t handle);  // the current device's default stream for 0, 1 and 2
bool is_default(cudaStream_t handle);
void wait_for_blocking_streams();  // of the current device
void wait_for_all_streams();       // of the current device

}  // namespace softcuda
