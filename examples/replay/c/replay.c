/* Runs the graph that ../export.py saves, on the CPU or on a GPU.
 *
 *     cc replay.c -I KIT/include KIT/lib/libinkle_replay.a -lm -static-libgcc -o replay
 *     ./replay swarm.inkle [cpu|cuda:0]
 *
 * KIT is what scripts/replay_kit.sh makes. */

#include <inkle_replay.h>
#include <stdio.h>
#include <stdlib.h>

static void check(InkleStatus status) {
    if (status != INKLE_STATUS_OK) {
        fprintf(stderr, "replay: %s (status %d)\n", inkle_replay_last_error(), (int)status);
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: replay FILE [DEVICE]\n");
        return 2;
    }
    InkleReplay *replay;
    check(inkle_replay_open(argv[1], argc > 2 ? argv[2] : "cpu", &replay));

    for (size_t i = 0; i < inkle_replay_param_count(replay); i++) {
        InkleParam param;
        check(inkle_replay_param(replay, i, &param));
        printf("%s %s: %s [", param.direction == INKLE_DIRECTION_INPUT ? "input" : "output", param.name, param.dtype);
        for (uint32_t dim = 0; dim < param.ndim; dim++) {
            printf(dim == 0 ? "%d" : ", %d", (int)param.shape[dim]);
        }
        printf("]\n");
    }

    const float target[3] = {1.0f, 2.0f, 3.0f};
    check(inkle_replay_set_param(replay, "target", target, sizeof target, INKLE_MEMORY_HOST, NULL));
    for (int step = 1; step <= 100; step++) {
        check(inkle_replay_launch(replay, NULL));
        if (step % 20 == 0) {
            float distance;
            check(inkle_replay_get_param(replay, "distance", &distance, sizeof distance, INKLE_MEMORY_HOST, NULL));
            printf("step %d: distance %.6f\n", step, distance);
        }
    }
    inkle_replay_close(replay);
    return 0;
}
