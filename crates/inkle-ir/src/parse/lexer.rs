//! Splits text into tokens.

use std::borrow::Cow;
use std::fmt;

use super::{Fail, Parsed};
use crate::print::is_function_name_byte;

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token<'t> {
    /// A keyword or plain name.
    Word(&'t str),
    /// `%name`, without the sigil.
    Value(&'t str),
    /// `@name` or `@"name"`, without sigil and quotes.
    Global(Cow<'t, str>),
    /// `@#3`.
    GlobalIndex(u32),
    /// A number as written, or `-inf`.
    Number(&'t str),
    /// A string, unescaped.
    String(String),
    Punct(&'static str),
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Number(text) => write!(f, "`{text}`"),
            Token::Value(name) => write!(f, "`%{name}`"),
            Token::Global(name) => write!(f, "`@{name}`"),
            Token::GlobalIndex(index) => write!(f, "`@#{index}`"),
            Token::String(_) => f.write_str("a string"),
            Token::Punct(text) => write!(f, "`{text}`"),
            Token::End => f.write_str("the end"),
        }
    }
}

#[derive(Clone)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fail<T>(&self, at: usize, message: impl Into<String>) -> Parsed<T> {
        Err(Fail { at, message: message.into() })
    }

    /// Takes the bytes that `is` accepts. They are ASCII, so the cut lies between characters.
    fn run(&mut self, is: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii() && is(b)) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// The next token and where it starts.
    pub(super) fn next(&mut self) -> Parsed<(usize, Token<'t>)> {
        loop {
            self.run(|b| b.is_ascii_whitespace());
            if self.peek() != Some(b';') {
                break;
            }
            let rest = &self.text[self.at..];
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
        let start = self.at;
        let Some(first) = self.peek() else { return Ok((start, Token::End)) };
        let token = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                Token::Word(self.run(|b| b.is_ascii_alphanumeric() || b == b'_'))
            }
            b'%' => {
                self.at += 1;
                let name = self.run(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
                if name.is_empty() {
                    return self.fail(start, "`%` needs a name");
                }
                Token::Value(name)
            }
            b'@' => {
                self.at += 1;
                self.global(start)?
            }
            b'"' => Token::String(self.string()?),
            b'0'..=b'9' => self.number(start),
            b'-' => {
                self.at += 1;
                match self.peek() {
                    Some(b'>') => {
                        self.at += 1;
                        Token::Punct("->")
                    }
                    Some(b'0'..=b'9' | b'i') => self.number(start),
                    _ => return self.fail(start, "`-` needs a number"),
                }
            }
            _ => {
                let all = ["{", "}", "(", ")", "<", ">", ",", ":", "="];
                let Some(found) = all.into_iter().find(|p| p.as_bytes()[0] == first) else {
                    let c = self.text[start..].chars().next().unwrap_or_default();
                    return self.fail(start, format!("unexpected character {c:?}"));
                };
                self.at += 1;
                Token::Punct(found)
            }
        };
        Ok((start, token))
    }

    fn global(&mut self, start: usize) -> Parsed<Token<'t>> {
        match self.peek() {
            Some(b'"') => Ok(Token::Global(self.string()?.into())),
            Some(b'#') => {
                self.at += 1;
                match self.run(|b| b.is_ascii_digit()).parse::<u32>() {
                    // Ids are one less than 2^32 at most.
                    Ok(index) if index < u32::MAX => Ok(Token::GlobalIndex(index)),
                    _ => self.fail(start, "`@#` needs a function's index"),
                }
            }
            _ => match self.run(is_function_name_byte) {
                "" => self.fail(start, "`@` needs a name"),
                name => Ok(Token::Global(name.into())),
            },
        }
    }

    /// The rest of a number whose sign, if any, was taken.
    fn number(&mut self, start: usize) -> Token<'t> {
        let digits = self.at;
        loop {
            self.run(|b| b.is_ascii_alphanumeric() || b == b'.');
            let taken = &self.text[digits..self.at];
            let exponent = taken.ends_with(['e', 'E']) && !taken.starts_with("0x");
            if exponent && matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            } else {
                return Token::Number(&self.text[start..self.at]);
            }
        }
    }

    /// A string whose opening quote is next.
    fn string(&mut self) -> Parsed<String> {
        let start = self.at;
        let mut text = String::new();
        let mut chars = self.text[start + 1..].char_indices();
        while let Some((offset, c)) = chars.next() {
            let at = start + 1 + offset;
            match c {
                '"' => {
                    self.at = at + 1;
                    return Ok(text);
                }
                '\n' => break,
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some('r') => text.push('\r'),
                    Some('t') => text.push('\t'),
                    Some(c @ ('"' | '\\')) => text.push(c),
                    Some('u') => {
                        let rest = chars.as_str();
                        let code = rest
                            .strip_prefix('{')
                            .and_then(|r| r.split_once('}'))
                            .filter(|(hex, _)| hex.bytes().all(|b| b.is_ascii_hexdigit()))
                            .and_then(|(hex, _)| Some((hex.len(), u32::from_str_radix(hex, 16).ok()?)));
                        let Some((length, Some(c))) = code.map(|(l, code)| (l, char::from_u32(code))) else {
                            return self.fail(at, "`\\u` needs a character's number, as in `\\u{1b}`");
                        };
                        text.push(c);
                        // The digits and both braces.
                        chars.nth(length + 1);
                    }
                    _ => return self.fail(at, "unknown escape; there are \\\" \\\\ \\n \\r \\t and \\u{..}"),
                },
                c => text.push(c),
            }
        }
        self.fail(start, "the string does not end on its line")
    }
}
