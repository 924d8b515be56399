// SPDX-License-Identifier: Apache-2.0
#include "spec/package_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "spec/json_fields.h"

namespace traza {
namespace {

using Json = nlohmann::json;

// Signatures and sizes of the records, without what follows them.
constexpr uint32_t kMemberSignature = 0x02014b50;
constexpr size_t kMemberBytes = 46;
constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr size_t kLocalBytes = 30;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr size_t kEndBytes = 22;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr size_t kLocator64Bytes = 20;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr size_t kEnd64Bytes = 56;
constexpr uint16_t kExtra64 = 0x0001;
constexpr uint32_t kElsewhere = 0xffffffff;  // the value is in the ZIP64 extra

constexpr int64_t kMaxCommentBytes = 0xffff;
constexpr int64_t kMaxDirectoryBytes = 16 << 20;
constexpr size_t kMaxMembers = 100'000;
constexpr int64_t kMaxMetadataBytes = 256 << 10;
constexpr int64_t kMaxMemberBytes = int64_t{1} << 40;
constexpr size_t kMaxValueBytes = 128;

absl::Status Damaged(absl::string_view what) {
  return FieldError("", absl::StrCat("is damaged or of another kind: ", what));
}

// Little-endian numbers out of bytes that somebody else wrote.
class Bytes {
 public:
  explicit Bytes(absl::string_view bytes) : bytes_(bytes) {}

  bool Has(size_t at, size_t count) const {
    return at <= bytes_.size() && count <= bytes_.size() - at;
  }
  // The range must be there.
  uint64_t Number(size_t at, size_t count) const {
    uint64_t value = 0;
    for (size_t i = 0; i < count; ++i) {
      value |= uint64_t{static_cast<unsigned char>(bytes_[at + i])} << (8 * i);
    }
    return value;
  }
  uint16_t U16(size_t at) const { return static_cast<uint16_t>(Number(at, 2)); }
  uint32_t U32(size_t at) const { return static_cast<uint32_t>(Number(at, 4)); }
  uint64_t U64(size_t at) const { return Number(at, 8); }
  absl::string_view Text(size_t at, size_t count) const {
    return bytes_.substr(at, count);
  }
  size_t size() const { return bytes_.size(); }

