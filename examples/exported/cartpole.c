/* The cart and the controller of cartpole.py in a closed loop, and how long the controller takes. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "control.h"
#include "plant.h"

static control_state state;
static control_work work;

int main(void)
{
    double x[4] = {0.0, 0.6, 0.0, 0.0}, after[4], force[1], longest = 0, all = 0;
    control_init(&state);
    for (int number = 1; number <= 100; ++number) {
        struct timespec began, ended;
        clock_gettime(CLOCK_MONOTONIC, &began);
        if (control(x, force, &state, &work)) return 1;
        clock_gettime(CLOCK_MONOTONIC, &ended);
        const double took = 1e6 * (double)(ended.tv_sec - began.tv_sec) + 1e-3 * (double)(ended.tv_nsec - began.tv_nsec);
        all += took;
        if (took > longest) longest = took;
        if (plant(x, force, after)) return 1;
        memcpy(x, after, sizeof x);
        if (number % 10 == 0) printf("%.1f s: %.12f %.12f %.12f %.12f\n", number / 20.0, x[0], x[1], x[2], x[3]);
    }
    fprintf(stderr, "a call of the controller: %.0f us, the longest %.0f us\n", all / 100, longest);
    return 0;
}
