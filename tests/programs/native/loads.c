/* Loads a library and runs a function of it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    int (*run)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "_Z3runiPPc") : NULL;
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return run(1, arguments);
}
