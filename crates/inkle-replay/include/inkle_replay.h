// Runs graphs that inkle saved in files, on CPUs and on NVIDIA GPUs. Link with libinkle_replay, which needs the C library
// and nothing else; the CUDA driver is loaded when a GPU is first asked for.
//
// Threads: every function may be called from any thread. On the CPU, calls on one replay wait for each other, so that each
// sees the graph's memory whole; calls on different replays run at the same time. On a GPU, work of one replay on
// several streams is ordered by the caller, as the driver's functions leave it. Only inkle_replay_close must not run
// while another call uses the replay.
//
// Failures: functions give a status; inkle_replay_last_error has a sentence about the last failure of the thread. No
// function throws.
//
// This file is made by cbindgen from crates/inkle-replay/src/c.rs.

#ifndef INKLE_REPLAY_H
#define INKLE_REPLAY_H

#include <stddef.h>
#include <stdint.h>

// What a function says of its outcome. All but OK are failures; `inkle_replay_last_error` has a sentence about it.
enum InkleStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // All went well.
  INKLE_STATUS_OK = 0,
  // An argument is wrong.
  INKLE_STATUS_INVALID_ARGUMENT = 1,
  // The graph has no parameter of that name.
  INKLE_STATUS_NO_SUCH_PARAM = 2,
  // The memory or the device does not fit the parameter.
  INKLE_STATUS_MISMATCH = 3,
  // The file cannot be read.
  INKLE_STATUS_FILE = 4,
  // The file is no graph file, or is damaged.
  INKLE_STATUS_BAD_BUNDLE = 5,
  // The file is of another version of the format.
  INKLE_STATUS_VERSION = 6,
  // The file has no code for this machine.
  INKLE_STATUS_NO_CODE = 7,
  // The machine lacks a driver, a device or a feature.
  INKLE_STATUS_UNAVAILABLE = 8,
  // Memory could not be had.
  INKLE_STATUS_OUT_OF_MEMORY = 9,
  // The CUDA driver reported a failure, which may be one of earlier work.
  INKLE_STATUS_DRIVER = 10,
  // A kernel reported a failure while it ran.
  INKLE_STATUS_KERNEL = 11,
  // A mistake of this library.
  INKLE_STATUS_INTERNAL = 12,
  // The file is not signed with the key that it has to be signed with.
  INKLE_STATUS_SIGNER = 13,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum InkleStatus InkleStatus;
#else
typedef uint32_t InkleStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a parameter is for.
enum InkleDirection
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Set before a launch.
  INKLE_DIRECTION_INPUT = 0,
  // Read after a launch.
  INKLE_DIRECTION_OUTPUT = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum InkleDirection InkleDirection;
#else
typedef uint32_t InkleDirection;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The numbers that an element is made of.
enum InkleScalar
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // One byte, 0 or 1.
  INKLE_SCALAR_BOOL = 0,
  INKLE_SCALAR_INT8 = 1,
  INKLE_SCALAR_INT16 = 2,
  INKLE_SCALAR_INT32 = 3,
  INKLE_SCALAR_INT64 = 4,
  INKLE_SCALAR_UINT8 = 5,
  INKLE_SCALAR_UINT16 = 6,
  INKLE_SCALAR_UINT32 = 7,
  INKLE_SCALAR_UINT64 = 8,
  INKLE_SCALAR_FLOAT16 = 9,
  INKLE_SCALAR_BFLOAT16 = 10,
  INKLE_SCALAR_FLOAT32 = 11,
  INKLE_SCALAR_FLOAT64 = 12,
  // Elements are structs of several kinds of numbers, laid out as in C.
  INKLE_SCALAR_STRUCT = 13,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum InkleScalar InkleScalar;
#else
typedef uint32_t InkleScalar;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Where memory lies: an argument of type `uint32_t`.
enum InkleMemory
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // In the memory of the CPU.
  INKLE_MEMORY_HOST = 0,
  // On the GPU that the graph runs on.
  INKLE_MEMORY_DEVICE = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum InkleMemory InkleMemory;
#else
typedef uint32_t InkleMemory;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A graph from a file, ready to run.
typedef struct InkleReplay InkleReplay;

// A named part of a graph's memory: an array of one to four dimensions.
typedef struct InkleParam {
  // Its name; valid until the replay is closed.
  const char *name;
  // The element type as Python has it, such as `float32` or `vec3f`; valid until the replay is closed.
  const char *dtype;
  // What it is for.
  InkleDirection direction;
  // The numbers that an element is made of.
  InkleScalar scalar;
  // How many numbers an element has: 1 for a number, 3 for a vec3, 9 for a mat33; 0 for a struct.
  uint32_t scalars_per_element;
  // The size of an element, bytes.
  uint32_t element_bytes;
  // The number of dimensions.
  uint32_t ndim;
  // The extents; 1 beyond `ndim`.
  int32_t shape[4];
  // The distances between neighbours where `inkle_replay_bind` is used, bytes; 0 beyond `ndim`.
  int64_t strides[4];
  // The size of all elements, packed, bytes: what `inkle_replay_set_param` and `inkle_replay_get_param` take.
  size_t bytes;
  // The bytes from the lowest address of an element to the end of the last: what `inkle_replay_bind` takes.
  size_t span_bytes;
} InkleParam;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of this library, such as "0.1.0".
const char *inkle_replay_version(void);

// What went wrong in the last call of this thread that failed, in a sentence; empty if none has. Valid until the next
// call of this thread that fails.
const char *inkle_replay_last_error(void);

// Sets how many threads run graphs on the CPU in this process, the calling one included: 1 or more. By default one for
// each core; they are started when there is enough work for them. Results do not depend on it.
InkleStatus inkle_replay_set_cpu_threads(size_t threads);

