//! Static libraries of one object: what linkers call `ar` archives, with the index of symbols that GNU's wants.

/// What stands in front of a member.
fn header(name: &str, size: usize) -> Vec<u8> {
    // Name, time, owner, group, mode and size, padded with blanks.
    format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644).into_bytes()
}

/// A library of one object, which defines `symbol`.
pub(crate) fn archive(symbol: &str, object: &[u8]) -> Vec<u8> {
    const MAGIC: &[u8] = b"!<arch>\n";
    let index_size = 4 + 4 + symbol.len() + 1;
    let padding = index_size % 2;
    let index_header = header("/", index_size + padding);
    let object_at = MAGIC.len() + index_header.len() + index_size + padding;
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_be_bytes();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(index_header);
    bytes.extend(number(1));
    bytes.extend(number(object_at));
    bytes.extend(symbol.bytes());
    bytes.extend(vec![0; 1 + padding]);
    bytes.extend(header("program.o/", object.len()));
    bytes.extend(object);
    if object.len() % 2 == 1 {
        bytes.push(b'\n');
    }
    bytes
}
