// Mathematical functions: C's names, and `wp::` overloads for every float type.

#if defined(__CUDA__)
#define INKLE_MATH(name) __device__ float name##f(float) __asm__("__nv_" #name "f"); __device__ double name(double) __asm__("__nv_" #name);
#define INKLE_MATH2(name) __device__ float name##f(float, float) __asm__("__nv_" #name "f"); __device__ double name(double, double) __asm__("__nv_" #name);
#else
#define INKLE_MATH(name) float name##f(float) __asm__("inkle_" #name "f"); double name(double) __asm__("inkle_" #name);
#define INKLE_MATH2(name) float name##f(float, float) __asm__("inkle_" #name "f"); double name(double, double) __asm__("inkle_" #name);
#endif

INKLE_C {
INKLE_MATH(sin) INKLE_MATH(cos) INKLE_MATH(tan)
INKLE_MATH(asin) INKLE_MATH(acos) INKLE_MATH(atan)
INKLE_MATH(sinh) INKLE_MATH(cosh) INKLE_MATH(tanh)
INKLE_MATH(exp) INKLE_MATH(exp2)
INKLE_MATH(log) INKLE_MATH(log2) INKLE_MATH(log10)
INKLE_MATH(cbrt) INKLE_MATH(erf) INKLE_MATH(erfc) INKLE_MATH(erfinv) INKLE_MATH(erfcinv)
INKLE_MATH2(pow) INKLE_MATH2(atan2) INKLE_MATH2(fmod)
}
#undef INKLE_MATH
#undef INKLE_MATH2

