// What CUDA code takes for granted, without a CUDA toolkit: built-in variables, synchronisation, exchange within a
// warp, atomics, bits and conversions. On a CPU a block is one thread.

#if defined(__CUDA__)

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
struct float2 { float x, y; };
struct float3 { float x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };
struct int2 { int x, y; };
struct int3 { int x, y, z; };
struct alignas(16) int4 { int x, y, z, w; };
INKLE_FN float2 make_float2(float x, float y) { return { x, y }; }
INKLE_FN float3 make_float3(float x, float y, float z) { return { x, y, z }; }
INKLE_FN float4 make_float4(float x, float y, float z, float w) { return { x, y, z, w }; }
INKLE_FN int2 make_int2(int x, int y) { return { x, y }; }
INKLE_FN int4 make_int4(int x, int y, int z, int w) { return { x, y, z, w }; }

namespace inkle {
INKLE_FN uint3 thread_index()
{
    return { unsigned(__nvvm_read_ptx_sreg_tid_x()), unsigned(__nvvm_read_ptx_sreg_tid_y()), unsigned(__nvvm_read_ptx_sreg_tid_z()) };
}
INKLE_FN uint3 block_index()
{
    return { unsigned(__nvvm_read_ptx_sreg_ctaid_x()), unsigned(__nvvm_read_ptx_sreg_ctaid_y()), unsigned(__nvvm_read_ptx_sreg_ctaid_z()) };
}
INKLE_FN dim3 block_size()
{
    return { unsigned(__nvvm_read_ptx_sreg_ntid_x()), unsigned(__nvvm_read_ptx_sreg_ntid_y()), unsigned(__nvvm_read_ptx_sreg_ntid_z()) };
}
INKLE_FN dim3 grid_size()
{
    return { unsigned(__nvvm_read_ptx_sreg_nctaid_x()), unsigned(__nvvm_read_ptx_sreg_nctaid_y()), unsigned(__nvvm_read_ptx_sreg_nctaid_z()) };
}
}  // namespace inkle
#define threadIdx (::inkle::thread_index())
#define blockIdx (::inkle::block_index())
#define blockDim (::inkle::block_size())
#define gridDim (::inkle::grid_size())
#define warpSize 32
#define WP_TILE_BLOCK_DIM (int(blockDim.x))
#define WP_TILE_THREAD_IDX (int(threadIdx.x))
#define WP_TILE_SYNC __syncthreads
#define WP_TILE_SHARED __shared__

INKLE_FN void __threadfence() { __nvvm_membar_gl(); }
INKLE_FN void __threadfence_block() { __nvvm_membar_cta(); }
INKLE_FN void __threadfence_system() { __nvvm_membar_sys(); }
INKLE_FN void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
INKLE_FN unsigned __activemask()
{
    unsigned mask;
    __asm__ volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
INKLE_FN unsigned __ballot_sync(unsigned mask, int value) { return __nvvm_vote_ballot_sync(mask, value != 0); }
INKLE_FN int __any_sync(unsigned mask, int value) { return __nvvm_vote_any_sync(mask, value != 0); }
INKLE_FN int __all_sync(unsigned mask, int value) { return __nvvm_vote_all_sync(mask, value != 0); }

namespace inkle {
// Exchanges values of 4 or 8 bytes between the threads of a warp, 4 bytes at a time.
template <typename T, typename F> INKLE_FN T exchange(T value, F move)
{
    static_assert(sizeof(T) % 4 == 0, "4 bytes or a multiple of them");
    int words[sizeof(T) / 4];
    __builtin_memcpy(words, &value, sizeof(T));
    for (unsigned i = 0; i < sizeof(T) / 4; ++i) words[i] = move(words[i]);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
}
}  // namespace inkle
template <typename T> INKLE_FN T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
    return inkle::exchange(value, [=](int v) { return __nvvm_shfl_sync_idx_i32(mask, v, lane, ((32 - width) << 8) | 31); });
}
template <typename T> INKLE_FN T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32)
{
    return inkle::exchange(value, [=](int v) { return __nvvm_shfl_sync_up_i32(mask, v, by, (32 - width) << 8); });
}
template <typename T> INKLE_FN T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32)
{
    return inkle::exchange(value, [=](int v) { return __nvvm_shfl_sync_down_i32(mask, v, by, ((32 - width) << 8) | 31); });
}
template <typename T> INKLE_FN T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    return inkle::exchange(value, [=](int v) { return __nvvm_shfl_sync_bfly_i32(mask, v, bits, ((32 - width) << 8) | 31); });
}

