// SPDX-License-Identifier: Apache-2.0
#include "workloads/nvrtc.h"

#include <dlfcn.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "base/utf8.h"

namespace traza {
namespace {

constexpr char kLibrary[] = "libnvrtc.so.13";
constexpr size_t kMaxLogBytes = 2000;

// The few functions that are needed, by the names and numbers of the stable ABI
// (nvrtc.h).
using Result = int;  // 0 is success
using Program = void*;

struct Api {
  Result (*version)(int* major, int* minor) = nullptr;
  const char* (*error_text)(Result result) = nullptr;
  Result (*create)(Program* program, const char* source, const char* name,
                   int headers, const char* const* texts,
                   const char* const* names) = nullptr;
  Result (*destroy)(Program* program) = nullptr;
  Result (*compile)(Program program, int count,
                    const char* const* options) = nullptr;
  Result (*log_size)(Program program, size_t* bytes) = nullptr;
  Result (*log)(Program program, char* text) = nullptr;
  Result (*cubin_size)(Program program, size_t* bytes) = nullptr;
  Result (*cubin)(Program program, char* code) = nullptr;
};

template <typename Function>
bool Load(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

std::string LoadFault() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): each thread has its own in glibc.
  const char* const text = dlerror();
  return text == nullptr ? "unknown error" : text;
}

// The compiler opens a second library by its name alone, which only finds what
// is open already or lies where the system looks. Where this fails, compiling
// does, and says so.
void OpenBuiltins(const Api& api) {
  Dl_info place = {};
  int major = 0;
  int minor = 0;
  if (dladdr(reinterpret_cast<const void*>(api.version), &place) == 0 ||
      place.dli_fname == nullptr || api.version(&major, &minor) != 0) {
    return;
  }
  const std::string path = place.dli_fname;
  dlopen(absl::StrCat(path.substr(0, path.rfind('/') + 1),
                      "libnvrtc-builtins.so.", major, ".", minor)
             .c_str(),
         RTLD_NOW | RTLD_GLOBAL);
}

absl::StatusOr<Api> OpenApi() {
  // Never closed: PyTorch uses the same one.
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("The run-time compiler ", kLibrary, " (package ",
                     "nvidia-cuda-nvrtc) does not load: ", LoadFault(), "."));
  }
  Api api;
  const bool whole = Load(library, "nvrtcVersion", &api.version) &&
                     Load(library, "nvrtcGetErrorString", &api.error_text) &&
                     Load(library, "nvrtcCreateProgram", &api.create) &&
                     Load(library, "nvrtcDestroyProgram", &api.destroy) &&
                     Load(library, "nvrtcCompileProgram", &api.compile) &&
                     Load(library, "nvrtcGetProgramLogSize", &api.log_size) &&
                     Load(library, "nvrtcGetProgramLog", &api.log) &&
                     Load(library, "nvrtcGetCUBINSize", &api.cubin_size) &&
                     Load(library, "nvrtcGetCUBIN", &api.cubin);
  if (!whole) {
    return absl::NotFoundError(
        absl::StrCat("The run-time compiler ", kLibrary, " is too old."));
  }
  OpenBuiltins(api);
  return api;
}

const absl::StatusOr<Api>& TheApi() {
  static const auto* const api = new absl::StatusOr<Api>(OpenApi());
  return *api;
}

// A program, gone with this object.
class OwnedProgram {
 public:
  OwnedProgram(const Api& api, Program program)
      : api_(api), program_(program) {}
  ~OwnedProgram() { api_.destroy(&program_); }
  OwnedProgram(const OwnedProgram&) = delete;
  OwnedProgram& operator=(const OwnedProgram&) = delete;

  Program get() const { return program_; }

  std::string Log() const {
    size_t bytes = 0;
    if (api_.log_size(program_, &bytes) != 0 || bytes == 0) return "";
    std::string text(bytes, '\0');
    if (api_.log(program_, text.data()) != 0) return "";
    text.resize(bytes - 1);  // it counts its end
    return std::string(absl::StripAsciiWhitespace(text));
  }

 private:
  const Api& api_;
  Program program_;
};

absl::Status Refused(const Api& api, absl::string_view name, Result result,
                     const std::string& log) {
  return absl::FailedPreconditionError(absl::StrCat(
      name, " does not compile (", api.error_text(result),
      log.empty() ? ")" : "): ", CutUtf8(ToValidUtf8(log), kMaxLogBytes)));
}

}  // namespace

absl::Status NvrtcMissing() { return TheApi().status(); }

absl::StatusOr<std::string> CompileCuda(
    const std::string& source, const std::string& name,
    const std::vector<std::string>& options) {
  RETURN_IF_ERROR(TheApi().status());
  const Api& api = *TheApi();
  Program created = nullptr;
  Result result =
      api.create(&created, source.c_str(), name.c_str(), 0, nullptr, nullptr);
  if (result != 0) return Refused(api, name, result, "");
  const OwnedProgram program(api, created);
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  result =
      api.compile(program.get(), static_cast<int>(words.size()), words.data());
  if (result != 0) return Refused(api, name, result, program.Log());
  size_t bytes = 0;
  result = api.cubin_size(program.get(), &bytes);
  if (result != 0) return Refused(api, name, result, "");
  std::string code(bytes, '\0');
  result = api.cubin(program.get(), code.data());
  if (result != 0) return Refused(api, name, result, "");
  return code;
}

}  // namespace traza
