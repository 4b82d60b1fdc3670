/* Does with a graph file what its arguments say, in order, on the CPU:
 *
 *     replay_steps FILE [set NAME BYTES_FILE | launch | get NAME BYTES_FILE]... */

#include <inkle_replay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(InkleStatus status) {
    if (status != INKLE_STATUS_OK) {
        fprintf(stderr, "%s (status %d)\n", inkle_replay_last_error(), (int)status);
        exit(1);
    }
}

static void copy(InkleReplay *replay, const char *name, const char *path, int set) {
    InkleParam param;
    check(inkle_replay_find_param(replay, name, &param));
    void *data = aligned_alloc(64, (param.bytes + 63) / 64 * 64);
    FILE *file = fopen(path, set ? "rb" : "wb");
    if (data == NULL || file == NULL) {
        fprintf(stderr, "%s cannot be opened\n", path);
        exit(1);
    }
    if (!set) {
        check(inkle_replay_get_param(replay, name, data, param.bytes, INKLE_MEMORY_HOST, NULL));
    }
    size_t done = set ? fread(data, 1, param.bytes, file) : fwrite(data, 1, param.bytes, file);
    if (set) {
        check(inkle_replay_set_param(replay, name, data, done, INKLE_MEMORY_HOST, NULL));
    }
    fclose(file);
    free(data);
}

int main(int argc, char **argv) {
    InkleReplay *replay = NULL;
    check(inkle_replay_open(argc > 1 ? argv[1] : "", "cpu", &replay));
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "launch") == 0) {
            check(inkle_replay_launch(replay, NULL));
        } else if (i + 2 < argc && (strcmp(argv[i], "set") == 0 || strcmp(argv[i], "get") == 0)) {
            copy(replay, argv[i + 1], argv[i + 2], argv[i][0] == 's');
            i += 2;
        } else {
            fprintf(stderr, "what is %s?\n", argv[i]);
            return 2;
        }
    }
    inkle_replay_close(replay);
    return 0;
}
