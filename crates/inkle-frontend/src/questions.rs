//! What a check asks of its environment, kept to be asked again: when all answers are what they were, so is the module that
//! the check makes, and neither source text need be lowered nor types inferred.
//!
//! Functions and objects go by the order in which they appeared, since their keys mean something in one process only.
//! What the checker asks of the library is not kept: it is part of the program that checks.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inkle_diag::{Diagnostic, Diagnostics, SourceFile};
use serde::{Deserialize, Serialize};

use crate::env::{
    Binding, ConstValue, Environment, FunctionKey, FunctionOutline, FunctionSource, LibraryFunction,
    ObjectKey, Rules,
};
use crate::tree::Expr;

/// A question to an [`Environment`]. Numbers are functions and objects in the order of their appearance; the kernel is
/// function 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Question {
    /// [`Environment::function`].
    Function(u32),
    /// [`Environment::gradients`].
    Gradients(u32),
    /// [`Environment::replays`].
    Replays(u32),
    /// [`Environment::resolve`].
    Resolve(u32, String),
    /// [`Environment::attribute`].
    Attribute(u32, String),
    /// [`Environment::member_attribute`].
    Member(u32, String, String),
    /// [`Environment::static_value`] of this text, without variables.
    Static(u32, String),
    /// [`Environment::struct_attribute`].
    OfStruct(u32, String, String),
}

/// The digest of the answers to questions: equal digests, equal answers.
pub type AnswersDigest = blake3::Hash;

/// The answers to questions so far.
struct Answers {
    functions: Vec<FunctionKey>,
    objects: Vec<ObjectKey>,
    /// Of the answer that is being given.
    hasher: blake3::Hasher,
    /// Of all answers.
    all: blake3::Hasher,
    buffer: String,
}

/// The place of a key among those that appeared, where it is put if it is new.
fn place<K: PartialEq>(known: &mut Vec<K>, key: K) -> u32 {
    let index = known.iter().position(|k| *k == key).unwrap_or_else(|| {
        known.push(key);
        known.len() - 1
    });
    index as u32
}

impl Answers {
    fn new(kernel: FunctionKey) -> Answers {
        Answers {
            functions: vec![kernel],
            objects: Vec::new(),
            hasher: blake3::Hasher::new(),
            all: blake3::Hasher::new(),
            buffer: String::new(),
        }
    }

    /// The digest of the answer that was given.
    fn given(&mut self) -> blake3::Hash {
        let digest = self.hasher.finalize();
        self.hasher.reset();
        digest
    }

    fn add(&mut self, digest: blake3::Hash) {
        self.all.update(digest.as_bytes());
    }

    fn function(&mut self, key: FunctionKey) -> u32 {
        place(&mut self.functions, key)
    }

    fn object(&mut self, key: ObjectKey) -> u32 {
        place(&mut self.objects, key)
    }

    fn text(&mut self, text: &str) {
        self.hasher.update(&(text.len() as u64).to_le_bytes());
        self.hasher.update(text.as_bytes());
    }

    /// What a thing's debug form says, which is all of it for everything that answers hold.
    fn shown(&mut self, shown: fmt::Arguments<'_>) {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        // Writing to a string does not fail.
        let _ = buffer.write_fmt(shown);
        self.text(&buffer);
        self.buffer = buffer;
    }

    fn binding(&mut self, binding: Option<&Binding>) {
        match binding {
            Some(Binding::Function(key)) => {
                let number = self.function(*key);
                self.shown(format_args!("function {number}"));
            }
            Some(Binding::Object(key)) => {
                let number = self.object(*key);
                self.shown(format_args!("object {number}"));
            }
            other => self.shown(format_args!("{other:?}")),
        }
    }

    fn outlines(&mut self, outlines: &[FunctionOutline]) {
        self.shown(format_args!("{}", outlines.len()));
        for outline in outlines {
            let number = self.function(outline.key);
            self.shown(format_args!("{number}"));
            self.text(&outline.name);
            self.hasher.update(outline.text.digest.as_bytes());
            for param in &outline.params {
                self.shown(format_args!("{:?} {}", param.pattern, param.by_reference));
                self.binding(param.default.as_ref());
            }
            self.shown(format_args!("{:?} {:?}", outline.returns, outline.native));
        }
    }
}

