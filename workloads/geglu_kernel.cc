// SPDX-License-Identifier: Apache-2.0
#include "workloads/geglu_kernel.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "workloads/nvrtc.h"

namespace traza {
namespace {

// gelu_tanh(g) = g / 2 * (1 + tanh(k * (g + 0.044715 g^3))), k = sqrt(2 / pi),
// is g / (1 + exp(-2 k (g + 0.044715 g^3))), since 1 + tanh(u) = 2 / (1 +
// exp(-2 u)). That form loses no digits where tanh is near -1, so the fast
// instructions (2 ulp) are exact to far below the rounding of 16 bits; fp32
// takes the accurate functions.
//
// Rounds as eager does: the activation to the dtype, then the product.
constexpr char kSource[] = R"cuda(
typedef unsigned int Word;
typedef long long Index;

#if TRAZA_DTYPE == 0
typedef float Element;
#else
typedef unsigned short Element;  // the bits
#endif

constexpr int kThreads = TRAZA_THREADS;
constexpr int kVectors = TRAZA_VECTORS;  // of each input, a thread and tile
constexpr int kPerVector = 16 / sizeof(Element);
constexpr Index kTile = kThreads * kVectors;

struct __align__(16) Vector {
  Word word[4];
};

#if TRAZA_LOADS == 0
#define TRAZA_LOAD "ld.global"
#elif TRAZA_LOADS == 1
#define TRAZA_LOAD "ld.global.nc.L1::no_allocate"
#else
#define TRAZA_LOAD "ld.global.nc.L1::no_allocate.L2::256B"
#endif
#if TRAZA_STORES == 0
#define TRAZA_STORE "st.global"
#else
#define TRAZA_STORE "st.global.cs"
#endif

__device__ __forceinline__ Vector Load(const Vector* from) {
  Vector to;
  asm volatile(
      TRAZA_LOAD ".v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(to.word[0]), "=r"(to.word[1]), "=r"(to.word[2]), "=r"(to.word[3])
      : "l"(from));
  return to;
}

__device__ __forceinline__ void Store(Vector* to, const Vector& from) {
  asm volatile(TRAZA_STORE ".v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(to), "r"(from.word[0]), "r"(from.word[1]),
                 "r"(from.word[2]), "r"(from.word[3])
               : "memory");
}

#if TRAZA_DTYPE == 0

__device__ __forceinline__ float Gelu(float gate) {
  const float exponent =
      gate * (-1.5957691216057308f - 0.0713548162726009f * gate * gate);
  return gate / (1.0f + expf(exponent));
}

__device__ __forceinline__ Word Apply(Word gate, Word up) {
  return __float_as_uint(Gelu(__uint_as_float(gate)) * __uint_as_float(up));
}

__device__ __forceinline__ float One(float gate, float up) {
  return Gelu(gate) * up;
}

#else

struct Pair {
  float low, high;
};

#if TRAZA_DTYPE == 1

__device__ __forceinline__ Pair Unpack(Word pair) {
  return {__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u)};
}

__device__ __forceinline__ Word Pack(float low, float high) {
  Word pair;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#else
  const auto round = [](float value) -> Word {
    const Word bits = __float_as_uint(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  };
  pair = round(low) | round(high) << 16;
#endif
  return pair;
}

#else

__device__ __forceinline__ Pair Unpack(Word pair) {
  Pair values;
  asm("{\n\t"
      ".reg .b16 low, high;\n\t"
      "mov.b32 {low, high}, %2;\n\t"
      "cvt.f32.f16 %0, low;\n\t"
      "cvt.f32.f16 %1, high;\n\t"
      "}"
      : "=f"(values.low), "=f"(values.high)
      : "r"(pair));
  return values;
}

__device__ __forceinline__ Word Pack(float low, float high) {
  Word pair;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#else
  asm("{\n\t"
      ".reg .b16 low, high;\n\t"
      "cvt.rn.f16.f32 low, %1;\n\t"
      "cvt.rn.f16.f32 high, %2;\n\t"
      "mov.b32 %0, {low, high};\n\t"
      "}"
      : "=r"(pair)
      : "f"(low), "f"(high));
#endif
  return pair;
}

#endif

__device__ __forceinline__ float Gelu(float gate) {
  // The constants of above times log2(e): the instruction is 2^x.
  const float exponent =
      gate * (-2.3022082f - 0.10294324f * gate * gate);
  float power, share;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(share) : "f"(1.0f + power));
  return gate * share;
}

__device__ __forceinline__ Word Apply(Word gate, Word up) {
  const Pair gates = Unpack(gate);
  const Pair activated = Unpack(Pack(Gelu(gates.low), Gelu(gates.high)));
  const Pair ups = Unpack(up);
  return Pack(activated.low * ups.low, activated.high * ups.high);
}

__device__ __forceinline__ Element One(Element gate, Element up) {
  return static_cast<Element>(Apply(gate, up));
}

#endif

__device__ __forceinline__ Vector Apply(const Vector& gate, const Vector& up) {
  Vector result;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    result.word[i] = Apply(gate.word[i], up.word[i]);
  }
  return result;
}

