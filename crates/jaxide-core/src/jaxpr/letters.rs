//! Names of variables: letters.

/// `number` in base 26 with the digits a to z: `a`, ..., `z`, `ba`, ..., `zz`, `baa`.
pub(super) fn letters(mut number: usize) -> String {
    let mut reversed = Vec::new();
    loop {
        reversed.push(b'a' + (number % 26) as u8);
        number /= 26;
        if number == 0 {
            break;
        }
    }
    reversed
        .iter()
        .rev()
        .map(|&digit| char::from(digit))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn names_count_in_base_26() {
        let text: Vec<_> = [0, 25, 26, 51, 675, 676].map(letters).into();
        assert_eq!(text, ["a", "z", "ba", "bz", "zz", "baa"]);
    }
}
