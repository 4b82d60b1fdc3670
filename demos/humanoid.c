/* Runs the two nodes of demos/pipeline.py, as graphs of kernels, without Python: sensors in, joint targets out.
 *
 *     cc humanoid.c -I KIT/include KIT/lib/libinkle_replay.a -lm -static-libgcc -o humanoid
 *     ./humanoid OBSERVE.inkle POLICY.inkle SENSORS TARGETS
 *
 * KIT is what scripts/replay_kit.sh makes. SENSORS holds, step by step, the first graph's inputs in their order, without
 * `last`; TARGETS is written: the second graph's `targets` of every step, which `last` is in the next. */

#include <inkle_replay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(InkleStatus status) {
    if (status != INKLE_STATUS_OK) {
        fprintf(stderr, "humanoid: %s (status %d)\n", inkle_replay_last_error(), (int)status);
        exit(1);
    }
}

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        fprintf(stderr, "humanoid: out of memory\n");
        exit(1);
    }
    return memory;
}

static FILE *open_file(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

static size_t bytes_of(InkleReplay *graph, const char *name) {
    for (size_t i = 0; i < inkle_replay_param_count(graph); i++) {
        InkleParam param;
        check(inkle_replay_param(graph, i, &param));
        if (strcmp(param.name, name) == 0) {
            return param.bytes;
        }
    }
    fprintf(stderr, "humanoid: no parameter is named %s\n", name);
    exit(1);
}

/* Sets the inputs of one step; 0 at the end of the file. */
static int set_sensors(InkleReplay *observe, FILE *sensors, void *buffer) {
    for (size_t i = 0; i < inkle_replay_param_count(observe); i++) {
        InkleParam param;
        check(inkle_replay_param(observe, i, &param));
        if (param.direction != INKLE_DIRECTION_INPUT || strcmp(param.name, "last") == 0) {
            continue;
        }
        if (fread(buffer, param.bytes, 1, sensors) != 1) {
            return 0;
        }
        check(inkle_replay_set_param(observe, param.name, buffer, param.bytes, INKLE_MEMORY_HOST, NULL));
    }
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: humanoid OBSERVE.inkle POLICY.inkle SENSORS TARGETS\n");
        return 2;
    }
    InkleReplay *observe, *policy;
    check(inkle_replay_open(argv[1], "cpu", &observe));
    check(inkle_replay_open(argv[2], "cpu", &policy));
    FILE *sensors = open_file(argv[3], "rb"), *out = open_file(argv[4], "wb");

    const size_t seen = bytes_of(policy, "observation"), given = bytes_of(policy, "targets");
    void *observation = allocate(seen), *targets = allocate(given), *buffer = allocate(4096);
    int steps = 0;
    double seconds = 0.0;
    while (set_sensors(observe, sensors, buffer)) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        check(inkle_replay_set_param(observe, "last", targets, given, INKLE_MEMORY_HOST, NULL));
        check(inkle_replay_launch(observe, NULL));
        check(inkle_replay_get_param(observe, "observation", observation, seen, INKLE_MEMORY_HOST, NULL));
        check(inkle_replay_set_param(policy, "observation", observation, seen, INKLE_MEMORY_HOST, NULL));
        check(inkle_replay_launch(policy, NULL));
        check(inkle_replay_get_param(policy, "targets", targets, given, INKLE_MEMORY_HOST, NULL));
        clock_gettime(CLOCK_MONOTONIC, &end);
        seconds += (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
        fwrite(targets, given, 1, out);
        steps++;
    }
    fclose(sensors);
    if (fclose(out) != 0) {
        perror(argv[4]);
        return 1;
    }
    printf("%d %.3f\n", steps, steps > 0 ? seconds / steps * 1e6 : 0.0);
    free(buffer);
    free(targets);
    free(observation);
    inkle_replay_close(policy);
    inkle_replay_close(observe);
    return 0;
}
