//! Kernels that are known without a check.
//!
//! What a check asks of its environment is kept with the IR that it made ([`inkle_frontend::questions`]). Later the questions
//! are asked again; when every answer is what it was, the IR is what it was, and neither lowering nor typing is done. That is
//! how a process finds its kernels in the cache on disk, and how a kernel that is defined again is the one that is loaded.
//!
//! The first thing asked is the text of the kernel. Its digest, with the argument types, the checker's options and the
//! checker itself, is the *root*; a file under it lists the lists of questions that such kernels have led to, with the IR for
//! the answers that came first. IR for other answers lies under a key of its own, so that factories may make as many kernels
//! of one text as they like.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use inkle_codegen::Options;
use inkle_diag::trace::{self, Stage};
use inkle_frontend::CheckOptions;
use inkle_frontend::env::{Environment, FunctionKey, FunctionOutline};
use inkle_frontend::questions::{AnswersDigest, Question, Recorder, ask};
use inkle_ir::{Param, Type};
use serde::{Deserialize, Serialize};

use crate::cache;
use crate::error::CompileError;
use crate::kernel::{BodyText, Kernel, KernelIr};

/// What makes IR: the sources of the checker and of the passes after it.
const FRONT_END: &str = env!("INKLE_FRONT_END");

/// The most lists of questions that are kept of one text: which questions there are depends on the answers.
const MOST_LISTS: usize = 8;
/// The most kernels of one text that are kept in memory.
const MOST_KERNELS: usize = 64;

/// What lies under a root.
#[derive(Serialize, Deserialize)]
struct Known {
    lists: Vec<Vec<Question>>,
    /// The answers to the first list that came first, and their IR.
    answers: [u8; 32],
    first: BodyText,
}

/// A kernel that this process knows.
struct InMemory {
    questions: Arc<[Question]>,
    answers: AnswersDigest,
    kernel: Arc<Kernel>,
}

fn in_memory() -> MutexGuard<'static, HashMap<blake3::Hash, Vec<InMemory>>> {
    static KERNELS: OnceLock<Mutex<HashMap<blake3::Hash, Vec<InMemory>>>> = OnceLock::new();
    KERNELS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

static RECALLING: AtomicBool = AtomicBool::new(true);

/// Whether [`obtain`] may give kernels without a check; it may unless this was called. Such IR lacks the places where it was
/// written, which tools want to show.
pub fn recall_kernels(wanted: bool) {
    RECALLING.store(wanted, Ordering::Relaxed);
}

/// Forgets the kernels that this process knows.
pub(crate) fn forget() {
    in_memory().clear();
}

/// The kernel `key` for arguments of the types `args`: one that is known, or else checked now. `options` are those that it is
/// to be compiled with, which say whether the places in the source matter.
///
/// # Errors
/// [`CompileError::Rejected`] with every mistake in the kernel.
pub fn obtain(
    env: &dyn Environment,
    key: FunctionKey,
    args: &[Type],
    check: CheckOptions,
    options: &Options,
) -> Result<Arc<Kernel>, CompileError> {
    let recalling = RECALLING.load(Ordering::Relaxed) && !options.uses_places();
    let Some(own) = recalling.then(|| env.outlines(key)).flatten().filter(|own| !own.is_empty()) else {
        return KernelIr::build(env, key, args, check).map(|ir| Arc::new(Kernel::new(ir)));
    };
    let root = root_of(&own[0], args, check);
    if let Some(kernel) = from_memory(env, key, &own, &root) {
        return Ok(kernel);
    }
    if let Some(kernel) = from_cache(env, key, &own, args, &root) {
        return Ok(kernel);
    }
    let recorder = Recorder::new(env, key);
    let ir = KernelIr::build(&recorder, key, args, check)?;
    let (asked, text) = (recorder.finish(), ir.to_text());
    let kernel = Arc::new(Kernel::new(ir));
    if let Some((questions, answers)) = asked {
        keep_in_memory(&root, questions.clone().into(), answers, &kernel);
        if let Some(text) = text {
            keep_in_cache(&root, questions, answers, text);
        }
    }
    Ok(kernel)
}