// All three pointers are multiples of 16 bytes.
extern "C" __global__ void __launch_bounds__(kThreads)
    traza_geglu_tanh(const Element* gate, const Element* up, Element* out,
                     Index count) {
  const Index vectors = count / kPerVector;
  const Vector* const gates = reinterpret_cast<const Vector*>(gate);
  const Vector* const ups = reinterpret_cast<const Vector*>(up);
  Vector* const outs = reinterpret_cast<Vector*>(out);
  for (Index tile = blockIdx.x * kTile; tile < vectors;
       tile += gridDim.x * kTile) {
    const Index first = tile + threadIdx.x;
    if (tile + kTile <= vectors) {
      // All loads are under way before the first is waited for.
      Vector g[kVectors], u[kVectors];
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        g[i] = Load(gates + first + i * kThreads);
        u[i] = Load(ups + first + i * kThreads);
      }
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        Store(outs + first + i * kThreads, Apply(g[i], u[i]));
      }
    } else {
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        const Index at = first + i * kThreads;
        if (at < vectors) {
          Store(outs + at, Apply(Load(gates + at), Load(ups + at)));
        }
      }
    }
  }
  // The elements that fill no vector: fewer than the threads of a block.
  const Index rest =
      vectors * kPerVector + static_cast<Index>(blockIdx.x) * kThreads +
      threadIdx.x;
  if (rest < count) out[rest] = One(gate[rest], up[rest]);
}

// Any pointers.
extern "C" __global__ void __launch_bounds__(kThreads)
    traza_geglu_tanh_scalar(const Element* gate, const Element* up,
                            Element* out, Index count) {
  const Index stride = static_cast<Index>(gridDim.x) * kThreads;
  for (Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
       i < count; i += stride) {
    out[i] = One(gate[i], up[i]);
  }
}
)cuda";

constexpr int64_t kVectorBytes = 16;

bool IsAligned(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % kVectorBytes == 0;
}

// Tiles of that many elements, as blocks of a grid.
uint32_t Blocks(int64_t count, int64_t tile, uint32_t max_blocks) {
  constexpr int64_t kMostBlocks = std::numeric_limits<int32_t>::max();
  const int64_t blocks =
      std::clamp<int64_t>((count + tile - 1) / tile, 1, kMostBlocks);
  if (max_blocks == 0) return static_cast<uint32_t>(blocks);
  return static_cast<uint32_t>(std::min<int64_t>(blocks, max_blocks));
}

}  // namespace

absl::StatusOr<std::string> CompileGeglu(GegluDtype dtype,
                                         const std::string& architecture,
                                         const GegluTuning& tuning) {
  return CompileCuda(
      kSource, "geglu_tanh.cu",
      {absl::StrCat("--gpu-architecture=", architecture), "--std=c++17",
       absl::StrCat("--define-macro=TRAZA_DTYPE=", static_cast<int>(dtype)),
       absl::StrCat("--define-macro=TRAZA_THREADS=", tuning.threads),
       absl::StrCat("--define-macro=TRAZA_VECTORS=", tuning.vectors),
       absl::StrCat("--define-macro=TRAZA_LOADS=", tuning.loads),
       absl::StrCat("--define-macro=TRAZA_STORES=", tuning.stores)});
}

absl::StatusOr<GegluKernel> GegluKernel::Create(GegluDtype dtype,
                                                const GegluTuning& tuning) {
  ASSIGN_OR_RETURN(const std::string architecture, CurrentArchitecture());
  ASSIGN_OR_RETURN(const std::string cubin,
                   CompileGeglu(dtype, architecture, tuning));
  ASSIGN_OR_RETURN(CudaKernel vector, CudaKernel::Load(cubin, kGegluName));
  ASSIGN_OR_RETURN(CudaKernel scalar,
                   CudaKernel::Load(cubin, kGegluScalarName));
  return GegluKernel(dtype, tuning, vector, scalar);
}

absl::Status GegluKernel::Launch(const void* gate, const void* up, void* result,
                                 int64_t count, void* stream) const {
  if (count == 0) return absl::OkStatus();
  const bool vectors = IsAligned(gate) && IsAligned(up) && IsAligned(result);
  const int64_t a_thread =
      vectors ? tuning_.vectors * kVectorBytes / GegluElementBytes(dtype_) : 1;
  auto elements = static_cast<long long>(count);  // NOLINT(runtime/int): CUDA's
  void* arguments[] = {static_cast<void*>(&gate), static_cast<void*>(&up),
                       static_cast<void*>(&result), &elements};
  return (vectors ? vector_ : scalar_)
      .Launch(Blocks(count, a_thread * tuning_.threads, tuning_.max_blocks),
              static_cast<uint32_t>(tuning_.threads), stream, arguments);
}

}  // namespace traza