template <typename T> INKLE_FN T __ldg(const T* at) { return *at; }
INKLE_FN float __fdividef(float x, float y) { return x / y; }
INKLE_FN float __frsqrt_rn(float x) { return rsqrtf(x); }
INKLE_FN float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
INKLE_FN float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
INKLE_FN float __sinf(float x) { return sinf(x); }
INKLE_FN float __cosf(float x) { return cosf(x); }
INKLE_FN float __expf(float x) { return expf(x); }
INKLE_FN float __logf(float x) { return logf(x); }
INKLE_FN float __powf(float x, float y) { return powf(x, y); }
INKLE_FN float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
INKLE_FN float __fadd_rn(float x, float y) { _Pragma("clang fp contract(off)") return x + y; }
INKLE_FN float __fmul_rn(float x, float y) { _Pragma("clang fp contract(off)") return x * y; }

using wp::max;
using wp::min;

#else

#define WP_TILE_BLOCK_DIM 1
#define WP_TILE_THREAD_IDX 0
#define WP_TILE_SYNC() ((void)0)
#define WP_TILE_SHARED static

#endif

// CUDA's atomics; they serve CPUs as well.
template <typename T> INKLE_FN T atomicAdd(T* at, decltype(T() + T()) value) { return wp::atomic_add(at, T(value)); }
template <typename T> INKLE_FN T atomicSub(T* at, decltype(T() + T()) value) { return wp::atomic_sub(at, T(value)); }
template <typename T> INKLE_FN T atomicMin(T* at, decltype(T() + T()) value) { return wp::atomic_min(at, T(value)); }
template <typename T> INKLE_FN T atomicMax(T* at, decltype(T() + T()) value) { return wp::atomic_max(at, T(value)); }
template <typename T> INKLE_FN T atomicAnd(T* at, decltype(T() + T()) value) { return wp::atomic_and(at, T(value)); }
template <typename T> INKLE_FN T atomicOr(T* at, decltype(T() + T()) value) { return wp::atomic_or(at, T(value)); }
template <typename T> INKLE_FN T atomicXor(T* at, decltype(T() + T()) value) { return wp::atomic_xor(at, T(value)); }
template <typename T> INKLE_FN T atomicExch(T* at, decltype(T() + T()) value) { return wp::atomic_exch(at, T(value)); }
template <typename T> INKLE_FN T atomicCAS(T* at, decltype(T() + T()) compare, decltype(T() + T()) value)
{
    return wp::atomic_cas(at, T(compare), T(value));
}
#define INKLE_ATOMIC(name)                                                                                            \
    template <typename T> INKLE_FN T name(const wp::array_t<T>& a, decltype(T() + T()) value)                         \
    {                                                                                                                 \
        return name(a.data, value);                                                                                   \
    }
INKLE_ATOMIC(atomicAdd)
INKLE_ATOMIC(atomicSub)
INKLE_ATOMIC(atomicMin)
INKLE_ATOMIC(atomicMax)
INKLE_ATOMIC(atomicExch)
#undef INKLE_ATOMIC

INKLE_FN int __popc(unsigned x) { return __builtin_popcount(x); }
INKLE_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
INKLE_FN int __clz(int x) { return x == 0 ? 32 : __builtin_clz(x); }
INKLE_FN int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
INKLE_FN int __ffs(int x) { return x == 0 ? 0 : __builtin_ctz(x) + 1; }
INKLE_FN int __ffsll(long long x) { return x == 0 ? 0 : __builtin_ctzll(x) + 1; }
INKLE_FN unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
INKLE_FN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
INKLE_FN int __float_as_int(float x) { return wp::bit_cast<int>(x); }
INKLE_FN unsigned __float_as_uint(float x) { return wp::bit_cast<unsigned>(x); }
INKLE_FN float __int_as_float(int x) { return wp::bit_cast<float>(x); }
INKLE_FN float __uint_as_float(unsigned x) { return wp::bit_cast<float>(x); }
INKLE_FN long long __double_as_longlong(double x) { return wp::bit_cast<long long>(x); }
INKLE_FN double __longlong_as_double(long long x) { return wp::bit_cast<double>(x); }
INKLE_FN int __float2int_rn(float x) { return int(__builtin_rintf(x)); }
INKLE_FN int __float2int_rd(float x) { return int(__builtin_floorf(x)); }

using namespace wp;