/// Asks the questions of a check again, of `kernel`, whose outlines are `own`, and `env` as they are now; the digest of the
/// answers. `None` when one cannot be asked or answered any more.
pub fn ask(
    env: &dyn Environment,
    kernel: FunctionKey,
    own: &[FunctionOutline],
    questions: &[Question],
) -> Option<AnswersDigest> {
    let mut answers = Answers::new(kernel);
    let mut complete = Some(());
    // One after another, in whatever it costs to get at the environment once.
    env.together(&mut || complete = questions.iter().try_for_each(|q| ask_one(env, &mut answers, own, q)));
    complete.map(|()| answers.all.finalize())
}

fn ask_one(
    env: &dyn Environment,
    answers: &mut Answers,
    own: &[FunctionOutline],
    question: &Question,
) -> Option<()> {
    let function = |answers: &Answers, number: u32| answers.functions.get(number as usize).copied();
    let object = |answers: &Answers, number: u32| answers.objects.get(number as usize).copied();
    let outline = |sources: Vec<Arc<FunctionSource>>| -> Option<Vec<FunctionOutline>> {
        sources.iter().map(|s| env.outline(s)).collect()
    };
    match question {
        Question::Function(0) => answers.outlines(own),
        Question::Function(f) => {
            let outlines = env.outlines(function(answers, *f)?)?;
            answers.outlines(&outlines);
        }
        Question::Gradients(f) => {
            let outlines = outline(env.gradients(function(answers, *f)?).ok()?)?;
            answers.outlines(&outlines);
        }
        Question::Replays(f) => {
            let outlines = outline(env.replays(function(answers, *f)?).ok()?)?;
            answers.outlines(&outlines);
        }
        Question::Resolve(f, name) => {
            let binding = env.resolve(function(answers, *f)?, name);
            answers.binding(binding.as_ref());
        }
        Question::Attribute(o, name) => {
            let binding = env.attribute(object(answers, *o)?, name);
            answers.binding(binding.as_ref());
        }
        Question::Member(o, member, name) => {
            let binding = env.member_attribute(object(answers, *o)?, member, name);
            answers.binding(binding.as_ref());
        }
        Question::Static(f, text) => {
            let binding = env.static_text(function(answers, *f)?, text).ok()?;
            answers.binding(Some(&binding));
        }
        Question::OfStruct(f, structure, name) => {
            let binding = env.struct_attribute(function(answers, *f)?, structure, name);
            answers.binding(binding.as_ref());
        }
    }
    let digest = answers.given();
    answers.add(digest);
    Some(())
}

/// An environment that keeps what is asked of another one, for a check that succeeds.
pub struct Recorder<'e> {
    env: &'e dyn Environment,
    state: Mutex<State>,
}

struct State {
    questions: Vec<Question>,
    answers: Answers,
    /// The answers by question: most questions are asked many times.
    known: HashMap<Question, blake3::Hash>,
    /// Whether everything asked can be asked again.
    complete: bool,
}

impl State {
    /// Notes a question whose answer was given.
    fn note(&mut self, question: Question) {
        let digest = self.answers.given();
        match self.known.get(&question) {
            // Somebody changes the program while it is checked.
            Some(before) if *before != digest => self.complete = false,
            Some(_) => {}
            None => {
                self.answers.add(digest);
                self.known.insert(question.clone(), digest);
                self.questions.push(question);
            }
        }
    }
}

