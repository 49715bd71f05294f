/* Calls a program that sorts the rows of a product, from several threads at once, and compares with what C computes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jaxide_runtime.h"
#include "sorted.h"

enum { M = 64, K = 48, N = 80 };

static float a[M][K], b[K][N], want[M][N];

static int ascending(const void *x, const void *y) {
    float l = *(const float *)x, r = *(const float *)y;
    return (l > r) - (l < r);
}

static void *call(void *wrong) {
    static const size_t alignment = SORTED_SCRATCH_ALIGNMENT;
    void *scratch = aligned_alloc(alignment, (SORTED_SCRATCH_BYTES / alignment + 1) * alignment);
    float(*got)[N] = malloc(SORTED_OUT0_BYTES);
    for (int turn = 0; turn < 20; turn++) {
        if (sorted(&a[0][0], &b[0][0], &got[0][0], scratch) != 0) {
            printf("failed: %s\n", jaxide_rt_error());
            *(int *)wrong = 1;
        } else if (memcmp(got, want, sizeof want) != 0) {
            *(int *)wrong = 1;
        }
    }
    free(got);
    free(scratch);
    return NULL;
}

int main(void) {
    /* Small integers, so that sums are exact. */
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) a[i][k] = (i * 7 + k * 3) % 11 - 5;
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) b[k][j] = (k * 5 + j * 13) % 17 - 8;
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++)
            for (int k = 0; k < K; k++) want[i][j] += a[i][k] * b[k][j];
        qsort(want[i], N, sizeof(float), ascending);
    }
    jaxide_rt_set_threads(2);
    pthread_t threads[4];
    int wrong[4] = {0};
    for (int t = 0; t < 4; t++) pthread_create(&threads[t], NULL, call, &wrong[t]);
    for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
    puts(wrong[0] | wrong[1] | wrong[2] | wrong[3] ? "wrong" : "right");
    return 0;
}
