/* Trains the network of moons.py: standard C, for this machine and for a microcontroller. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "step.h"
#include "data.h"

static step_state state;
static step_work work;

int main(void)
{
    const double lr[1] = {0.01};
    step_init(&state);
    for (int number = 1; number <= 200; ++number) {
        float loss[1];
        uint32_t bits;
        int check = step(points, labels, lr, loss, &state, &work);
        if (check) {
            printf("check %d failed\n", check);
            return 1;
        }
        memcpy(&bits, loss, sizeof bits);
        if (number % 10 == 0) printf("%d %08" PRIx32 "\n", number, bits);
    }
    return 0;
}
