//! Accidents of Python's `repr`: what the text of a value tells of the run that printed it.

/// `np.int64(n)` becomes `n`, for every integer type.
pub(super) fn plain_integers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("np.") {
        let (before, found) = rest.split_at(start);
        out.push_str(before);
        match numpy_integer(found) {
            Some((number, length)) => {
                out.push_str(number);
                rest = &found[length..];
            }
            None => {
                out.push_str("np.");
                rest = &found["np.".len()..];
            }
        }
    }
    out + rest
}

/// The number in `np.int64(n)` at the start, and the length of the whole.
fn numpy_integer(text: &str) -> Option<(&str, usize)> {
    let word = text.strip_prefix("np.")?;
    let bits = word
        .strip_prefix("int")
        .or_else(|| word.strip_prefix("uint"))?;
    let open = bits.find(|c: char| !c.is_ascii_digit())?;
    let inside = bits[open..].strip_prefix('(')?;
    let sign = usize::from(inside.starts_with('-'));
    let digits = inside[sign..]
        .bytes()
        .take_while(u8::is_ascii_digit)
        .count();
    let number = &inside[..sign + digits];
    let after = inside[number.len()..].strip_prefix(')')?;
    (digits > 0).then_some((number, text.len() - after.len()))
}

/// `<function f at 0x7f...>` becomes `<f>`.
pub(super) fn plain_functions(text: &str) -> String {
    const FUNCTION: &str = "<function ";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(FUNCTION) {
        out.push_str(&rest[..start]);
        let inside = &rest[start + FUNCTION.len()..];
        let end = inside.find(['\n', ' ']).unwrap_or(inside.len());
        match address(&inside[end..]) {
            Some(length) => {
                out.push('<');
                out.push_str(&inside[..end]);
                out.push('>');
                rest = &inside[end + length..];
            }
            None => {
                out.push_str(FUNCTION);
                rest = inside;
            }
        }
    }
    out + rest
}

/// The length of ` at 0x7f...>` at the start.
fn address(text: &str) -> Option<usize> {
    let digits = text.strip_prefix(" at 0x")?;
    let count = digits
        .bytes()
        .take_while(|&byte| byte.is_ascii_hexdigit() || byte == b'X')
        .count();
    let after = digits[count..].strip_prefix('>')?;
    (count > 0).then_some(text.len() - after.len())
}

/// `<module.Class object at 0x7f...>` becomes `<module.Class>`.
pub(super) fn plain_addresses(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(" at 0x") {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        match address(found) {
            Some(length) => {
                if out.ends_with(" object") {
                    out.truncate(out.len() - " object".len());
                }
                out.push('>');
                rest = &found[length..];
            }
            None => {
                out.push_str(" at 0x");
                rest = &found[" at 0x".len()..];
            }
        }
    }
    out + rest
}
