// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_TERM_FD_STREAM_H_
#define CLIENT_TERM_FD_STREAM_H_

#include <array>
#include <ostream>
#include <streambuf>

namespace traza {

// The buffer of FdStream.
class FdBuffer : public std::streambuf {
 public:
  explicit FdBuffer(int fd);
  ~FdBuffer() override;

  int error() const { return error_; }

 private:
  int_type overflow(int_type character) override;
  int sync() override;
  bool Drain();

  const int fd_;
  int error_ = 0;
  std::array<char, 8192> bytes_;
};

// An output stream on a descriptor that it does not own. Unlike std::cout it
// remembers why a write failed, so that a full disk and a closed pipe can be
// told apart. Thread-compatible.
class FdStream : public std::ostream {
 public:
  explicit FdStream(int fd) : std::ostream(nullptr), buffer_(fd) {
    rdbuf(&buffer_);
  }

  // errno of the first write that failed; 0 while all is well.
  int error() const { return buffer_.error(); }

 private:
  FdBuffer buffer_;
};

}  // namespace traza

#endif  // CLIENT_TERM_FD_STREAM_H_