 private:
  absl::string_view bytes_;
};

// Where the directory is.
struct End {
  uint64_t members = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;
};

// Takes the end's values from the ZIP64 record that the locator before it, if
// there is one, points to.
absl::Status ReadEnd64(int fd, int64_t end_at, End* end) {
  const int64_t locator_at = end_at - static_cast<int64_t>(kLocator64Bytes);
  if (locator_at < 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string locator_text,
                   ReadFileAt(fd, locator_at, kLocator64Bytes));
  const Bytes locator(locator_text);
  if (!locator.Has(0, kLocator64Bytes) ||
      locator.U32(0) != kLocator64Signature) {
    return absl::OkStatus();
  }
  const uint64_t at = locator.U64(8);
  if (at > static_cast<uint64_t>(locator_at)) {
    return Damaged("its end points beyond it");
  }
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFileAt(fd, static_cast<int64_t>(at), kEnd64Bytes));
  const Bytes record(text);
  if (!record.Has(0, kEnd64Bytes) || record.U32(0) != kEnd64Signature) {
    return Damaged("its end has no second part");
  }
  *end = {record.U64(32), record.U64(40), record.U64(48)};
  return absl::OkStatus();
}

absl::StatusOr<End> FindEnd(int fd, int64_t file_bytes) {
  const int64_t tail_bytes = std::min<int64_t>(
      file_bytes, kMaxCommentBytes + static_cast<int64_t>(kEndBytes));
  const int64_t tail_at = file_bytes - tail_bytes;
  ASSIGN_OR_RETURN(const std::string text, ReadFileAt(fd, tail_at, tail_bytes));
  const Bytes tail(text);
  for (size_t at = tail.size() < kEndBytes ? 0 : tail.size() - kEndBytes + 1;
       at-- > 0;) {
    if (tail.U32(at) != kEndSignature) continue;
    End end = {tail.U16(at + 10), tail.U32(at + 12), tail.U32(at + 16)};
    RETURN_IF_ERROR(ReadEnd64(fd, tail_at + static_cast<int64_t>(at), &end));
    const auto limit = static_cast<uint64_t>(file_bytes);
    if (end.offset > limit || end.bytes > limit - end.offset) {
      return Damaged("its directory lies beyond its end");
    }
    return end;
  }
  return Damaged("it is no ZIP archive, or its end is missing");
}

// Fills in what the member has in its ZIP64 extra; they are there in this
// order, each only where the short field says so.
absl::Status ReadExtra64(const Bytes& extra, ArchiveMember* member,
                         uint32_t bytes, uint32_t stored, uint32_t offset) {
  const std::array<std::pair<uint32_t, int64_t*>, 3> fields = {
      {{bytes, &member->bytes},
       {stored, &member->stored_bytes},
       {offset, &member->offset}}};
  for (size_t at = 0; extra.Has(at, 4);) {
    const size_t size = extra.U16(at + 2);
    if (!extra.Has(at + 4, size)) break;
    if (extra.U16(at) == kExtra64) {
      size_t field_at = at + 4;
      for (const auto& [shorter, value] : fields) {
        if (shorter != kElsewhere) continue;
        if (field_at + 8 > at + 4 + size) return Damaged("a size is missing");
        const uint64_t number = extra.U64(field_at);
        if (number > uint64_t{std::numeric_limits<int64_t>::max()}) {
          return Damaged("a size is absurd");
        }
        *value = static_cast<int64_t>(number);
        field_at += 8;
      }
      return absl::OkStatus();
    }
    at += 4 + size;
  }
  if (std::ranges::any_of(
          fields, [](const auto& f) { return f.first == kElsewhere; })) {
    return Damaged("a size is missing");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ArchiveMember>> ReadDirectory(const Bytes& directory,
                                                         const End& end,
                                                         int64_t file_bytes) {
  std::vector<ArchiveMember> members;
  size_t at = 0;
  while (members.size() < end.members) {
    if (members.size() == kMaxMembers)
      return Damaged("it has too many members");
    if (!directory.Has(at, kMemberBytes) ||
        directory.U32(at) != kMemberSignature) {
      return Damaged("its directory is cut");
    }
    const size_t name_bytes = directory.U16(at + 28);
    const size_t extra_bytes = directory.U16(at + 30);
    const size_t comment_bytes = directory.U16(at + 32);
    if (!directory.Has(at + kMemberBytes,
                       name_bytes + extra_bytes + comment_bytes)) {
      return Damaged("its directory is cut");
    }
    ArchiveMember member;
    member.compressed = directory.U16(at + 10) != 0;
    member.stored_bytes = directory.U32(at + 20);
    member.bytes = directory.U32(at + 24);
    member.offset = directory.U32(at + 42);
    member.name = std::string(directory.Text(at + kMemberBytes, name_bytes));
    RETURN_IF_ERROR(ReadExtra64(
        Bytes(directory.Text(at + kMemberBytes + name_bytes, extra_bytes)),
        &member, directory.U32(at + 24), directory.U32(at + 20),
        directory.U32(at + 42)));
    if (member.bytes > kMaxMemberBytes ||
        (!member.compressed && member.bytes != member.stored_bytes)) {
      return Damaged("a size is absurd");
    }
    if (member.offset > file_bytes ||
        member.stored_bytes > file_bytes - member.offset) {
      return Damaged("a member lies beyond its end");
    }
    members.push_back(std::move(member));
    at += kMemberBytes + name_bytes + extra_bytes + comment_bytes;
  }
  return members;
}

absl::StatusOr<UniqueFd> OpenRegular(const std::filesystem::path& path,
                                     int64_t* bytes) {
  ASSIGN_OR_RETURN(UniqueFd fd,
                   OpenFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Damaged("it is no regular file");
  }
  *bytes = info.st_size;
  return fd;
}

absl::StatusOr<std::vector<ArchiveMember>> ReadArchive(int fd,
                                                       int64_t file_bytes) {
  ASSIGN_OR_RETURN(const End end, FindEnd(fd, file_bytes));
  if (end.bytes > uint64_t{kMaxDirectoryBytes}) {
    return Damaged("its directory is too large");
  }
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFileAt(fd, static_cast<int64_t>(end.offset),
                              static_cast<int64_t>(end.bytes)));
  return ReadDirectory(Bytes(text), end, file_bytes);
}

// The text of a small member that is stored as it is.
absl::StatusOr<std::string> ReadMember(int fd, const ArchiveMember& member) {
  if (member.compressed || member.bytes > kMaxMetadataBytes) {
    return Damaged("its metadata cannot be read");
  }
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFileAt(fd, member.offset, kLocalBytes));
  const Bytes header(text);
  if (!header.Has(0, kLocalBytes) || header.U32(0) != kLocalSignature) {
    return Damaged("its metadata is not where its directory says");
  }
  const int64_t at = member.offset + static_cast<int64_t>(kLocalBytes) +
                     header.U16(26) + header.U16(28);
  ASSIGN_OR_RETURN(std::string content, ReadFileAt(fd, at, member.bytes));
  if (static_cast<int64_t>(content.size()) != member.bytes) {
    return Damaged("its metadata is cut");
  }
  return content;
}

// The library that the worker loads: of the model with the usual name.
bool IsCompiledModel(const ArchiveMember& member) {
  return absl::StrContains(member.name, "data/aotinductor/model/") &&
         absl::EndsWith(member.name, ".so");
}

// "9.0" of "90" or "9.0": PyTorch writes ten times the number.
std::string DottedCapability(const std::string& text) {
  int number = 0;
  if (absl::StrContains(text, ".") || !absl::SimpleAtoi(text, &number) ||
      number < 10) {
    return text;
  }
  return absl::StrCat(number / 10, ".", number % 10);
}

absl::StatusOr<PackageFacts> FactsFromJson(const std::string& text) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, kMaxMetadataBytes));
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  PackageFacts facts;
  ASSIGN_OR_RETURN(facts.device,
                   fields.StringOrEmpty("AOTI_DEVICE_KEY", kMaxValueBytes));
  ASSIGN_OR_RETURN(
      const std::string capability,
      fields.StringOrEmpty("AOTI_COMPUTE_CAPABILITY", kMaxValueBytes));
  facts.compute_capability = DottedCapability(capability);
  ASSIGN_OR_RETURN(facts.torch, fields.StringOrEmpty("torch", kMaxValueBytes));
  return facts;
}

