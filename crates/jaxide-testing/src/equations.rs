//! Programs of one equation, over all primitives: the equations of the samples, with element types, lengths and
//! parameters changed at random. What is not legal any more is left out, so that what stays is what `check` accepts.

use std::collections::{BTreeMap, BTreeSet};

use jaxide_core::{
    Atom, AvalKind, Builder, ClosedJaxpr, DType, Jaxpr, Prim, VarMap, check, cost, parse,
};

use crate::random::Random;
use crate::samples::samples;

/// The texts of programs of one equation, by the name of their primitive.
pub struct Equations(Vec<(String, Vec<String>)>);

/// More elements than this are in no array of a program.
const MOST_ELEMENTS: usize = 3000;
/// So much work is not in a program.
const MOST_WORK: u64 = 1_000_000;

/// Primitives that no sample has.
const OTHERS: &[&str] = &[
    "{ lambda ; a:f32[3]. let b:f32[3] = copy_p a in (b,) }",
    "{ lambda ; a:f32[1,3]. let b:f32[2,3] = broadcast_to[shape=(2, 3)] a in (b,) }",
    "{ lambda ; a:f32[4,3]. let b:f32[4,3] c:f32[3] = geqrf a in (b, c) }",
    "{ lambda ; a:f32[4,3] b:i32[3]. let c:f32[4,3] d:i32[3] e:f32[3] = geqp3[use_magma=None] a b in (c, d, e) }",
    "{ lambda ; . let a:u32[2,3] b:u32[2,3] = iota_2x32_shape[shape=(2, 3)]  in (a, b) }",
    "{ lambda ; a:u32[5] b:u32[5] c:u32[5]. let d:u32[5] e:u32[5] = philox2x32 a b c in (d, e) }",
    "{ lambda ; a:u32[5] b:u32[5] c:u32[5] d:u32[5] e:u32[5] f:u32[5]. let
        g:u32[5] h:u32[5] i:u32[5] j:u32[5] = philox4x32 a b c d e f in (g, h, i, j) }",
    "{ lambda ; a:u32[5] b:u32[5] c:u32[5] d:u32[5] e:u32[5] f:u32[5] g:u32[5] h:u32[5]. let
        i:u32[5] j:u32[5] k:u32[5] l:u32[5] = threefry4x32 a b c d e f g h in (i, j, k, l) }",
    "{ lambda ; a:f32[3]. let
        b:f32[3] = closed_call[call_jaxpr={ lambda ; c:f32[3]. let d:f32[3] = neg c in (d,) }] a
      in (b,) }",
];

impl Equations {
    /// Those of the samples, and some of primitives that no sample has. Loops whose number of turns is not part of the text are not among them: changed ones may
    /// never end.
    ///
    /// # Panics
    /// When the samples cannot be read.
    pub fn of_samples() -> Self {
        let mut texts = BTreeMap::<String, BTreeSet<String>>::new();
        for sample in samples() {
            collect(&sample.jaxpr.jaxpr, &mut texts);
        }
        for text in OTHERS {
            collect(&parse(text).expect("a text").jaxpr, &mut texts);
        }
        let listed = |(name, texts): (String, BTreeSet<String>)| (name, Vec::from_iter(texts));
        Equations(texts.into_iter().map(listed).collect())
    }