fn root_of(own: &FunctionOutline, args: &[Type], check: CheckOptions) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("inkle kernels known without a check");
    hasher.update(own.text.digest.as_bytes());
    for part in [FRONT_END, &own.name, &format!("{args:?} {check:?}")] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize()
}

fn from_memory(
    env: &dyn Environment,
    key: FunctionKey,
    own: &[FunctionOutline],
    root: &blake3::Hash,
) -> Option<Arc<Kernel>> {
    // Asked without the lock: the environment may wait for another thread that wants it.
    let lists: Vec<Arc<[Question]>> = {
        let kernels = in_memory();
        let mut lists: Vec<Arc<[Question]>> = Vec::new();
        for known in kernels.get(root)?.iter().rev() {
            if !lists.contains(&known.questions) {
                lists.push(known.questions.clone());
            }
        }
        lists
    };
    lists.iter().find_map(|questions| {
        let answers = ask(env, key, own, questions)?;
        let kernels = in_memory();
        let known = kernels.get(root)?.iter().find(|k| k.answers == answers && k.questions == *questions)?;
        Some(known.kernel.clone())
    })
}

fn keep_in_memory(
    root: &blake3::Hash,
    questions: Arc<[Question]>,
    answers: AnswersDigest,
    kernel: &Arc<Kernel>,
) {
    let mut kernels = in_memory();
    let known = kernels.entry(*root).or_default();
    if known.len() >= MOST_KERNELS {
        known.remove(0);
    }
    known.push(InMemory { questions, answers, kernel: kernel.clone() });
}

fn from_cache(
    env: &dyn Environment,
    key: FunctionKey,
    own: &[FunctionOutline],
    args: &[Type],
    root: &blake3::Hash,
) -> Option<Arc<Kernel>> {
    let known: Known = postcard::from_bytes(&cache::noted(root)?).ok()?;
    let asking = trace::part(Stage::Types);
    let mut answered = known.lists.iter().filter_map(|list| Some((list, ask(env, key, own, list)?)));
    let (questions, answers, text) = answered.find_map(|(list, answers)| {
        if *list == known.lists[0] && *answers.as_bytes() == known.answers {
            return Some((list, answers, known.first.clone()));
        }
        let text = cache::noted(&place_of(root, list, &answers))?;
        Some((list, answers, postcard::from_bytes(&text).ok()?))
    })?;
    drop(asking);
    let named = own[0].text.names.iter().zip(args);
    let params = named.map(|(name, &ty)| Param { name: name.clone(), ty }).collect();
    let kernel = Arc::new(Kernel::new(KernelIr::from_text(text, params)));
    keep_in_memory(root, questions.as_slice().into(), answers, &kernel);
    Some(kernel)
}

/// Where the IR lies that further answers led to.
fn place_of(root: &blake3::Hash, questions: &[Question], answers: &AnswersDigest) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("inkle kernel IR by answers");
    hasher.update(root.as_bytes());
    hasher.update(answers.as_bytes());
    hasher.update(format!("{questions:?}").as_bytes());
    hasher.finalize()
}

fn keep_in_cache(root: &blake3::Hash, questions: Vec<Question>, answers: AnswersDigest, text: BodyText) {
    // What cannot be written in this form is found out again.
    let note = |key: &blake3::Hash, bytes: postcard::Result<Vec<u8>>| {
        if let Ok(bytes) = bytes {
            cache::note(key, &bytes);
        }
    };
    let known = cache::noted(root).and_then(|bytes| postcard::from_bytes::<Known>(&bytes).ok());
    let Some(mut known) = known else {
        let known = Known { lists: vec![questions], answers: *answers.as_bytes(), first: text };
        return note(root, postcard::to_stdvec(&known));
    };
    note(&place_of(root, &questions, &answers), postcard::to_stdvec(&text));
    if !known.lists.contains(&questions) {
        if known.lists.len() >= MOST_LISTS {
            known.lists.remove(1);
        }
        known.lists.push(questions);
        note(root, postcard::to_stdvec(&known));
    }
}