impl<'e> Recorder<'e> {
    /// Keeps what a check of `kernel` asks of `env`.
    pub fn new(env: &'e dyn Environment, kernel: FunctionKey) -> Recorder<'e> {
        let state = State {
            questions: Vec::new(),
            answers: Answers::new(kernel),
            known: HashMap::new(),
            complete: true,
        };
        Recorder { env, state: Mutex::new(state) }
    }

    /// What was asked, with the digest of the answers; `None` when not all of it can be asked again, or the kernel is one
    /// that each process is to be warned of.
    pub fn finish(self) -> Option<(Vec<Question>, AnswersDigest)> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.complete.then(|| (state.questions, state.answers.all.finalize()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn incomplete(&self) {
        self.state().complete = false;
    }

    fn sources(
        &self,
        question: impl FnOnce(u32) -> Question,
        key: FunctionKey,
        outlines: Option<Vec<FunctionOutline>>,
    ) {
        let mut state = self.state();
        let Some(outlines) = outlines else {
            state.complete = false;
            return;
        };
        let number = state.answers.function(key);
        state.answers.outlines(&outlines);
        state.note(question(number));
    }

    fn about_function(
        &self,
        question: impl FnOnce(u32) -> Question,
        function: FunctionKey,
        binding: Option<&Binding>,
    ) {
        let mut state = self.state();
        let number = state.answers.function(function);
        state.answers.binding(binding);
        state.note(question(number));
    }

    fn about_object(
        &self,
        question: impl FnOnce(u32) -> Question,
        object: ObjectKey,
        binding: Option<&Binding>,
    ) {
        let mut state = self.state();
        let number = state.answers.object(object);
        state.answers.binding(binding);
        state.note(question(number));
    }
}

impl Recorder<'_> {
    fn outlines(
        &self,
        given: &Result<Vec<Arc<FunctionSource>>, Diagnostics>,
    ) -> Option<Vec<FunctionOutline>> {
        given.as_ref().ok()?.iter().map(|source| self.env.outline(source)).collect()
    }
}

impl Environment for Recorder<'_> {
    fn rules(&self) -> Rules {
        self.env.rules()
    }

    fn function(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        let given = self.env.function(key);
        // As they are asked for later.
        let outlines = if given.is_ok() { self.env.outlines(key) } else { None };
        self.sources(Question::Function, key, outlines);
        given
    }

    fn gradients(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        let given = self.env.gradients(key);
        self.sources(Question::Gradients, key, self.outlines(&given));
        given
    }

    fn replays(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        let given = self.env.replays(key);
        self.sources(Question::Replays, key, self.outlines(&given));
        given
    }

    fn resolve(&self, function: FunctionKey, name: &str) -> Option<Binding> {
        let binding = self.env.resolve(function, name);
        self.about_function(|f| Question::Resolve(f, name.to_owned()), function, binding.as_ref());
        binding
    }

    fn struct_attribute(&self, function: FunctionKey, structure: &str, name: &str) -> Option<Binding> {
        let binding = self.env.struct_attribute(function, structure, name);
        let question = |f| Question::OfStruct(f, structure.to_owned(), name.to_owned());
        self.about_function(question, function, binding.as_ref());
        binding
    }

    fn attribute(&self, object: ObjectKey, name: &str) -> Option<Binding> {
        let binding = self.env.attribute(object, name);
        self.about_object(|o| Question::Attribute(o, name.to_owned()), object, binding.as_ref());
        binding
    }

    fn member_attribute(&self, object: ObjectKey, member: &str, name: &str) -> Option<Binding> {
        let binding = self.env.member_attribute(object, member, name);
        let question = |o| Question::Member(o, member.to_owned(), name.to_owned());
        self.about_object(question, object, binding.as_ref());
        binding
    }

    fn describe(&self, object: ObjectKey) -> String {
        self.incomplete();
        self.env.describe(object)
    }

    fn static_value(
        &self,
        function: FunctionKey,
        expr: &Expr,
        locals: &[(String, ConstValue)],
    ) -> Result<Binding, String> {
        let value = self.env.static_value(function, expr, locals);
        let text = SourceFile::get(expr.span.file)
            .and_then(|f| f.text().get(expr.span.start as usize..expr.span.end as usize).map(str::to_owned));
        let mut state = self.state();
        match (&value, text) {
            // A name that is part of another one, or of a text, counts too.
            (Ok(binding), Some(text)) if !locals.iter().any(|(name, _)| text.contains(name.as_str())) => {
                let number = state.answers.function(function);
                state.answers.binding(Some(binding));
                state.note(Question::Static(number, text));
            }
            _ => state.complete = false,
        }
        drop(state);
        value
    }

    fn library(&self, name: &str) -> Vec<LibraryFunction> {
        self.env.library(name)
    }

    fn library_names(&self) -> Vec<String> {
        self.incomplete();
        self.env.library_names()
    }

    fn warn(&self, warning: Diagnostic) {
        self.incomplete();
        self.env.warn(warning);
    }

    fn visible_names(&self, function: FunctionKey) -> Vec<String> {
        self.incomplete();
        self.env.visible_names(function)
    }
}
