/* Reads images from standard input, each a line as in `examples/data/digits.txt`, and tells which digits they show. */
#include <stdalign.h>
#include <stdio.h>

#include "digits.h"

int main(void) {
    static alignas(DIGITS_SCRATCH_ALIGNMENT) char scratch[DIGITS_SCRATCH_BYTES + 1];
    char line[80];
    int images = 0, right = 0;
    while (fgets(line, sizeof line, stdin)) {
        float image[DIGITS_IN0_LENGTH], scores[DIGITS_OUT1_LENGTH];
        int32_t digit;
        for (int k = 0; k < DIGITS_IN0_LENGTH; k++) {
            int shade = line[k] <= '9' ? line[k] - '0' : line[k] - 'a' + 10;
            image[k] = shade / 16.0f;
        }
        digits(image, &digit, scores, scratch);
        int label = line[DIGITS_IN0_LENGTH + 1] - '0';
        images++;
        right += digit == label;
        if (images <= 5)
            printf("it shows %d, and is read as %d with %.0f %%\n", label, digit, 100 * scores[digit]);
    }
    printf("%d of %d images are read rightly\n", right, images);
    return 0;
}
