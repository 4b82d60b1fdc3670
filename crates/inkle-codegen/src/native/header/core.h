// Scalars, arrays and printing for C++ functions of kernels. A GPU's code is CUDA C++, a CPU's plain C++.

#if defined(__CUDA__)
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define INKLE_DEVICE __device__
#else
#define INKLE_DEVICE
#endif
#define INKLE_FN INKLE_DEVICE inline
#define __restrict__ __restrict
#define CUDA_CALLABLE INKLE_FN
#define INKLE_C extern "C"
#define NULL nullptr
#define assert(condition) ((void)0)

typedef decltype(sizeof(0)) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
// As `long long`, the type of the built-in functions of both kinds of devices.
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef uint64_t uintptr_t;
typedef int64_t intptr_t;

namespace wp {

using int8 = int8_t;
using uint8 = uint8_t;
using int16 = int16_t;
using uint16 = uint16_t;
using int32 = int32_t;
using uint32 = uint32_t;
using int64 = int64_t;
using uint64 = uint64_t;
using float16 = _Float16;
using half = _Float16;
using bfloat16 = __bf16;
using float32 = float;
using float64 = double;

constexpr int ARRAY_MAX_DIMS = 4;

// The extents of an array; those of dimensions that it does not have are zero.
struct shape_t {
    int dims[ARRAY_MAX_DIMS];