// Opens the graph in the file at `path`.
//
// `device` is "cpu", or "cuda:0" and so on for a GPU, "cuda" for the first. The CUDA driver is loaded when a GPU is
// first asked for. `*out` becomes the replay, or NULL after a failure.
//
// The caller's part:
// The pointers are null or point to strings that end with a zero byte, and to a place for a pointer.
InkleStatus inkle_replay_open(const char *path,
                              const char *device,
                              struct InkleReplay **out);

// As `inkle_replay_open`, for a file that is in memory: `bytes` bytes at `data`, which are copied.
//
// The caller's part:
// As `inkle_replay_open`; there are that many bytes.
InkleStatus inkle_replay_open_memory(const void *data,
                                     size_t bytes,
                                     const char *device,
                                     struct InkleReplay **out);

// As `inkle_replay_open`, for a file that has to be signed (`inkle sign`): `public_key` are the 32 bytes of the key that
// its signature is checked with, before anything of the file is used. A file without a signature, or with one of another
// key, is refused with INKLE_STATUS_SIGNER; one that was changed after it was signed with INKLE_STATUS_BAD_BUNDLE.
//
// The caller's part:
// As `inkle_replay_open`; `public_key` is null or has 32 bytes.
InkleStatus inkle_replay_open_signed(const char *path,
                                     const char *device,
                                     const uint8_t *public_key,
                                     struct InkleReplay **out);

// As `inkle_replay_open_signed`, for a file that is in memory: `bytes` bytes at `data`, which are copied.
//
// The caller's part:
// As `inkle_replay_open_signed`; there are that many bytes.
InkleStatus inkle_replay_open_memory_signed(const void *data,
                                            size_t bytes,
                                            const char *device,
                                            const uint8_t *public_key,
                                            struct InkleReplay **out);

// Closes a replay; NULL is left alone. No other call may use it during or after this. Work that is queued on GPU streams
// is not waited for: the graph's own memory stays until it is done.
//
// The caller's part:
// The replay came from one of the functions that open one and was not closed.
void inkle_replay_close(struct InkleReplay *replay);

// The number of parameters; 0 for NULL.
//
// The caller's part:
// The replay is null or open.
size_t inkle_replay_param_count(const struct InkleReplay *replay);

// Describes the parameter of an index below `inkle_replay_param_count`.
//
// The caller's part:
// The replay is null or open; `out` is null or a place for a description.
InkleStatus inkle_replay_param(const struct InkleReplay *replay,
                               size_t index,
                               struct InkleParam *out);

// Describes the parameter of a name.
//
// The caller's part:
// As `inkle_replay_param`; `name` is null or a string that ends with a zero byte.
InkleStatus inkle_replay_find_param(const struct InkleReplay *replay,
                                    const char *name,
                                    struct InkleParam *out);

// Copies the caller's memory into a parameter: all elements, packed in row-major order, `bytes` as the description
// says, at an address that is a multiple of the size of a number.
//
// `memory` is INKLE_MEMORY_HOST or INKLE_MEMORY_DEVICE. On a GPU the copy is queued on `stream`, a cudaStream_t or
// CUstream; NULL is the legacy default stream. From the memory of the CPU it is done when this returns. On the CPU
// `stream` is NULL.
//
// The caller's part:
// As `inkle_replay_find_param`; `data` has that many bytes; the stream belongs to the primary context of the GPU and
// lives until the replay is closed.
InkleStatus inkle_replay_set_param(struct InkleReplay *replay,
                                   const char *name,
                                   const void *data,
                                   size_t bytes,
                                   uint32_t memory,
                                   void *stream);

// Copies a parameter to the caller's memory. Arguments are as for `inkle_replay_set_param`. To the memory of the CPU the
// copy is done when this returns, after all that the stream had to do before.
//
// The caller's part:
// As `inkle_replay_set_param`.
InkleStatus inkle_replay_get_param(struct InkleReplay *replay,
                                   const char *name,
                                   void *data,
                                   size_t bytes,
                                   uint32_t memory,
                                   void *stream);

// Lets the graph use the caller's memory in place of a parameter's own from the next launch on. Nothing is copied.
//
// `data` is the lowest address of an element, at a multiple of 64 bytes to be safe for every graph; elements lie as the
// description's `strides` say, and `bytes` is its `span_bytes`. The memory lies where the graph's does: a graph on a GPU
// takes INKLE_MEMORY_DEVICE. It stays the caller's, and valid until the parameter is bound again or the replay is
// closed, and what is queued is done. Launches that are under way keep the old memory. Fails with
// INKLE_STATUS_MISMATCH for a parameter that shares its memory with other data of the graph: copy its values instead.
//
// The caller's part:
// As the text says; else as `inkle_replay_set_param`.
InkleStatus inkle_replay_bind(struct InkleReplay *replay,
                              const char *name,
                              void *data,
                              size_t bytes,
                              uint32_t memory);

// Runs the graph. On the CPU it is done when this returns. On a GPU it is queued on `stream`, a cudaStream_t or CUstream,
// NULL for the legacy default stream; a stream that is being captured gets the graph as part of the capture.
//
// The caller's part:
// As `inkle_replay_set_param`.
InkleStatus inkle_replay_launch(struct InkleReplay *replay,
                                void *stream);

// Waits until a stream has done all its work, and tells of failures in it. Returns at once on the CPU.
//
// The caller's part:
// As `inkle_replay_set_param`.
InkleStatus inkle_replay_synchronize(struct InkleReplay *replay,
                                     void *stream);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* INKLE_REPLAY_H */
