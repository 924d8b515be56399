// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_TRACE_FILE_GZIP_H_
#define TESTS_TRACE_FILE_GZIP_H_

#include <string>

#include "absl/strings/string_view.h"
#include "zlib.h"

#include "base/check.h"

namespace traza {

// `text` as gzip packs it, one member.
inline std::string Gzip(absl::string_view text) {
  z_stream stream = {};
  TRAZA_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16,
                           8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  // zlib reads through a pointer that is not const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  TRAZA_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace traza

#endif  // TESTS_TRACE_FILE_GZIP_H_
