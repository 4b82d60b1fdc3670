/* Prints, as JSON, the seconds that a graph file takes: from its name to a graph that can run, its first launch, and one
 * of many launches.
 *
 *     replay FILE LAUNCHES */

#include <inkle_replay.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void check(InkleStatus status) {
    if (status != INKLE_STATUS_OK) {
        fprintf(stderr, "replay: %s\n", inkle_replay_last_error());
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        return 2;
    }
    long launches = atol(argv[2]);
    InkleReplay *replay;
    double start = now();
    check(inkle_replay_open(argv[1], "cpu", &replay));
    double loaded = now();
    check(inkle_replay_launch(replay, NULL));
    double first = now();
    for (long i = 0; i < launches; i++) {
        check(inkle_replay_launch(replay, NULL));
    }
    double end = now();
    printf("{\"load_s\": %.9f, \"first_launch_s\": %.9f, \"launch_s\": %.9f}\n", loaded - start, first - loaded,
           (end - first) / (double)launches);
    inkle_replay_close(replay);
    return 0;
}
