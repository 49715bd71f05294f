/* The runtime library of programs that jaxide compiled to objects: it has the kernels that these call.
 *
 * Objects whose header does not name it need nothing of this. Link with libjaxide_runtime.a, -lpthread, -ldl and -lm.
 */
#ifndef JAXIDE_RUNTIME_H
#define JAXIDE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most threads that a kernel works on from now on; 1 if this is never called, which starts none. Results do not depend on it. */
void jaxide_rt_set_threads(size_t threads);

/* Why the last function of an object that this thread called failed; "" if none did. Valid until the next one fails. */
const char *jaxide_rt_error(void);

/* Runs a kernel: objects call this. The operands are addresses of its inputs, then of its results. Gives 0, or 1 where it
 * fails: when there is no memory for what it needs while it runs, or the object was written by another version of jaxide. */
int32_t jaxide_rt_run(const char *text, size_t length, void *const *operands);

#ifdef __cplusplus
}
#endif

#endif
