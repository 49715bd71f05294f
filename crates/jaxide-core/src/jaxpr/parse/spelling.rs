//! The nearest known word to a misspelt one.

/// The word of `known` that differs from `word` least, when it is near enough to be meant.
pub(crate) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let word: Vec<char> = word.chars().take(40).collect();
    let far = word.len().div_ceil(3).max(1);
    known
        .map(|candidate| {
            (
                distance(&word, &candidate.chars().collect::<Vec<_>>()),
                candidate,
            )
        })
        .filter(|&(distance, _)| distance <= far)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Edits that turn one word into another: letters inserted, removed, replaced, neighbours swapped (optimal string
/// alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let mut best = (above[j] + usize::from(x != y))
                .min(above[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_word_is_found() {
        let known = ["sin", "sinh", "scatter-add", "dot_general"];
        assert_eq!(nearest("sni", known.into_iter()), Some("sin"));
        assert_eq!(
            nearest("scatter_add", known.into_iter()),
            Some("scatter-add")
        );
        assert_eq!(
            nearest("dot_generl", known.into_iter()),
            Some("dot_general")
        );
        assert_eq!(nearest("frobnicate", known.into_iter()), None);
    }
}
