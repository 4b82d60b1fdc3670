// Vectors, matrices, quaternions and transforms, laid out as kernels have them: matrices by rows, quaternions as
// x, y, z, w, transforms as position and rotation.

namespace wp {

template <unsigned N, typename T> struct vec_t {
    T c[N];

    INKLE_FN vec_t() : c {} { }
    INKLE_FN explicit vec_t(T s) { for (unsigned i = 0; i < N; ++i) c[i] = s; }
    INKLE_FN vec_t(T x, T y) : c { x, y } { static_assert(N == 2, "a vector of two components"); }
    INKLE_FN vec_t(T x, T y, T z) : c { x, y, z } { static_assert(N == 3, "a vector of three components"); }
    INKLE_FN vec_t(T x, T y, T z, T w) : c { x, y, z, w } { static_assert(N == 4, "a vector of four components"); }
    template <typename U> INKLE_FN explicit vec_t(const vec_t<N, U>& v)
    {
        for (unsigned i = 0; i < N; ++i) c[i] = T(v.c[i]);
    }
    // Halves of a spatial vector.
    template <unsigned M> INKLE_FN vec_t(const vec_t<M, T>& a, const vec_t<M, T>& b)
    {
        static_assert(N == 2 * M, "two halves");
        for (unsigned i = 0; i < M; ++i) { c[i] = a.c[i]; c[M + i] = b.c[i]; }
    }

    INKLE_FN T operator[](int i) const { return c[i]; }
    INKLE_FN T& operator[](int i) { return c[i]; }
    INKLE_FN T operator()(int i) const { return c[i]; }
    INKLE_FN T& operator()(int i) { return c[i]; }
};

#define INKLE_EACH(i, n) for (unsigned i = 0; i < n; ++i)
#define INKLE_VEC template <unsigned N, typename T> INKLE_FN

INKLE_VEC vec_t<N, T> operator+(vec_t<N, T> a, const vec_t<N, T>& b) { INKLE_EACH(i, N) a.c[i] += b.c[i]; return a; }
INKLE_VEC vec_t<N, T> operator-(vec_t<N, T> a, const vec_t<N, T>& b) { INKLE_EACH(i, N) a.c[i] -= b.c[i]; return a; }
INKLE_VEC vec_t<N, T> operator-(vec_t<N, T> a) { INKLE_EACH(i, N) a.c[i] = -a.c[i]; return a; }
INKLE_VEC vec_t<N, T> operator*(vec_t<N, T> a, T s) { INKLE_EACH(i, N) a.c[i] *= s; return a; }
INKLE_VEC vec_t<N, T> operator*(T s, vec_t<N, T> a) { INKLE_EACH(i, N) a.c[i] *= s; return a; }
INKLE_VEC vec_t<N, T> operator/(vec_t<N, T> a, T s) { INKLE_EACH(i, N) a.c[i] /= s; return a; }
INKLE_VEC vec_t<N, T>& operator+=(vec_t<N, T>& a, const vec_t<N, T>& b) { return a = a + b; }
INKLE_VEC vec_t<N, T>& operator-=(vec_t<N, T>& a, const vec_t<N, T>& b) { return a = a - b; }
INKLE_VEC vec_t<N, T>& operator*=(vec_t<N, T>& a, T s) { return a = a * s; }
INKLE_VEC vec_t<N, T>& operator/=(vec_t<N, T>& a, T s) { return a = a / s; }
INKLE_VEC bool operator==(const vec_t<N, T>& a, const vec_t<N, T>& b)
{
    bool same = true;
    INKLE_EACH(i, N) same &= a.c[i] == b.c[i];
    return same;
}
INKLE_VEC bool operator!=(const vec_t<N, T>& a, const vec_t<N, T>& b) { return !(a == b); }

INKLE_VEC vec_t<N, T> add(const vec_t<N, T>& a, const vec_t<N, T>& b) { return a + b; }
INKLE_VEC vec_t<N, T> sub(const vec_t<N, T>& a, const vec_t<N, T>& b) { return a - b; }
INKLE_VEC vec_t<N, T> mul(const vec_t<N, T>& a, T s) { return a * s; }
INKLE_VEC vec_t<N, T> mul(T s, const vec_t<N, T>& a) { return a * s; }
INKLE_VEC vec_t<N, T> div(const vec_t<N, T>& a, T s) { return a / s; }
INKLE_VEC vec_t<N, T> cw_mul(vec_t<N, T> a, const vec_t<N, T>& b) { INKLE_EACH(i, N) a.c[i] *= b.c[i]; return a; }
INKLE_VEC vec_t<N, T> cw_div(vec_t<N, T> a, const vec_t<N, T>& b) { INKLE_EACH(i, N) a.c[i] /= b.c[i]; return a; }
INKLE_VEC T dot(const vec_t<N, T>& a, const vec_t<N, T>& b)
{
    T sum = a.c[0] * b.c[0];
    for (unsigned i = 1; i < N; ++i) sum += a.c[i] * b.c[i];
    return sum;
}
INKLE_VEC T length_sq(const vec_t<N, T>& a) { return dot(a, a); }
INKLE_VEC T length(const vec_t<N, T>& a) { return sqrt(dot(a, a)); }
INKLE_VEC vec_t<N, T> normalize(const vec_t<N, T>& a)
{
    const T size = length(a);
    return size > T(0) ? a / size : vec_t<N, T>();
}
INKLE_VEC vec_t<N, T> min(vec_t<N, T> a, const vec_t<N, T>& b) { INKLE_EACH(i, N) a.c[i] = min(a.c[i], b.c[i]); return a; }
INKLE_VEC vec_t<N, T> max(vec_t<N, T> a, const vec_t<N, T>& b) { INKLE_EACH(i, N) a.c[i] = max(a.c[i], b.c[i]); return a; }
INKLE_VEC T extract(const vec_t<N, T>& a, int i) { return a.c[i]; }
INKLE_VEC vec_t<N, T> atomic_add(vec_t<N, T>* at, vec_t<N, T> v) { INKLE_EACH(i, N) v.c[i] = atomic_add(&at->c[i], v.c[i]); return v; }
template <typename T> INKLE_FN vec_t<3, T> cross(const vec_t<3, T>& a, const vec_t<3, T>& b)
{
    return { a.c[1] * b.c[2] - a.c[2] * b.c[1], a.c[2] * b.c[0] - a.c[0] * b.c[2], a.c[0] * b.c[1] - a.c[1] * b.c[0] };
}
template <typename T> INKLE_FN vec_t<3, T> spatial_top(const vec_t<6, T>& a) { return { a.c[0], a.c[1], a.c[2] }; }
template <typename T> INKLE_FN vec_t<3, T> spatial_bottom(const vec_t<6, T>& a) { return { a.c[3], a.c[4], a.c[5] }; }

template <unsigned R, unsigned C, typename T> struct mat_t {
    T data[R][C];

    INKLE_FN mat_t() : data {} { }
    INKLE_FN explicit mat_t(T s) { INKLE_EACH(i, R) INKLE_EACH(j, C) data[i][j] = s; }
    // All components, row by row.
    template <typename... U> INKLE_FN mat_t(T first, T second, U... rest)
    {
        static_assert(sizeof...(rest) + 2 == R * C, "as many values as the matrix has components");
        const T all[] = { first, second, T(rest)... };
        INKLE_EACH(i, R) INKLE_EACH(j, C) data[i][j] = all[i * C + j];
    }

    INKLE_FN vec_t<C, T> get_row(int i) const { vec_t<C, T> r; INKLE_EACH(j, C) r.c[j] = data[i][j]; return r; }
    INKLE_FN void set_row(int i, const vec_t<C, T>& r) { INKLE_EACH(j, C) data[i][j] = r.c[j]; }
    INKLE_FN vec_t<R, T> get_col(int j) const { vec_t<R, T> r; INKLE_EACH(i, R) r.c[i] = data[i][j]; return r; }
    INKLE_FN void set_col(int j, const vec_t<R, T>& c) { INKLE_EACH(i, R) data[i][j] = c.c[i]; }
    INKLE_FN T operator()(int i, int j) const { return data[i][j]; }
    INKLE_FN T& operator()(int i, int j) { return data[i][j]; }
    INKLE_FN T* operator[](int i) { return data[i]; }
    INKLE_FN const T* operator[](int i) const { return data[i]; }
};

#define INKLE_MAT template <unsigned R, unsigned C, typename T> INKLE_FN
#define INKLE_ALL INKLE_EACH(i, R) INKLE_EACH(j, C)

INKLE_MAT mat_t<R, C, T> operator+(mat_t<R, C, T> a, const mat_t<R, C, T>& b) { INKLE_ALL a.data[i][j] += b.data[i][j]; return a; }
INKLE_MAT mat_t<R, C, T> operator-(mat_t<R, C, T> a, const mat_t<R, C, T>& b) { INKLE_ALL a.data[i][j] -= b.data[i][j]; return a; }
INKLE_MAT mat_t<R, C, T> operator-(mat_t<R, C, T> a) { INKLE_ALL a.data[i][j] = -a.data[i][j]; return a; }
INKLE_MAT mat_t<R, C, T> operator*(mat_t<R, C, T> a, T s) { INKLE_ALL a.data[i][j] *= s; return a; }
INKLE_MAT mat_t<R, C, T> operator*(T s, mat_t<R, C, T> a) { INKLE_ALL a.data[i][j] *= s; return a; }
INKLE_MAT mat_t<R, C, T> operator/(mat_t<R, C, T> a, T s) { INKLE_ALL a.data[i][j] /= s; return a; }
INKLE_MAT mat_t<R, C, T>& operator+=(mat_t<R, C, T>& a, const mat_t<R, C, T>& b) { return a = a + b; }
INKLE_MAT mat_t<R, C, T>& operator-=(mat_t<R, C, T>& a, const mat_t<R, C, T>& b) { return a = a - b; }
INKLE_MAT vec_t<R, T> operator*(const mat_t<R, C, T>& a, const vec_t<C, T>& v)
{
    vec_t<R, T> r;
    INKLE_EACH(i, R) r.c[i] = dot(a.get_row(i), v);
    return r;
}
template <unsigned R, unsigned C, unsigned D, typename T>
INKLE_FN mat_t<R, D, T> operator*(const mat_t<R, C, T>& a, const mat_t<C, D, T>& b)
{
    mat_t<R, D, T> r;
    INKLE_EACH(i, R) INKLE_EACH(k, C) INKLE_EACH(j, D) r.data[i][j] += a.data[i][k] * b.data[k][j];
    return r;
}
INKLE_MAT mat_t<R, C, T> add(const mat_t<R, C, T>& a, const mat_t<R, C, T>& b) { return a + b; }
INKLE_MAT mat_t<R, C, T> sub(const mat_t<R, C, T>& a, const mat_t<R, C, T>& b) { return a - b; }
INKLE_MAT mat_t<R, C, T> mul(const mat_t<R, C, T>& a, T s) { return a * s; }
INKLE_MAT vec_t<R, T> mul(const mat_t<R, C, T>& a, const vec_t<C, T>& v) { return a * v; }
template <unsigned R, unsigned C, unsigned D, typename T>
INKLE_FN mat_t<R, D, T> mul(const mat_t<R, C, T>& a, const mat_t<C, D, T>& b)
{
    return a * b;
}
INKLE_MAT mat_t<C, R, T> transpose(const mat_t<R, C, T>& a)
{
    mat_t<C, R, T> r;
    INKLE_ALL r.data[j][i] = a.data[i][j];
    return r;
}
template <unsigned N, typename T> INKLE_FN T trace(const mat_t<N, N, T>& a)
{
    T sum = a.data[0][0];
    for (unsigned i = 1; i < N; ++i) sum += a.data[i][i];
    return sum;
}
INKLE_MAT T extract(const mat_t<R, C, T>& a, int i, int j) { return a.data[i][j]; }
INKLE_MAT mat_t<R, C, T> outer(const vec_t<R, T>& a, const vec_t<C, T>& b)
{
    mat_t<R, C, T> r;
    INKLE_ALL r.data[i][j] = a.c[i] * b.c[j];
    return r;
}
template <typename T> INKLE_FN mat_t<3, 3, T> skew(const vec_t<3, T>& a)
{
    return { T(0), -a.c[2], a.c[1], a.c[2], T(0), -a.c[0], -a.c[1], a.c[0], T(0) };
}
template <typename T> INKLE_FN T determinant(const mat_t<2, 2, T>& a)
{
    return a.data[0][0] * a.data[1][1] - a.data[0][1] * a.data[1][0];
}
template <typename T> INKLE_FN T determinant(const mat_t<3, 3, T>& a)
{
    return dot(a.get_row(0), cross(a.get_row(1), a.get_row(2)));
}

template <typename T> struct quat_t {
    T x, y, z, w;

    INKLE_FN quat_t() : x(), y(), z(), w() { }
    INKLE_FN quat_t(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) { }
    INKLE_FN quat_t(const vec_t<3, T>& v, T w) : x(v.c[0]), y(v.c[1]), z(v.c[2]), w(w) { }

    INKLE_FN T operator[](int i) const { return (&x)[i]; }
    INKLE_FN T& operator[](int i) { return (&x)[i]; }
};

#define INKLE_QUAT template <typename T> INKLE_FN

INKLE_QUAT quat_t<T> operator+(const quat_t<T>& a, const quat_t<T>& b) { return { a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w }; }
INKLE_QUAT quat_t<T> operator-(const quat_t<T>& a, const quat_t<T>& b) { return { a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w }; }
INKLE_QUAT quat_t<T> operator*(const quat_t<T>& a, T s) { return { a.x * s, a.y * s, a.z * s, a.w * s }; }
INKLE_QUAT quat_t<T> operator*(T s, const quat_t<T>& a) { return a * s; }
INKLE_QUAT quat_t<T> operator*(const quat_t<T>& a, const quat_t<T>& b)
{
    return { a.w * b.x + b.w * a.x + a.y * b.z - b.y * a.z, a.w * b.y + b.w * a.y + a.z * b.x - b.z * a.x,
             a.w * b.z + b.w * a.z + a.x * b.y - b.x * a.y, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z };
}
INKLE_QUAT quat_t<T>& operator+=(quat_t<T>& a, const quat_t<T>& b) { return a = a + b; }
INKLE_QUAT quat_t<T> mul(const quat_t<T>& a, const quat_t<T>& b) { return a * b; }
INKLE_QUAT T dot(const quat_t<T>& a, const quat_t<T>& b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
INKLE_QUAT T length(const quat_t<T>& a) { return sqrt(dot(a, a)); }
INKLE_QUAT quat_t<T> normalize(const quat_t<T>& a)
{
    const T size = length(a);
    return size > T(0) ? a * (T(1) / size) : quat_t<T>(T(0), T(0), T(0), T(1));
}
INKLE_QUAT quat_t<T> quat_inverse(const quat_t<T>& a) { return { -a.x, -a.y, -a.z, a.w }; }
INKLE_QUAT vec_t<3, T> quat_rotate(const quat_t<T>& q, const vec_t<3, T>& v)
{
    const vec_t<3, T> u(q.x, q.y, q.z);
    return v * (T(2) * q.w * q.w - T(1)) + cross(u, v) * (T(2) * q.w) + u * (T(2) * dot(u, v));
}
INKLE_QUAT vec_t<3, T> quat_rotate_inv(const quat_t<T>& q, const vec_t<3, T>& v) { return quat_rotate(quat_inverse(q), v); }
INKLE_QUAT mat_t<3, 3, T> quat_to_matrix(const quat_t<T>& q)
{
    mat_t<3, 3, T> m;
    m.set_col(0, quat_rotate(q, vec_t<3, T>(T(1), T(0), T(0))));
    m.set_col(1, quat_rotate(q, vec_t<3, T>(T(0), T(1), T(0))));
    m.set_col(2, quat_rotate(q, vec_t<3, T>(T(0), T(0), T(1))));
    return m;
}
INKLE_QUAT quat_t<T> quat_from_axis_angle(const vec_t<3, T>& axis, T angle)
{
    const T s = sin(angle * T(0.5));
    return { axis.c[0] * s, axis.c[1] * s, axis.c[2] * s, cos(angle * T(0.5)) };
}
template <typename T = float> INKLE_FN quat_t<T> quat_identity() { return { T(0), T(0), T(0), T(1) }; }

template <typename T> struct transform_t {
    vec_t<3, T> p;
    quat_t<T> q;

    INKLE_FN transform_t() : p(), q() { }
    INKLE_FN transform_t(const vec_t<3, T>& p, const quat_t<T>& q) : p(p), q(q) { }
    INKLE_FN T operator[](int i) const { return (&p.c[0])[i]; }
    INKLE_FN T& operator[](int i) { return (&p.c[0])[i]; }
};

INKLE_QUAT vec_t<3, T> transform_get_translation(const transform_t<T>& t) { return t.p; }
INKLE_QUAT quat_t<T> transform_get_rotation(const transform_t<T>& t) { return t.q; }
INKLE_QUAT vec_t<3, T> transform_point(const transform_t<T>& t, const vec_t<3, T>& v) { return t.p + quat_rotate(t.q, v); }
INKLE_QUAT vec_t<3, T> transform_vector(const transform_t<T>& t, const vec_t<3, T>& v) { return quat_rotate(t.q, v); }
INKLE_QUAT transform_t<T> transform_multiply(const transform_t<T>& a, const transform_t<T>& b)
{
    return { quat_rotate(a.q, b.p) + a.p, a.q * b.q };
}
INKLE_QUAT transform_t<T> transform_inverse(const transform_t<T>& t)
{
    const quat_t<T> q = quat_inverse(t.q);
    return { -quat_rotate(q, t.p), q };
}

#undef INKLE_QUAT
#undef INKLE_ALL
#undef INKLE_MAT
#undef INKLE_VEC
#undef INKLE_EACH

#define INKLE_NAMES(letter, type)                                                                                     \
    using vec2##letter = vec_t<2, type>;                                                                              \
    using vec3##letter = vec_t<3, type>;                                                                              \
    using vec4##letter = vec_t<4, type>;
INKLE_NAMES(, float) INKLE_NAMES(f, float) INKLE_NAMES(d, double) INKLE_NAMES(h, half)
INKLE_NAMES(b, int8) INKLE_NAMES(ub, uint8) INKLE_NAMES(s, int16) INKLE_NAMES(us, uint16)
INKLE_NAMES(i, int32) INKLE_NAMES(ui, uint32) INKLE_NAMES(l, int64) INKLE_NAMES(ul, uint64)
#undef INKLE_NAMES
#define INKLE_NAMES(letter, type)                                                                                     \
    using mat22##letter = mat_t<2, 2, type>;                                                                          \
    using mat33##letter = mat_t<3, 3, type>;                                                                          \
    using mat44##letter = mat_t<4, 4, type>;                                                                          \
    using quat##letter = quat_t<type>;                                                                                \
    using transform##letter = transform_t<type>;                                                                      \
    using spatial_vector##letter = vec_t<6, type>;                                                                    \
    using spatial_matrix##letter = mat_t<6, 6, type>;
INKLE_NAMES(, float) INKLE_NAMES(f, float) INKLE_NAMES(d, double) INKLE_NAMES(h, half)
#undef INKLE_NAMES

}  // namespace wp
