//! Reads types and struct declarations.

use super::lexer::Token;
use super::{Fail, Parsed, Reader};
use crate::types::{ArrayKind, Field, Scalar, Type};

/// Types nested deeper than this are refused: reading them would need as much stack.
const MAX_TYPE_NESTING: usize = 64;

/// The most scalars, arrays and refs a struct may hold, counted through the structs in it. Comparing and hashing a
/// struct type visits each, so a chain of structs that doubles at each step must end somewhere.
const MAX_STRUCT_PARTS: usize = 1 << 12;

pub(super) struct Declared {
    ty: Type,
    parts: usize,
}

impl Reader<'_> {
    /// `struct Name { field: T, ... }`.
    pub(super) fn declaration(&mut self) -> Parsed<()> {
        self.advance()?;
        let at = self.at;
        let name = self.name("the struct's name")?;
        self.expect("{")?;
        let mut fields = Vec::new();
        let mut parts = 1;
        while self.token != Token::Punct("}") {
            if !fields.is_empty() {
                self.expect(",")?;
            }
            let name = self.name("a field's name")?;
            self.expect(":")?;
            let ty = self.ty()?;
            parts += self.parts(ty);
            if parts > MAX_STRUCT_PARTS {
                return Err(Fail {
                    at,
                    message: format!("the struct has more than {MAX_STRUCT_PARTS} parts"),
                });
            }
            fields.push(Field { name, ty });
        }
        self.expect("}")?;
        let declared = Declared { ty: Type::structure(name.clone(), fields), parts };
        if self.structs.insert(name.clone(), declared).is_some() {
            return Err(Fail { at, message: format!("struct `{name}` is declared twice") });
        }
        Ok(())
    }

    fn parts(&self, ty: Type) -> usize {
        match ty {
            Type::Struct(s) => self.structs.get(&s.name).map_or(1, |d| d.parts),
            Type::Array(a) => 1 + self.parts(a.elem),
            Type::Ref(t) => 1 + self.parts(*t),
            _ => 1,
        }
    }

    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.nested_ty(0)
    }

    fn nested_ty(&mut self, depth: usize) -> Parsed<Type> {
        if depth > MAX_TYPE_NESTING {
            return self.fail(format!("the type is nested more than {MAX_TYPE_NESTING} deep"));
        }
        let Token::Word(word) = self.token else { return self.expected("a type") };
        let at = self.at;
        self.advance()?;
        if let Some(scalar) = Scalar::from_name(word) {
            return Ok(Type::Scalar(scalar));
        }
        if word == "struct" {
            let at = self.at;
            let name = self.name("the struct's name")?;
            return match self.structs.get(&name) {
                Some(declared) => Ok(declared.ty),
                None => Err(Fail { at, message: format!("struct `{name}` is not declared above") }),
            };
        }
        let kind = ArrayKind::from_name(word);
        if kind.is_none() && !matches!(word, "vec" | "mat" | "quat" | "transform" | "ref") {
            return Err(Fail { at, message: format!("`{word}` is not a type") });
        }
        self.expect("<")?;
        let ty = match word {
            "vec" => {
                let len = self.index()?;
                self.expect(",")?;
                Type::vec(len, self.scalar()?)
            }
            "mat" => {
                let Token::Number(shape) = self.token else { return self.expected("a shape such as `2x3`") };
                let Some((rows, cols)) =
                    shape.split_once('x').and_then(|(r, c)| Some((r.parse().ok()?, c.parse().ok()?)))
                else {
                    return self.expected("a shape such as `2x3`");
                };
                self.advance()?;
                self.expect(",")?;
                Type::mat(rows, cols, self.scalar()?)
            }
            "quat" => Type::Quat(self.scalar()?),
            "transform" => Type::Transform(self.scalar()?),
            "ref" => Type::reference(self.nested_ty(depth + 1)?),
            _ => {
                let elem = self.nested_ty(depth + 1)?;
                self.expect(",")?;
                let kind = kind.expect("no other word got here");
                Type::array_of_kind(elem, self.index()?, kind)
            }
        };
        self.expect(">")?;
        Ok(ty)
    }

    fn scalar(&mut self) -> Parsed<Scalar> {
        if let Token::Word(word) = self.token
            && let Some(scalar) = Scalar::from_name(word)
        {
            self.advance()?;
            return Ok(scalar);
        }
        self.expected("a scalar type")
    }
}
