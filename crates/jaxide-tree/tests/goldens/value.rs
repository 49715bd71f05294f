//! Python values as trees.

use std::fmt::{self, Debug, Display};
use std::sync::Arc;

use jaxide_tree::{
    ChildKeys, Head, Key, KeyEntry, NodeStyle, NodeType, StaticValue, StructureError, Tree,
};
use serde_json::Value as Json;

/// A leaf. `None` is one by the rules of nest only.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Array { shape: Vec<usize>, dtype: String },
    Object(String),
}

impl Value {
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::None => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::Array { .. } => "Array",
            Value::Object(_) => "object",
        }
    }

    pub(crate) fn truth(&self) -> bool {
        match self {
            Value::None => false,
            Value::Bool(b) => *b,
            Value::Int(i) => *i != 0,
            Value::Float(x) => *x != 0.0,
            Value::Str(s) => !s.is_empty(),
            Value::Array { .. } | Value::Object(_) => true,
        }
    }

    pub(crate) fn int(&self) -> i64 {
        match self {
            Value::Int(i) => *i,
            other => panic!("{other:?} is not an int"),
        }
    }

    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Value::Array { shape, .. } => shape,
            other => panic!("{other:?} is not an array"),
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => f.write_str("None"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Float(x) => write!(f, "{x}"),
            Value::Str(s) | Value::Object(s) => write!(f, "{s}"),
            Value::Array { shape, dtype } => write!(f, "{dtype}{shape:?}"),
        }
    }
}

/// What `None` is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Nones {
    Nodes,
    Leaves,
}

/// The value as a tree. The error is that of keys without an order.
pub(crate) fn decode(json: &Json, nones: Nones) -> Result<Tree<Value>, StructureError> {
    let (tag, payload) = json
        .as_object()
        .and_then(|o| o.iter().next())
        .expect("a tagged value");
    let many = |json: &Json| {
        list(json)
            .iter()
            .map(|v| decode(v, nones))
            .collect::<Result<Vec<_>, _>>()
    };
    let items = |json: &Json| {
        list(json)
            .iter()
            .map(|i| Ok((key(&i[0]), decode(&i[1], nones)?)))
            .collect::<Result<Vec<_>, _>>()
    };
    let fields = |json: &Json| {
        list(json)
            .iter()
            .map(|i| Ok((text(&i[0]), decode(&i[1], nones)?)))
            .collect::<Result<Vec<_>, _>>()
    };
    let text_of = |name: &str| text(&payload[name]);
    Ok(match tag.as_str() {
        "int" => Tree::Leaf(Value::Int(payload.as_i64().expect("an int"))),
        "float" => Tree::Leaf(Value::Float(payload.as_f64().expect("a float"))),
        "bool" => Tree::Leaf(Value::Bool(payload.as_bool().expect("a bool"))),
        "str" => Tree::Leaf(Value::Str(text(payload))),
        "array" => {
            let shape = list(&payload["shape"])
                .iter()
                .map(|n| n.as_u64().expect("a size") as usize);
            Tree::Leaf(Value::Array {
                shape: shape.collect(),
                dtype: text_of("dtype"),
            })
        }
        "object" => Tree::Leaf(Value::Object(text(payload))),
        "none" if nones == Nones::Leaves => Tree::Leaf(Value::None),
        "none" => Tree::none(),
        "tuple" => Tree::tuple(many(payload)?),
        "list" => Tree::list(many(payload)?),
        "dict" => Tree::dict(items(payload)?)?,
        "odict" => Tree::ordered_dict(items(payload)?),
        "defaultdict" => {
            // A dict first, for the order of its keys.
            let dict = Tree::dict(items(&payload["items"])?)?;
            let Some(Head::Dict(keys)) = dict.head() else {
                unreachable!("it is a dict")
            };
            let children = ChildKeys::Items(keys.to_vec().into());
            let ty = NodeType::dynamic("defaultdict", "collections", NodeStyle::Custom, children);
            let aux = Factory {
                factory: text_of("factory"),
                keys: Key::Tuple(keys.to_vec().into()),
            };
            Tree::node(
                Head::dynamic(ty, vec![Arc::new(aux)]),
                dict.children().iter().cloned(),
            )
        }
        "namedtuple" => record(
            text_of("type"),
            NodeStyle::NamedTuple,
            fields(&payload["fields"])?,
            Vec::new(),
        ),
        "dataclass" => {
            let statics = list(&payload["meta"])
                .iter()
                .map(|i| aux(&i[1]).expect("not null"))
                .collect();
            record(
                text_of("type"),
                NodeStyle::Struct,
                fields(&payload["data"])?,
                statics,
            )
        }
        "custom" => {
            let (name, children) = (text_of("type"), many(&payload["children"])?);
            let keys = match name.as_str() {
                "Keyed" => ChildKeys::Attrs(["x".into(), "y".into()].to_vec().into()),
                "Table" => ChildKeys::Items(["left".into(), "right".into()].to_vec().into()),
                "Stack" => ChildKeys::Seq,
                "Special" | "Tagged" | "MyTree" => ChildKeys::Flat,
                other => panic!("unknown type {other}"),
            };
            let ty = NodeType::dynamic(name, "__main__", NodeStyle::Custom, keys);
            Tree::node(
                Head::dynamic(ty, aux(&payload["aux"]).into_iter().collect()),
                children,
            )
        }
        other => panic!("unknown tag {other}"),
    })
}