#define INKLE_BUILTIN(name)                                                                                           \
    INKLE_FN float name##f(float x) { return __builtin_##name##f(x); }                                                \
    INKLE_FN double name(double x) { return __builtin_##name(x); }
INKLE_BUILTIN(sqrt)
INKLE_BUILTIN(fabs)
INKLE_BUILTIN(floor)
INKLE_BUILTIN(ceil)
INKLE_BUILTIN(trunc)
INKLE_BUILTIN(round)
INKLE_BUILTIN(rint)
#undef INKLE_BUILTIN

#define INKLE_BUILTIN2(name)                                                                                          \
    INKLE_FN float name##f(float x, float y) { return __builtin_##name##f(x, y); }                                    \
    INKLE_FN double name(double x, double y) { return __builtin_##name(x, y); }
INKLE_BUILTIN2(fmin)
INKLE_BUILTIN2(fmax)
INKLE_BUILTIN2(copysign)
#undef INKLE_BUILTIN2

INKLE_FN float nearbyintf(float x) { return __builtin_rintf(x); }
INKLE_FN double nearbyint(double x) { return __builtin_rint(x); }
INKLE_FN float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
INKLE_FN double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
INKLE_FN float rsqrt(float x) { return rsqrtf(x); }
INKLE_FN float hypotf(float x, float y) { return float(__builtin_sqrt(double(x) * x + double(y) * y)); }
INKLE_FN void sincosf(float x, float* s, float* c) { *s = sinf(x); *c = cosf(x); }
INKLE_FN void sincos(double x, double* s, double* c) { *s = sin(x); *c = cos(x); }

#if defined(__CUDA__) || defined(INKLE_HAS_FMA)
INKLE_FN float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
INKLE_FN double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
#else
// The product is exact in double precision; the sum is rounded there once more than a fused one.
INKLE_FN float fmaf(float x, float y, float z) { return float(double(x) * y + z); }
INKLE_FN double fma(double x, double y, double z) { return x * y + z; }
#endif

INKLE_FN bool isnan(double x) { return __builtin_isnan(x); }
INKLE_FN bool isnan(float x) { return __builtin_isnan(x); }
INKLE_FN bool isinf(double x) { return __builtin_isinf(x); }
INKLE_FN bool isinf(float x) { return __builtin_isinf(x); }
INKLE_FN bool isfinite(double x) { return __builtin_isfinite(x); }
INKLE_FN bool isfinite(float x) { return __builtin_isfinite(x); }

INKLE_FN float nextafterf(float x, float towards)
{
    if (x != x || towards != towards) return x + towards;
    if (x == towards) return towards;
    if (x == 0.0f) return __builtin_copysignf(wp::bit_cast<float>(1), towards);
    const int bits = wp::bit_cast<int>(x);
    return wp::bit_cast<float>((x < towards) == (x > 0.0f) ? bits + 1 : bits - 1);
}
INKLE_FN double nextafter(double x, double towards)
{
    if (x != x || towards != towards) return x + towards;
    if (x == towards) return towards;
    if (x == 0.0) return __builtin_copysign(wp::bit_cast<double>(1ll), towards);
    const long long bits = wp::bit_cast<long long>(x);
    return wp::bit_cast<double>((x < towards) == (x > 0.0) ? bits + 1 : bits - 1);
}

INKLE_FN int abs(int x) { return x < 0 ? -x : x; }
INKLE_FN long long llabs(long long x) { return x < 0 ? -x : x; }
INKLE_FN float abs(float x) { return __builtin_fabsf(x); }
INKLE_FN double abs(double x) { return __builtin_fabs(x); }

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_EPSILON __DBL_EPSILON__
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2u + 1u)
#define M_PI 3.14159265358979323846

// One name for all types of C's functions that have two.
#define INKLE_OVERLOAD(name)                                                                                          \
    INKLE_FN float name(float x) { return name##f(x); }                                                               \
    namespace wp {                                                                                                    \
    INKLE_FN float name(float x) { return ::name##f(x); }                                                             \
    INKLE_FN double name(double x) { return ::name(x); }                                                              \
    INKLE_FN half name(half x) { return half(::name##f(float(x))); }                                                  \
    }
INKLE_OVERLOAD(sin) INKLE_OVERLOAD(cos) INKLE_OVERLOAD(tan)
INKLE_OVERLOAD(asin) INKLE_OVERLOAD(acos) INKLE_OVERLOAD(atan)
INKLE_OVERLOAD(sinh) INKLE_OVERLOAD(cosh) INKLE_OVERLOAD(tanh)
INKLE_OVERLOAD(exp) INKLE_OVERLOAD(log) INKLE_OVERLOAD(log2) INKLE_OVERLOAD(log10)
INKLE_OVERLOAD(cbrt) INKLE_OVERLOAD(erf) INKLE_OVERLOAD(erfc)
INKLE_OVERLOAD(sqrt) INKLE_OVERLOAD(floor) INKLE_OVERLOAD(ceil) INKLE_OVERLOAD(trunc) INKLE_OVERLOAD(round)
INKLE_OVERLOAD(rint)
#undef INKLE_OVERLOAD

INKLE_FN float pow(float x, float y) { return powf(x, y); }
INKLE_FN float atan2(float y, float x) { return atan2f(y, x); }
INKLE_FN float fmod(float x, float y) { return fmodf(x, y); }

namespace wp {

INKLE_FN float pow(float x, float y) { return ::powf(x, y); }
INKLE_FN double pow(double x, double y) { return ::pow(x, y); }
INKLE_FN float atan2(float y, float x) { return ::atan2f(y, x); }
INKLE_FN double atan2(double y, double x) { return ::atan2(y, x); }
INKLE_FN float mod(float x, float y) { return ::fmodf(x, y); }
INKLE_FN double mod(double x, double y) { return ::fmod(x, y); }
INKLE_FN int mod(int x, int y) { return x % y; }

template <typename T> INKLE_FN T min(T a, T b) { return b < a ? b : a; }
template <typename T> INKLE_FN T max(T a, T b) { return a < b ? b : a; }
INKLE_FN float min(float a, float b) { return __builtin_fminf(a, b); }
INKLE_FN float max(float a, float b) { return __builtin_fmaxf(a, b); }
INKLE_FN double min(double a, double b) { return __builtin_fmin(a, b); }
INKLE_FN double max(double a, double b) { return __builtin_fmax(a, b); }
template <typename T> INKLE_FN T abs(T x) { return x < T(0) ? -x : x; }
template <typename T> INKLE_FN T sign(T x) { return x < T(0) ? T(-1) : T(1); }
template <typename T> INKLE_FN T clamp(T x, T low, T high) { return min(max(low, x), high); }
template <typename T> INKLE_FN T lerp(T a, T b, T t) { return a * (T(1) - t) + b * t; }

using ::isfinite;
using ::isinf;
using ::isnan;

}  // namespace wp

#if !defined(__CUDA__)
using wp::max;
using wp::min;
#endif
