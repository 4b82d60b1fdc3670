// The benchmark's kernels in plain CUDA C++, as someone who knows the hardware writes them at first: the measure
// of what a compiler should reach. Prints the samples of every measurement, in seconds, as one line of JSON.
//
//     nvcc -O3 -arch=native reference.cu -o reference && ./reference [quick]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr int kBlock = 256;
constexpr int kLaunches = 1000;
constexpr int kBins = 256;

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
  }
}

unsigned blocks(size_t n) { return static_cast<unsigned>((n + kBlock - 1) / kBlock); }

// Numbers of [0, 1) as random as numpy's: a regular sequence would spare the histogram its collisions.
__global__ void fill(size_t n, float* x) {
  size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  unsigned state = static_cast<unsigned>(i) * 747796405u + 2891336453u;
  unsigned word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  x[i] = (((word >> 22) ^ word) >> 8) * (1.0f / 16777216.0f);
}

__global__ void saxpy(size_t n, const float* x, float* y, float a) {
  size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void trig(size_t n, const float* x, float* y) {
  size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]) * expf(-x[i]) + sqrtf(fabsf(x[i]));
}

__global__ void nbody(int n, const float3* position, const float3* velocity, float3* result, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float3 here = position[i];
  float fx = 0.0f, fy = 0.0f, fz = 0.0f;
  for (int j = 0; j < n; ++j) {
    float3 there = position[j];
    float dx = there.x - here.x, dy = there.y - here.y, dz = there.z - here.z;
    float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    float cubed = inverse * inverse * inverse;
    fx += dx * cubed;
    fy += dy * cubed;
    fz += dz * cubed;
  }
  float3 v = velocity[i];
  result[i] = make_float3(v.x + fx * dt, v.y + fy * dt, v.z + fz * dt);
}

__global__ void histogram(size_t n, const float* values, int* counts) {
  size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) atomicAdd(&counts[min(static_cast<int>(values[i] * kBins), kBins - 1)], 1);
}

__global__ void total(size_t n, const float* values, float* result) {
  size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) atomicAdd(result, values[i]);
}

struct Measurement {
  std::string name;
  std::vector<double> seconds;
  const char* unit;  // of `work`: "bytes", "flop" or null
  double work;
};

template <class Step>
std::vector<double> on_device(Step step, int repeats) {
  cudaEvent_t before, after;
  check(cudaEventCreate(&before), "event");
  check(cudaEventCreate(&after), "event");
  step();
  step();
  check(cudaDeviceSynchronize(), "warm-up");
  std::vector<double> taken;
  for (int r = 0; r < repeats; ++r) {
    cudaEventRecord(before);
    step();
    cudaEventRecord(after);
    check(cudaEventSynchronize(after), "measurement");
    float ms = 0.0f;
    check(cudaEventElapsedTime(&ms, before, after), "elapsed time");
    taken.push_back(ms / 1e3);
  }
  return taken;
}

template <class Step>
std::vector<double> on_host(Step step, int repeats) {
  using clock = std::chrono::steady_clock;
  step();
  std::vector<double> taken;
  for (int r = 0; r < repeats; ++r) {
    check(cudaDeviceSynchronize(), "launches");
    auto start = clock::now();
    step();
    taken.push_back(std::chrono::duration<double>(clock::now() - start).count() / kLaunches);
  }
  check(cudaDeviceSynchronize(), "launches");
  return taken;
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
  size_t n = size_t{1} << (quick ? 24 : 28), summed = n / 16;
  int bodies = 1 << (quick ? 14 : 16);

  float *x, *y, *result;
  float3 *position, *velocity, *moved;
  int* counts;
  check(cudaMalloc(&x, n * sizeof(float)), "memory");
  check(cudaMalloc(&y, n * sizeof(float)), "memory");
  check(cudaMalloc(&result, sizeof(float)), "memory");
  check(cudaMalloc(&position, bodies * sizeof(float3)), "memory");
  check(cudaMalloc(&velocity, bodies * sizeof(float3)), "memory");
  check(cudaMalloc(&moved, bodies * sizeof(float3)), "memory");
  check(cudaMalloc(&counts, kBins * sizeof(int)), "memory");
  fill<<<blocks(n), kBlock>>>(n, x);
  fill<<<blocks(n), kBlock>>>(n, y);
  fill<<<blocks(3 * bodies), kBlock>>>(3 * bodies, reinterpret_cast<float*>(position));
  check(cudaMemset(velocity, 0, bodies * sizeof(float3)), "fill");
  check(cudaMemset(counts, 0, kBins * sizeof(int)), "fill");
  check(cudaMemset(result, 0, sizeof(float)), "fill");

  std::vector<Measurement> measured;
  measured.push_back({"launch", on_host([&] {
                        for (int k = 0; k < kLaunches; ++k) saxpy<<<1, kBlock>>>(1, x, y, 2.0f);
                      }, 9), nullptr, 0.0});
  measured.push_back({"saxpy", on_device([&] { saxpy<<<blocks(n), kBlock>>>(n, x, y, 2.0f); }, 20), "bytes", 12.0 * n});
  measured.push_back({"trig", on_device([&] { trig<<<blocks(n), kBlock>>>(n, x, y); }, 20), "bytes", 8.0 * n});
  measured.push_back({"nbody", on_device([&] {
                        nbody<<<blocks(bodies), kBlock>>>(bodies, position, velocity, moved, 0.01f);
                      }, 7), "flop", 20.0 * bodies * bodies});
  measured.push_back({"histogram", on_device([&] { histogram<<<blocks(n), kBlock>>>(n, x, counts); }, 10), "bytes", 4.0 * n});
  measured.push_back({"sum to one address", on_device([&] { total<<<blocks(summed), kBlock>>>(summed, x, result); }, 10),
                      "bytes", 4.0 * summed});
  measured.push_back({"copy", on_device([&] {
                        cudaMemcpyAsync(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
                      }, 10), "bytes", 8.0 * n});
  check(cudaGetLastError(), "launch");

  std::printf("{\"seconds\": {");
  for (size_t m = 0; m < measured.size(); ++m) {
    std::printf("%s\"%s\": [", m ? ", " : "", measured[m].name.c_str());
    for (size_t s = 0; s < measured[m].seconds.size(); ++s) {
      std::printf("%s%.9e", s ? ", " : "", measured[m].seconds[s]);
    }
    std::printf("]");
  }
  std::printf("}, \"work\": {");
  bool first = true;
  for (const Measurement& m : measured) {
    if (!m.unit) continue;
    std::printf("%s\"%s\": {\"%s\": %.0f}", first ? "" : ", ", m.name.c_str(), m.unit, m.work);
    first = false;
  }
  std::printf("}}\n");
  return 0;
}