    INKLE_FN int operator[](int i) const { return dims[i]; }
    INKLE_FN int& operator[](int i) { return dims[i]; }
};

// An array as kernels see it; strides are in bytes.
template <typename T> struct array_t {
    T* data;
    T* grad;
    shape_t shape;
    int64_t strides[ARRAY_MAX_DIMS];

    INKLE_FN bool empty() const { return data == nullptr; }
    INKLE_FN operator T*() const { return data; }

    // One index of an array of one dimension follows its stride; of more dimensions it counts elements in memory.
    template <typename I> INKLE_FN T& operator[](I i) const
    {
        const bool is_line = shape.dims[1] == 0 && strides[1] == 0;
        const int64_t bytes = is_line ? int64_t(i) * strides[0] : int64_t(i) * int64_t(sizeof(T));
        return *(T*)((char*)data + bytes);
    }

    template <typename I> INKLE_FN T& operator()(I i) const { return *(T*)((char*)data + i * strides[0]); }
    template <typename I, typename J> INKLE_FN T& operator()(I i, J j) const
    {
        return *(T*)((char*)data + i * strides[0] + j * strides[1]);
    }
    template <typename I, typename J, typename K> INKLE_FN T& operator()(I i, J j, K k) const
    {
        return *(T*)((char*)data + i * strides[0] + j * strides[1] + k * strides[2]);
    }
    template <typename I, typename J, typename K, typename L> INKLE_FN T& operator()(I i, J j, K k, L l) const
    {
        return *(T*)((char*)data + i * strides[0] + j * strides[1] + k * strides[2] + l * strides[3]);
    }
};

// An array seen through lists of indices; a dimension without a list is seen as it is.
template <typename T> struct indexedarray_t {
    array_t<T> arr;
    int* indices[ARRAY_MAX_DIMS];
    shape_t shape;

    INKLE_FN int64_t place(int dim, int64_t i) const { return indices[dim] ? indices[dim][i] : i; }
    template <typename... I> INKLE_FN T& operator()(I... i) const
    {
        int dim = 0;
        int64_t bytes = 0;
        ((bytes += place(dim, i) * arr.strides[dim], ++dim), ...);
        return *(T*)((char*)arr.data + bytes);
    }
    template <typename I> INKLE_FN T& operator[](I i) const { return (*this)(i); }
};

template <typename T, typename... I> INKLE_FN T* address(const array_t<T>& a, I... i) { return &a(i...); }
template <typename T, typename... I> INKLE_FN T* address(const indexedarray_t<T>& a, I... i) { return &a(i...); }
template <typename T, typename... I> INKLE_FN T& index(const array_t<T>& a, I... i) { return a(i...); }
template <typename T, typename... I> INKLE_FN T& index(const indexedarray_t<T>& a, I... i) { return a(i...); }
template <typename T, typename... I> INKLE_FN T* index_grad(const array_t<T>& a, I... i)
{
    return (T*)((char*)a.grad + ((char*)&a(i...) - (char*)a.data));
}
template <typename T> INKLE_FN T load(T* at) { return *at; }

template <typename T, typename S> INKLE_FN T bit_cast(S value)
{
    static_assert(sizeof(T) == sizeof(S), "both types have one size");
    T result;
    __builtin_memcpy(&result, &value, sizeof(T));
    return result;
}

// Atomic updates: relaxed, seen by the whole device. Each gives back what was there before.

template <typename T> INKLE_FN T atomic_load(const T* at)
{
    T value;
    __scoped_atomic_load(const_cast<T*>(at), &value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    return value;
}

template <typename T> INKLE_FN T atomic_cas(T* at, T compare, T value)
{
    __scoped_atomic_compare_exchange(
        at, &compare, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    return compare;
}

template <typename T, typename F> INKLE_FN T atomic_update(T* at, F next)
{
    T old = atomic_load(at);
    for (;;) {
        T value = next(old);
        if (__scoped_atomic_compare_exchange(
                at, &old, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE))
            return old;
    }
}

template <typename T> INKLE_FN T atomic_exch(T* at, T value)
{
    T old;
    __scoped_atomic_exchange(at, &value, &old, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    return old;
}

template <typename T> INKLE_FN T atomic_add(T* at, T value)
{
    return __scoped_atomic_fetch_add(at, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
template <typename T> INKLE_FN T atomic_sub(T* at, T value)
{
    return __scoped_atomic_fetch_sub(at, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
template <typename T> INKLE_FN T atomic_min(T* at, T value)
{
    return atomic_update(at, [=](T old) { return value < old ? value : old; });
}
template <typename T> INKLE_FN T atomic_max(T* at, T value)
{
    return atomic_update(at, [=](T old) { return old < value ? value : old; });
}
template <typename T> INKLE_FN T atomic_and(T* at, T value)
{
    return __scoped_atomic_fetch_and(at, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
template <typename T> INKLE_FN T atomic_or(T* at, T value)
{
    return __scoped_atomic_fetch_or(at, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
template <typename T> INKLE_FN T atomic_xor(T* at, T value)
{
    return __scoped_atomic_fetch_xor(at, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

#define INKLE_ARRAY_ATOMIC(name)                                                                                      \
    template <typename T, typename I> INKLE_FN T name(const array_t<T>& a, I i, T value)                              \
    {                                                                                                                 \
        return name(&a(i), value);                                                                                    \
    }                                                                                                                 \
    template <typename T, typename I, typename J> INKLE_FN T name(const array_t<T>& a, I i, J j, T value)             \
    {                                                                                                                 \
        return name(&a(i, j), value);                                                                                 \
    }                                                                                                                 \
    template <typename T, typename I, typename J, typename K>                                                         \
    INKLE_FN T name(const array_t<T>& a, I i, J j, K k, T value)                                                      \
    {                                                                                                                 \
        return name(&a(i, j, k), value);                                                                              \
    }
INKLE_ARRAY_ATOMIC(atomic_add)
INKLE_ARRAY_ATOMIC(atomic_sub)
INKLE_ARRAY_ATOMIC(atomic_min)
INKLE_ARRAY_ATOMIC(atomic_max)
INKLE_ARRAY_ATOMIC(atomic_and)
INKLE_ARRAY_ATOMIC(atomic_or)
INKLE_ARRAY_ATOMIC(atomic_xor)
INKLE_ARRAY_ATOMIC(atomic_exch)
#undef INKLE_ARRAY_ATOMIC

}  // namespace wp

// printf: C passes its arguments in ways that differ between devices, so they are gathered here.

#if defined(__CUDA__)
INKLE_C __device__ int vprintf(const char*, void*);

namespace inkle {
// Arguments one after another, each at its own alignment.
struct print_buffer {
    alignas(8) char bytes[32 * 8];
    unsigned used = 0;

    template <typename T> INKLE_FN void put(T value)
    {
        used = (used + sizeof(T) - 1) & ~unsigned(sizeof(T) - 1);
        if (used + sizeof(T) <= sizeof(bytes)) __builtin_memcpy(bytes + used, &value, sizeof(T));
        used += sizeof(T);
    }
    INKLE_FN void add(double value) { put(value); }
    INKLE_FN void add(float value) { put(double(value)); }
    INKLE_FN void add(long long value) { put(value); }
    INKLE_FN void add(unsigned long long value) { put(value); }
    INKLE_FN void add(long value) { put(value); }
    INKLE_FN void add(unsigned long value) { put(value); }
    INKLE_FN void add(int value) { put(value); }
    INKLE_FN void add(unsigned value) { put(value); }
    template <typename T> INKLE_FN void add(T* value) { put((unsigned long long)value); }
};
}  // namespace inkle

template <typename... T> INKLE_FN int printf(const char* format, T... values)
{
    inkle::print_buffer buffer;
    (buffer.add(values), ...);
    return vprintf(format, buffer.bytes);
}
#else
INKLE_C void inkle_print(const char*, const uint64_t*, uint32_t, const uint8_t*);

namespace inkle {
template <typename T> INKLE_FN uint64_t print_bits(T value) { return uint64_t(value); }
INKLE_FN uint64_t print_bits(double value) { return wp::bit_cast<uint64_t>(value); }
INKLE_FN uint64_t print_bits(float value) { return wp::bit_cast<uint64_t>(double(value)); }
template <typename T> constexpr uint8_t print_kind(T) { return T(-1) < T(0) ? 0 : 1; }
constexpr uint8_t print_kind(double) { return 2; }
constexpr uint8_t print_kind(float) { return 2; }
template <typename T> constexpr uint8_t print_kind(T*) { return 1; }
}  // namespace inkle

template <typename... T> INKLE_FN int printf(const char* format, T... values)
{
    const uint64_t bits[] = { inkle::print_bits(values)..., 0 };
    const uint8_t kinds[] = { inkle::print_kind(values)..., 0 };
    inkle_print(format, bits, sizeof...(values), kinds);
    return 0;
}
#endif