    /// The names of the primitives.
    pub fn primitives(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The program that belongs to `seed`: every primitive is as likely, and so is every equation of it. `None` where the
    /// changes made it illegal or large.
    pub fn draw(&self, seed: u64) -> Option<ClosedJaxpr> {
        let mut stream = Random(seed);
        let (_, texts) = &self.0[stream.below(self.0.len())];
        let mut text = texts[stream.below(texts.len())].clone();
        for _ in 0..stream.below(5) {
            text = changed(&text, &mut stream);
        }
        legal(&parse(&text).ok()?)
    }
}

fn collect(jaxpr: &Jaxpr, texts: &mut BTreeMap<String, BTreeSet<String>>) {
    for eqn in &jaxpr.eqns {
        eqn.prim.visit(&mut |sub| collect(&sub.jaxpr, texts));
        if loops(&eqn.prim) {
            continue;
        }
        let b = Builder::new();
        let mut known = VarMap::new();
        let operands: Vec<Atom> = (eqn.inputs.iter())
            .map(|&atom| match atom {
                Atom::Lit(_) => atom,
                Atom::Var(var) => *(known.entry(var).expect("a variable"))
                    .or_insert_with(|| b.input(jaxpr.aval(atom))),
            })
            .collect();
        let results: Vec<_> = eqn
            .outputs
            .iter()
            .map(|&var| jaxpr.aval(Atom::Var(var)))
            .collect();
        let arrays = (operands.iter().map(|&atom| b.aval(atom))).chain(results.iter().cloned());
        if arrays.into_iter().any(|aval| aval.kind != AvalKind::Array) {
            continue;
        }
        let results = b.push(eqn.prim.clone(), &operands, &results);
        let text = (b.finish(&results).expect("no mistake")).to_string();
        if text.len() < 4000 {
            texts
                .entry(eqn.prim.name().to_owned())
                .or_default()
                .insert(text);
        }
    }
}

/// Whether there is a loop inside whose number of turns depends on data.
fn loops(prim: &Prim) -> bool {
    let mut found = matches!(prim, Prim::While(_));
    prim.visit(&mut |sub| found |= sub.jaxpr.eqns.iter().any(|eqn| loops(&eqn.prim)));
    found
}

/// The words of a text, numbers and names, and what is between them.
fn words(text: &str) -> Vec<&str> {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest
            .find(|c| inside(c) != inside(first))
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

/// A text with one thing changed, in one place or everywhere: a type, a number or a truth value.
pub(crate) fn changed(text: &str, stream: &mut Random) -> String {
    const NUMBERS: [usize; 14] = [0, 1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 33, 64];
    let words = words(text);
    let number = |word: &str| word.parse::<usize>().ok();
    let of_type =
        |word: &str| DType::from_short_name(word).or_else(|| DType::from_numpy_name(word));
    let everywhere = !stream.next().is_multiple_of(3);
    let places: Vec<usize> = (0..words.len())
        .filter(|&k| {
            let word = words[k];
            number(word).is_some() || of_type(word).is_some() || matches!(word, "True" | "False")
        })
        .collect();
    let Some(&place) = places.get(stream.below(places.len().max(1))) else {
        return text.to_owned();
    };
    let word = words[place];
    // Numbers are changed in types alone, or in parameters too.
    let in_types = stream.next().is_multiple_of(2);
    let is_in_type = |k: usize| {
        let open = (0..k).rev().find(|&k| words[k].contains(['[', '(', '=']));
        open.is_some_and(|k| words[k] == "[" && k > 0 && of_type(words[k - 1]).is_some())
    };
    let here = is_in_type(place);
    let mut result: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let mut replace = |new: &dyn Fn(&str) -> Option<String>| {
        for &k in &places {
            let meant = k == place || everywhere && (!here || !in_types || is_in_type(k));
            if let Some(new) = meant.then(|| new(words[k])).flatten() {
                result[k] = new;
            }
        }
    };
    if let Some(old) = number(word) {
        let new = match stream.below(6) {
            0 => old + 1,
            1 => old.saturating_sub(1),
            2 => old * 2,
            _ => NUMBERS[stream.below(NUMBERS.len())],
        };
        let negative = !here && stream.next().is_multiple_of(8);
        let sign = if negative { "-" } else { "" };
        replace(&|word| (number(word) == Some(old)).then(|| format!("{sign}{new}")));
    } else if let Some(old) = of_type(word) {
        let new = DType::ALL[stream.below(DType::ALL.len())];
        replace(&|word| {
            if DType::from_short_name(word) == Some(old) {
                return Some(new.short_name().to_owned());
            }
            let named = DType::from_numpy_name(word) == Some(old);
            named.then(|| new.numpy_name().to_owned())
        });
    } else {
        let new = if word == "True" { "False" } else { "True" };
        result[place] = new.to_owned();
    }
    result.concat()
}

/// The program with the types that its equation gives, if it is legal and small.
fn legal(read: &ClosedJaxpr) -> Option<ClosedJaxpr> {
    let jaxpr = &read.jaxpr;
    let [eqn] = jaxpr.eqns.as_slice() else {
        return None;
    };
    let b = Builder::new();
    let mut known = VarMap::new();
    for &var in &jaxpr.invars {
        let aval = jaxpr.aval(Atom::Var(var));
        if aval.shape.iter().product::<usize>() > MOST_ELEMENTS {
            return None;
        }
        known.insert(var, b.input(aval));
    }
    let operands: Option<Vec<Atom>> = (eqn.inputs.iter())
        .map(|&atom| match atom {
            Atom::Lit(_) => Some(atom),
            Atom::Var(var) => known.get(var).copied(),
        })
        .collect();
    let operands = operands?;
    let avals: Vec<_> = operands.iter().map(|&atom| b.aval(atom)).collect();
    let results = eqn.prim.rules().abstract_eval(&avals).ok()?;
    let large = |shape: &[usize]| {
        let count = shape
            .iter()
            .try_fold(1usize, |n, &length| n.checked_mul(length));
        count.is_none_or(|count| count > MOST_ELEMENTS)
    };
    if results.len() > 100 || results.iter().any(|aval| large(&aval.shape)) {
        return None;
    }
    let results = b.push(eqn.prim.clone(), &operands, &results);
    let closed = b.finish(&results).ok()?;
    check(&closed).ok()?;
    let work = cost(&closed.jaxpr);
    (work.flops.saturating_add(work.transcendentals) <= MOST_WORK).then_some(closed)
}