// "2.11" of "2.11.0+cu130".
std::string Release(absl::string_view version) {
  const size_t minor = version.find('.');
  if (minor == absl::string_view::npos) return std::string(version);
  return std::string(version.substr(0, version.find('.', minor + 1)));
}

}  // namespace

absl::StatusOr<std::vector<ArchiveMember>> ReadArchive(
    const std::filesystem::path& path) {
  int64_t bytes = 0;
  ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegular(path, &bytes));
  return ReadArchive(fd.get(), bytes);
}

absl::StatusOr<PackageFacts> ReadPackage(const std::filesystem::path& path) {
  int64_t bytes = 0;
  ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegular(path, &bytes));
  ASSIGN_OR_RETURN(const std::vector<ArchiveMember> members,
                   ReadArchive(fd.get(), bytes));
  PackageFacts facts;
  bool found = false;
  int64_t largest = 0;
  for (const ArchiveMember& member : members) {
    largest = std::max(largest, member.bytes);
    // Of several models the first counts, which is "model".
    if (found || !absl::EndsWith(member.name, "wrapper_metadata.json"))
      continue;
    ASSIGN_OR_RETURN(const std::string text, ReadMember(fd.get(), member));
    ASSIGN_OR_RETURN(facts, FactsFromJson(text));
    found = true;
  }
  if (!found) {
    return Damaged(
        "AOTInductor's metadata is missing; another program wrote it");
  }
  // PyTorch's loader does not look before it takes it.
  if (std::ranges::none_of(members, IsCompiledModel)) {
    return Damaged("there is no compiled model in it");
  }
  facts.largest_member_bytes = largest;
  return facts;
}

std::string WhyNotOnGpu(const PackageFacts& facts,
                        absl::string_view compute_capability,
                        absl::string_view torch) {
  if (!facts.device.empty() && facts.device != "cuda") {
    return absl::StrCat("it was compiled for ", Quoted(facts.device),
                        ", not for CUDA");
  }
  if (!facts.torch.empty() && Release(facts.torch) != Release(torch)) {
    return absl::StrCat("it was compiled with PyTorch ", Quoted(facts.torch),
                        ", and the worker runs ", torch,
                        ": a package fits one release");
  }
  if (!facts.compute_capability.empty() && !compute_capability.empty() &&
      facts.compute_capability != compute_capability) {
    return absl::StrCat("it was compiled for compute capability ",
                        Quoted(facts.compute_capability), ", and the GPU has ",
                        compute_capability);
  }
  return "";
}

}  // namespace traza
