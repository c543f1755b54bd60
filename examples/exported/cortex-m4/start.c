/* What runs before main on an ARM MPS2 board with a Cortex-M4, or in QEMU, and how printf and exit reach the host. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

extern uint32_t data_from[], data_start[], data_end[], bss_start[], bss_end[], stack_end[];
int main(void);

static int semihosting(int operation, const void *block)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void _exit(int code)
{
    const uint32_t block[2] = {0x20026, (uint32_t)code}; /* an application's exit, and its code */
    semihosting(0x20, block);
    for (;;) {}
}

int _write(int file, const char *text, int count)
{
    volatile uint32_t *const uart = (volatile uint32_t *)0x40004000; /* data, state, control */
    (void)file;
    uart[2] = 1;
    for (int i = 0; i < count; ++i) {
        while (uart[1] & 1) {}
        uart[0] = (uint8_t)text[i];
    }
    return count;
}

static void reset(void)
{
    volatile uint32_t *const cpacr = (volatile uint32_t *)0xe000ed88;
    *cpacr |= 0xf << 20; /* the floating-point unit */
    __asm__ volatile("dsb\n\tisb");
    for (uint32_t *to = data_start, *from = data_from; to < data_end;) *to++ = *from++;
    for (uint32_t *to = bss_start; to < bss_end;) *to++ = 0;
    exit(main());
}

static void fault(void) { _exit(2); }

/* The first words of flash: where the stack begins, and what runs at reset and at faults. */
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    stack_end, (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault,
};

/* What C's library asks for besides. */
extern char heap_start[];
void *_sbrk(int size)
{
    static char *end = heap_start;
    char *before = end;
    end += size;
    return before;
}
int _close(int file) { (void)file; return -1; }
int _fstat(int file, struct stat *about) { (void)file; about->st_mode = S_IFCHR; return 0; }
int _isatty(int file) { (void)file; return 1; }
int _lseek(int file, int at, int from) { (void)file; (void)at; (void)from; return 0; }
int _read(int file, char *text, int count) { (void)file; (void)text; (void)count; return 0; }
int _kill(int process, int signal) { (void)process; (void)signal; return -1; }
int _getpid(void) { return 1; }
void _init(void) {}
void _fini(void) {}
