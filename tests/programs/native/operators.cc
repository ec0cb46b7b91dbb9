// Each of C++'s operators `new` and `delete`, called from a function of its own: 100 blocks of 1000 bytes, or 1024
// aligned ones, half of them freed.
#include <cstdio>
#include <cstdlib>
#include <new>
enum { N = 100 };
static void *kept[2000]; static int count;
#define ENTRY(name, make, drop)                           \
    __attribute__((noinline)) static void name(int n) \
    {                                                 \
        void *b = make;                               \
        if (n % 2 == 0)                               \
            kept[count++] = b;                        \
        else {                                        \
            drop;                                     \
        }                                             \
    }
ENTRY(by_new, ::operator new(1000), ::operator delete(b))
ENTRY(by_new_array, ::operator new[](1000), ::operator delete[](b))
ENTRY(by_nothrow, ::operator new(1000, std::nothrow), ::operator delete(b, std::nothrow))
ENTRY(by_array_nothrow, ::operator new[](1000, std::nothrow), ::operator delete[](b, std::nothrow))
ENTRY(by_aligned, ::operator new(1024, std::align_val_t(128)), ::operator delete(b, std::align_val_t(128)))
ENTRY(by_array_aligned, ::operator new[](1024, std::align_val_t(128)), ::operator delete[](b, std::align_val_t(128)))
ENTRY(by_aligned_nothrow, ::operator new(1024, std::align_val_t(128), std::nothrow), ::operator delete(b, std::align_val_t(128), std::nothrow))
ENTRY(by_array_aligned_nothrow, ::operator new[](1024, std::align_val_t(128), std::nothrow), ::operator delete[](b, std::align_val_t(128), std::nothrow))
ENTRY(by_sized, ::operator new(1000), ::operator delete(b, std::size_t(1000)))
ENTRY(by_array_sized, ::operator new[](1000), ::operator delete[](b, std::size_t(1000)))
ENTRY(by_sized_aligned, ::operator new(1024, std::align_val_t(128)), ::operator delete(b, std::size_t(1024), std::align_val_t(128)))
ENTRY(by_array_sized_aligned, ::operator new[](1024, std::align_val_t(128)), ::operator delete[](b, std::size_t(1024), std::align_val_t(128)))
ENTRY(by_malloc, malloc(1000), free(b))

// What cannot be had throws, after the handler was called, or gives no block.
static int handled;
__attribute__((noinline)) static int fails()
{
    int failed = 0;
    volatile std::size_t too_much = std::size_t(-1) / 2 - 4096;
    std::set_new_handler([] { handled++; std::set_new_handler(nullptr); });
    try { kept[0] = ::operator new(too_much); } catch (const std::bad_alloc &) { failed++; }
    try { kept[0] = ::operator new[](too_much); } catch (const std::bad_alloc &) { failed++; }
    if (!::operator new(too_much, std::nothrow)) failed++;
    return failed;
}

int main(int argc, char **)
{
    for (int n = 0; n < N; n++) {
        by_new(n); by_new_array(n); by_nothrow(n); by_array_nothrow(n); by_aligned(n); by_array_aligned(n);
        by_aligned_nothrow(n); by_array_aligned_nothrow(n); by_sized(n); by_array_sized(n); by_sized_aligned(n);
        by_array_sized_aligned(n); by_malloc(n);
    }
    int failed = argc > 1 ? 0 : fails();
    std::printf("%d blocks kept, %d failed, %d handled\n", count, failed, handled);
    return 7;
}
