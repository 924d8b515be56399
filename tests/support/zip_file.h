// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_ZIP_FILE_H_
#define TESTS_SUPPORT_ZIP_FILE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace traza {

// An archive of members that are stored as they are, without checksums: what
// tests need of PyTorch's files. With `zip64` as PyTorch writes it, every size
// in the long records.
class ZipFile {
 public:
  explicit ZipFile(bool zip64 = true) : zip64_(zip64) {}

  ZipFile& Add(const std::string& name, const std::string& content) {
    const uint64_t offset = bytes_.size();
    Number(&bytes_, 0x04034b50, 4);
    bytes_.append(14, '\0');
    Number(&bytes_, content.size(), 4);
    Number(&bytes_, content.size(), 4);
    Number(&bytes_, name.size(), 2);
    Number(&bytes_, 0, 2);
    bytes_ += name + content;

    std::string extra;
    if (zip64_) {
      Number(&extra, 1, 2);
      Number(&extra, 24, 2);
      for (const uint64_t value : {content.size(), content.size(), offset}) {
        Number(&extra, value, 8);
      }
    }
    Number(&directory_, 0x02014b50, 4);
    directory_.append(16, '\0');
    Number(&directory_, Short(content.size()), 4);
    Number(&directory_, Short(content.size()), 4);
    Number(&directory_, name.size(), 2);
    Number(&directory_, extra.size(), 2);
    directory_.append(10, '\0');
    Number(&directory_, Short(offset), 4);
    directory_ += name + extra;
    ++members_;
    return *this;
  }

  std::string Bytes() const {
    std::string all = bytes_ + directory_;
    if (zip64_) {
      const uint64_t end_at = all.size();
      Number(&all, 0x06064b50, 4);
      Number(&all, 44, 8);
      all.append(12, '\0');
      Number(&all, members_, 8);
      Number(&all, members_, 8);
      Number(&all, directory_.size(), 8);
      Number(&all, bytes_.size(), 8);
      Number(&all, 0x07064b50, 4);
      all.append(4, '\0');
      Number(&all, end_at, 8);
      all.append(4, '\0');
    }
    Number(&all, 0x06054b50, 4);
    all.append(4, '\0');
    Number(&all, zip64_ ? 0xffff : members_, 2);
    Number(&all, zip64_ ? 0xffff : members_, 2);
    Number(&all, Short(directory_.size()), 4);
    Number(&all, Short(bytes_.size()), 4);
    Number(&all, 0, 2);
    return all;
  }

 private:
  static void Number(std::string* text, uint64_t value, int count) {
    for (int i = 0; i < count; ++i) {
      text->push_back(static_cast<char>(value >> (8 * i)));
    }
  }
  uint64_t Short(uint64_t value) const { return zip64_ ? 0xffffffff : value; }

  const bool zip64_;
  std::string bytes_;
  std::string directory_;
  uint64_t members_ = 0;
};

// A package of AOTInductor as far as its directory and metadata go.
inline std::string PackageOf(const std::string& metadata) {
  return ZipFile()
      .Add("model/data/aotinductor/model/c1.wrapper.so", std::string(5000, 'x'))
      .Add("model/data/aotinductor/model/c1.wrapper_metadata.json", metadata)
      .Add("model/version", "3")
      .Bytes();
}

}  // namespace traza

#endif  // TESTS_SUPPORT_ZIP_FILE_H_
