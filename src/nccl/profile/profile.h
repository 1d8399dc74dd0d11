// DLCP_PROFILE_FILE: the recorder of this process, and the thread that writes its file. The file is
// replaced as a whole every kWriteInterval and when the last communicator ends, so a crash leaves
// the last complete one.
#pragma once

#include <sys/stat.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "nccl/profile/buffer_sampler.h"
#include "nccl/profile/recorder.h"

namespace dlcp::nccl {

class Profile {
 public:
  static constexpr auto kWriteInterval = std::chrono::seconds(10);

  // The process's profile, or null if DLCP_PROFILE_FILE is not set (or settings are wrong, which is
  // logged). Reads the settings on its first call. Never destroyed, because NCCL's threads may
  // outlive exit().
  static Profile* of_process();
  // The same without reading settings: null before the first of_process(). Cheap.
  static Profile* active();

  explicit Profile(std::string path) : path_(std::move(path)) {}
  ~Profile();

  // A communicator begins or ends. The last one to end stops the thread and writes the file.
  std::uint32_t begin(const whatif::Communicator& communicator);
  void end();

  Recorder& recorder() { return recorder_; }
  BufferSampler& sampler() { return sampler_; }

  // Writes the file now. Its name is that of the rank in the largest communicator so far; a file
  // with an earlier name is removed. A failure is logged once.
  void write();

 private:
  void write_periodically(const bool& stop);
  whatif::Run collect();

  const std::string path_;
  Recorder recorder_;
  BufferSampler sampler_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  std::thread thread_;
  std::shared_ptr<bool> stop_;  // for thread_ alone: the next one may begin before it has ended
  std::size_t communicators_ = 0;
  std::mutex file_mutex_;
  std::string name_;     // of the file that was written last
  struct stat file_ {};  // that file; other ranks may have replaced it since
  bool failed_ = false;
};

// `path` with %r replaced by the rank (or "pid" and the process ID if it is unknown), %h by the
// host and %p by the process ID.
std::string profile_file_name(const std::string& path, const whatif::Run& run);

}  // namespace dlcp::nccl