/// The leaf of a tree that is one.
pub(crate) fn leaf(tree: Tree<Value>) -> Value {
    tree.as_leaf().expect("a leaf").clone()
}

pub(crate) fn key(json: &Json) -> Key {
    match json {
        Json::String(s) => Key::from(s.clone()),
        Json::Number(i) => Key::from(i.as_i64().expect("an int")),
        Json::Object(o) => match o.iter().next().expect("a tagged key") {
            (tag, Json::Bool(b)) if tag == "bool" => Key::Bool(*b),
            (tag, Json::Array(keys)) if tag == "tuple" => {
                Key::Tuple(keys.iter().map(key).collect())
            }
            other => panic!("unknown key {other:?}"),
        },
        other => panic!("unknown key {other}"),
    }
}

pub(crate) fn entry(json: &Json) -> KeyEntry {
    let (tag, payload) = json
        .as_object()
        .and_then(|o| o.iter().next())
        .expect("a tagged entry");
    let index = || payload.as_u64().expect("an index") as usize;
    match tag.as_str() {
        "seq" => KeyEntry::Seq(index()),
        "dict" => KeyEntry::Dict(key(payload)),
        "attr" => KeyEntry::Attr(text(payload).into()),
        "flat" => KeyEntry::Flat(index()),
        other => panic!("unknown entry {other}"),
    }
}

pub(crate) fn list(json: &Json) -> &[Json] {
    json.as_array()
        .unwrap_or_else(|| panic!("{json} is not a list"))
}

pub(crate) fn text(json: &Json) -> String {
    json.as_str()
        .unwrap_or_else(|| panic!("{json} is not a string"))
        .to_string()
}

fn record(
    name: String,
    style: NodeStyle,
    fields: Vec<(String, Tree<Value>)>,
    statics: Vec<Arc<dyn StaticValue>>,
) -> Tree<Value> {
    let (names, children): (Vec<_>, Vec<_>) = fields
        .into_iter()
        .map(|(name, child)| (name.into(), child))
        .unzip();
    let ty = NodeType::dynamic(name, "__main__", style, ChildKeys::Attrs(names.into()));
    Tree::node(Head::dynamic(ty, statics), children)
}

/// Static data; nothing, for null.
fn aux(json: &Json) -> Option<Arc<dyn StaticValue>> {
    Some(match json {
        Json::Null => return None,
        Json::String(s) => Arc::new(s.clone()),
        Json::Number(i) => Arc::new(i.as_i64().expect("an int")),
        tuple => Arc::new(key(tuple)),
    })
}

/// The static data of a `defaultdict`.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Factory {
    factory: String,
    keys: Key,
}

impl Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(<class '{}'>, {})", self.factory, self.keys)
    }
}
