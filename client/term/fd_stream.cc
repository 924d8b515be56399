// SPDX-License-Identifier: Apache-2.0
#include "client/term/fd_stream.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace traza {

FdBuffer::FdBuffer(int fd) : fd_(fd) {
  setp(bytes_.data(), bytes_.data() + bytes_.size());
}

FdBuffer::~FdBuffer() { Drain(); }

FdBuffer::int_type FdBuffer::overflow(int_type character) {
  if (!Drain()) return traits_type::eof();
  if (!traits_type::eq_int_type(character, traits_type::eof())) {
    *pptr() = traits_type::to_char_type(character);
    pbump(1);
  }
  return traits_type::not_eof(character);
}

int FdBuffer::sync() { return Drain() ? 0 : -1; }

bool FdBuffer::Drain() {
  const char* next = pbase();
  while (error_ == 0 && next < pptr()) {
    const ssize_t n = ::write(fd_, next, static_cast<size_t>(pptr() - next));
    if (n >= 0) {
      next += n;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  // What could not be written is dropped: nobody would take it later either.
  setp(bytes_.data(), bytes_.data() + bytes_.size());
  return error_ == 0;
}

}  // namespace traza
