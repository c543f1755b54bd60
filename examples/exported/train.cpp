// Trains the network of moons.py from C++: state and work memory in a class, which fits where std::vector does.
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "step.h"

#include "data.h"

class Training {
  public:
    Training() { step_init(&state); }

    template <std::size_t Points, std::size_t Labels>
    float operator()(const float (&x)[Points], const std::int64_t (&y)[Labels], double lr)
    {
        float loss = 0;
        if (const int check = step(x, y, &lr, &loss, &state, &work))
            throw std::runtime_error("step: check " + std::to_string(check) + " failed");
        return loss;
    }

  private:
    step_state state;
    step_work work;
};

int main()
{
    const auto training = std::make_unique<Training>();
    for (int number = 1; number <= 200; ++number) {
        const float loss = (*training)(points, labels, 0.01);
        if (number % 10 == 0) std::printf("%d %08x\n", number, std::bit_cast<std::uint32_t>(loss));
    }
    std::array<std::int64_t, 64> wrong{};
    wrong[5] = 2;
    std::int64_t odd[64];
    std::copy(wrong.begin(), wrong.end(), odd);
    try {
        (*training)(points, odd, 0.01);
    } catch (const std::runtime_error &error) {
        std::puts(error.what());
        return 0;
    }
    return 1;
}
