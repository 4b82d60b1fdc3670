// Runs the graph that ../export.py saves on the CPU, in memory that belongs to this program.

#include <inkle_replay.h>

#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(InkleStatus status) {
    if (status != INKLE_STATUS_OK) {
        throw std::runtime_error(inkle_replay_last_error());
    }
}

struct Close {
    void operator()(InkleReplay *replay) const { inkle_replay_close(replay); }
};

using Replay = std::unique_ptr<InkleReplay, Close>;

Replay open(const std::vector<char> &file) {
    InkleReplay *replay = nullptr;
    check(inkle_replay_open_memory(file.data(), file.size(), "cpu", &replay));
    return Replay(replay);
}

// Elements at addresses that every graph can work with.
template <typename T, std::size_t Count> struct alignas(64) Aligned : std::array<T, Count> {};

template <typename T, std::size_t Count>
void bind(const Replay &replay, const char *name, Aligned<T, Count> &memory) {
    check(inkle_replay_bind(replay.get(), name, memory.data(), Count * sizeof(T), INKLE_MEMORY_HOST));
}

void run(const char *path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        throw std::runtime_error(std::string(path) + " cannot be read");
    }
    const std::vector<char> file{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};

    // Declared before the replay, so that it outlives what uses it.
    Aligned<float, 3> target{};
    Aligned<float, 1> distance{};
    const Replay replay = open(file);
    bind(replay, "target", target);
    bind(replay, "distance", distance);

    target = {1.0f, 2.0f, 3.0f};
    for (int step = 1; step <= 100; step++) {
        check(inkle_replay_launch(replay.get(), nullptr));
        if (step % 20 == 0) {
            std::printf("step %d: distance %.6f\n", step, distance[0]);
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: replay FILE\n");
        return 2;
    }
    try {
        run(argv[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "replay: %s\n", error.what());
        return 1;
    }
    return 0;
}
