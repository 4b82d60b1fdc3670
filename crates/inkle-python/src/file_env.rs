//! An [`Environment`] over one Python file, without a Python interpreter.
//!
//! What a name means is read from the file's top level: imports of inkle or Warp and of `numpy` and `math`, constants,
//! `@wp.func` functions, `@wp.struct` classes and `@wp.kernel` kernels. Anything else at the top level has a name
//! that kernels cannot use. Code inside functions that make kernels is not run, so closures are out of reach.

mod constant;
mod names;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use inkle_diag::{Diagnostic, Diagnostics, SourceFile};
use inkle_frontend::codes;
use inkle_frontend::env::{
    Binding, ConstValue, Environment, FunctionKey, FunctionSource, LibraryFunction, NativeText, ObjectKey,
    ParamSpec,
};
use inkle_frontend::pattern::{Constraint, Pattern, ScalarPattern, SizePattern};
use inkle_frontend::tree::{Expr, ExprKind, FunctionDef};
use inkle_ir::{ArrayKind, Field, Type};
use ruff_python_ast::{Expr as PyExpr, ModModule, Stmt as PyStmt, StmtClassDef, StmtFunctionDef};

use crate::{Function, Lowering, ParsedFile, parse_expression, parse_file};

/// Where the built-ins written in the kernel language come from.
#[derive(Clone, Copy)]
pub struct Library {
    /// The overloads of a name, in the order to try them.
    pub functions: fn(&str) -> Vec<LibraryFunction>,
    /// All names that users can call.
    pub names: fn() -> Vec<String>,
}

/// The names of one Python file.
pub struct FileEnvironment {
    parsed: Arc<ParsedFile>,
    library: Library,
    names: HashMap<String, Binding>,
    /// The structs in source order.
    structs: Vec<Type>,
    /// Modules all of whose names were imported.
    stars: Vec<ObjectKey>,
    functions: Vec<Entry>,
    warnings: Mutex<Vec<Diagnostic>>,
}

/// A function or kernel of the file.
struct Entry {
    name: String,
    is_kernel: bool,
    /// The definitions in source order: overloads of a function, the last one of a kernel.
    trees: Vec<Result<Arc<FunctionDef>, Diagnostics>>,
    sources: OnceLock<Result<Vec<Arc<FunctionSource>>, Diagnostics>>,
}

/// The type, maybe with variables, that an annotation declares.
type Annotation = Result<Pattern, Box<Diagnostic>>;

impl FileEnvironment {
    /// Reads the top level of `file`. Mistakes in a function are reported when it is asked for.
    pub fn new(file: &Arc<SourceFile>, library: Library) -> FileEnvironment {
        let parsed = parse_file(file);
        let mut env = FileEnvironment {
            parsed: parsed.clone(),
            library,
            names: HashMap::new(),
            structs: Vec::new(),
            stars: Vec::new(),
            functions: Vec::new(),
            warnings: Mutex::default(),
        };
        env.read(&parsed, &parsed.module);
        env
    }

    /// Syntax errors anywhere in the file.
    pub fn syntax_errors(&self) -> &[Diagnostic] {
        self.parsed.errors()
    }

    /// What checks found doubtful since this was asked last.
    pub fn take_warnings(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The kernels in source order.
    pub fn kernels(&self) -> Vec<(&str, FunctionKey)> {
        let kernels = self.functions.iter().enumerate().filter(|(_, entry)| entry.is_kernel);
        kernels.map(|(index, entry)| (entry.name.as_str(), FunctionKey(index as u64))).collect()
    }

    /// The parameter types of a kernel whose annotations leave nothing open; `None` for a generic kernel.
    ///
    /// # Errors
    /// When the kernel does not parse or an annotation is not a type.
    pub fn kernel_types(&self, key: FunctionKey) -> Result<Option<Vec<Type>>, Diagnostics> {
        let sources = self.function(key)?;
        let types = sources[0].params.iter().map(|p| p.pattern.as_ref()?.instantiate(&Default::default()));
        Ok(types.collect())
    }

    /// The type that the text of an annotation stands for, such as `wp.array(dtype=float)`; `None` when it is
    /// no type or one with variables.
    pub fn type_of_annotation(&self, text: &str) -> Option<Type> {
        let expr = parse_expression(&SourceFile::register("<annotation>", text)).ok()?;
        self.annotation(&expr).ok()?.instantiate(&Default::default())
    }

    fn read(&mut self, parsed: &ParsedFile, module: &ModModule) {
        for stmt in &module.body {
            match stmt {
                PyStmt::Import(import) => {
                    for alias in &import.names {
                        let module = alias.name.as_str();
                        let name = match &alias.asname {
                            Some(name) => name.as_str(),
                            None => module.split('.').next().unwrap_or(module),
                        };
                        let of = if alias.asname.is_some() { module } else { name };
                        self.names.insert(name.to_owned(), names::module(of));
                    }
                }
                PyStmt::ImportFrom(import) => {
                    let module = import.module.as_ref().map_or("", |m| m.as_str());
                    for alias in &import.names {
                        if alias.name.as_str() == "*" {
                            if let Binding::Object(object) = names::module(module) {
                                self.stars.push(object);
                            }
                            continue;
                        }
                        let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                        let binding = self.imported(module, alias.name.as_str());
                        self.names.insert(name.to_owned(), binding);
                    }
                }
                PyStmt::Assign(assign) => {
                    let value = self.constant(parsed, &assign.value);
                    for target in &assign.targets {
                        self.bind(target, value.clone());
                    }
                }
                PyStmt::AnnAssign(assign) => {
                    if let Some(value) = &assign.value {
                        let value = self.constant(parsed, value);
                        self.bind(&assign.target, value);
                    }
                }
                PyStmt::ClassDef(class) => {
                    let binding = self.class(parsed, class);
                    self.names.insert(class.name.as_str().to_owned(), binding);
                }
                PyStmt::FunctionDef(node) => self.function_def(parsed, node),
                _ => {}
            }
        }
    }

    fn lookup(&self, name: &str) -> Option<Binding> {
        let starred = || self.stars.iter().find_map(|module| self.attribute(*module, name));
        self.names.get(name).cloned().or_else(|| names::python_builtin(name)).or_else(starred)
    }

    fn imported(&self, module: &str, name: &str) -> Binding {
        match names::module(module) {
            Binding::Object(object) => self.attribute(object, name).unwrap_or_else(|| {
                Binding::Unsupported(format!("`{name}`, which module `{module}` does not have"))
            }),
            _ => names::annotation_only(name)
                .unwrap_or_else(|| Binding::Unsupported(format!("an import from `{module}`"))),
        }
    }

    fn constant(&self, parsed: &ParsedFile, value: &PyExpr) -> Binding {
        let mut lowering = Lowering::new(&parsed.file);
        let expr = lowering.expr(value);
        if lowering.finish(()).is_err() {
            return Binding::Unsupported("a value that could not be read".into());
        }
        self.evaluate(&expr, &[])
            .unwrap_or_else(|why| Binding::Unsupported(format!("a Python value ({why})")))
    }

    fn bind(&mut self, target: &PyExpr, value: Binding) {
        match (target, value) {
            (PyExpr::Name(name), value) => {
                self.names.insert(name.id.as_str().to_owned(), value);
            }
            (PyExpr::Tuple(targets), Binding::Const(ConstValue::Tuple(items)))
                if targets.elts.len() == items.len() =>
            {
                for (target, item) in targets.elts.iter().zip(items) {
                    self.bind(target, Binding::Const(item));
                }
            }
            _ => {}
        }
    }

    fn class(&mut self, parsed: &ParsedFile, class: &StmtClassDef) -> Binding {
        let name = class.name.as_str();
        if !class.decorator_list.iter().any(|d| decorator(&d.expression) == Some("struct")) {
            return Binding::Unsupported(format!("the class `{name}`, which is not a `@wp.struct`"));
        }
        let mut fields = Vec::new();
        for stmt in &class.body {
            let PyStmt::AnnAssign(field) = stmt else { continue };
            let PyExpr::Name(field_name) = &*field.target else { continue };
            let mut lowering = Lowering::new(&parsed.file);
            let annotation = lowering.expr(&field.annotation);
            let ty = self.annotation(&annotation).ok().and_then(|p| p.instantiate(&Default::default()));
            match ty {
                Some(ty) => fields.push(Field { name: field_name.id.as_str().to_owned(), ty }),
                None => {
                    let field = field_name.id.as_str();
                    return Binding::Unsupported(format!(
                        "the struct `{name}`, whose field `{field}` has no type that kernels know"
                    ));
                }
            }
        }
        // Types are told apart by name and fields in the IR, but one module cannot hold two structs of one name.
        let taken = |name: &str, fields: &[Field]| {
            let mut known = self.structs.iter();
            known.any(|s| s.as_struct().is_some_and(|s| s.name == name && s.fields != fields))
        };
        let mut unique = name.to_owned();
        let mut count = 1;
        while taken(&unique, &fields) {
            count += 1;
            unique = format!("{name}_{count}");
        }
        let ty = Type::structure(unique, fields);
        self.structs.push(ty);
        Binding::Type(ty)
    }

    fn function_def(&mut self, parsed: &ParsedFile, node: &StmtFunctionDef) {
        let name = node.name.as_str();
        let kind = node.decorator_list.iter().find_map(|d| match decorator(&d.expression)? {
            "kernel" => Some(true),
            "func" | "func_native" => Some(false),
            _ => None,
        });
        let Some(is_kernel) = kind else {
            let what = "a Python function without `@wp.func`";
            self.names.insert(name.to_owned(), Binding::Unsupported(what.into()));
            return;
        };
        let tree = Function { file: parsed, node }.def();
        let known = self.functions.iter().position(|e| e.name == name && e.is_kernel == is_kernel);
        let index = known.unwrap_or_else(|| {
            self.functions.push(Entry {
                name: name.to_owned(),
                is_kernel,
                trees: Vec::new(),
                sources: OnceLock::new(),
            });
            self.functions.len() - 1
        });
        let entry = &mut self.functions[index];
        // A kernel of the same name replaces the one before; a function with other parameters is an overload.
        entry.trees.retain(|before| !is_kernel && !same_parameters(before, &tree));
        entry.trees.push(tree);
        let binding = if is_kernel {
            Binding::Unsupported("a kernel".into())
        } else {
            Binding::Function(FunctionKey(index as u64))
        };
        self.names.insert(name.to_owned(), binding);
    }

    fn source(&self, key: FunctionKey, def: &Arc<FunctionDef>) -> Result<Arc<FunctionSource>, Diagnostics> {
        let mut problems = Diagnostics::default();
        let mut params = Vec::new();
        for param in &def.params {
            let (annotation, by_reference) = match param.annotation.as_ref().map(|a| (a, referenced(a))) {
                Some((_, Some(target))) => (Some(target), true),
                Some((annotation, None)) => (Some(annotation), false),
                None => (None, false),
            };
            let pattern = match annotation.map(|a| self.annotation(a)).transpose() {
                Ok(pattern) => pattern,
                Err(problem) => {
                    problems.push(*problem);
                    None
                }
            };
            let default = param.default.as_ref().map(|d| {
                self.evaluate(d, &[]).unwrap_or_else(|why| Binding::Unsupported(format!("a default ({why})")))
            });
            params.push(ParamSpec { pattern, default, by_reference });
        }
        let returns = match def.returns.as_ref().map(|r| self.results(r)).transpose() {
            Ok(returns) => returns,
            Err(problem) => {
                problems.push(*problem);
                None
            }
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        let native = self.native_code(def);
        Ok(Arc::new(FunctionSource {
            key,
            name: def.name.clone(),
            def: def.clone(),
            params,
            returns,
            native,
        }))
    }

    /// The texts given to the decorator `func_native`, by position or name.
    fn native_code(&self, def: &FunctionDef) -> Option<NativeText> {
        let mut calls = def.decorators.iter().filter_map(|d| match &*d.kind {
            ExprKind::Call { func, args, keywords } => Some((func.path()?.pop()?, args, keywords)),
            _ => None,
        });
        let (_, args, keywords) = calls.find(|(name, ..)| *name == "func_native")?;
        let text = |position: usize, name: &str| {
            let keyword =
                || keywords.iter().find(|(n, _)| n.as_deref() == Some(name)).map(|(_, value)| value);
            match self.evaluate(args.get(position).or_else(keyword)?, &[]) {
                Ok(Binding::Const(ConstValue::Str(text))) => Some(text),
                _ => None,
            }
        };
        Some(NativeText {
            forward: text(0, "snippet").unwrap_or_default(),
            adjoint: text(1, "adj_snippet"),
            replay: text(2, "replay_snippet"),
        })
    }

    /// The results that a return annotation declares.
    fn results(&self, expr: &Expr) -> Result<Vec<Pattern>, Box<Diagnostic>> {
        match &*expr.kind {
            ExprKind::None => Ok(Vec::new()),
            ExprKind::Tuple(items) => self.results_of(items),
            _ => match tuple_items(expr) {
                Some(items) => self.results_of(items),
                None => Ok(vec![self.annotation(expr)?]),
            },
        }
    }

    /// The results of tuples in a tuple follow one another.
    fn results_of(&self, items: &[Expr]) -> Result<Vec<Pattern>, Box<Diagnostic>> {
        items.iter().map(|item| self.results(item)).collect::<Result<Vec<_>, _>>().map(|r| r.concat())
    }

    /// The pattern that an annotation declares.
    fn annotation(&self, expr: &Expr) -> Annotation {
        let not_a_type = || {
            let text = expr.span.is_some().then(|| self.parsed.file.text());
            let text = text.and_then(|t| t.get(expr.span.start as usize..expr.span.end as usize));
            let what = text.map_or_else(|| "this".to_owned(), |t| format!("`{t}`"));
            let message = format!("{what} is not a type that kernels know");
            Box::new(
                Diagnostic::new(codes::NOT_A_VALUE, expr.span, message)
                    .help("write a type such as `float`, `wp.vec3` or `wp.array(dtype=float)`"),
            )
        };
        if let ExprKind::Str(text) = &*expr.kind {
            let inner = parse_expression(&SourceFile::register("<annotation>", text));
            let pattern = inner.ok().and_then(|inner| self.annotation(&inner).ok());
            return pattern.ok_or_else(not_a_type);
        }
        if let Some(pattern) = self.array_annotation(expr)? {
            return Ok(pattern);
        }
        if let Some(items) = tuple_items(expr) {
            return Ok(match items {
                [item, rest] if matches!(*rest.kind, ExprKind::Ellipsis) => {
                    Pattern::TupleOf(Box::new(self.annotation(item)?))
                }
                items => Pattern::Tuple(items.iter().map(|i| self.annotation(i)).collect::<Result<_, _>>()?),
            });
        }
        match self.type_variable(expr) {
            Some(pattern) => Ok(pattern),
            None => match self.evaluate(expr, &[]) {
                Ok(Binding::Type(ty)) => Ok(Pattern::Exact(ty)),
                _ => Err(not_a_type()),
            },
        }
    }

    fn type_variable(&self, expr: &Expr) -> Option<Pattern> {
        let path = expr.path()?;
        let scalar = |constraint| Pattern::Scalar(ScalarPattern::Var("S".to_owned(), constraint));
        Some(match *path.last()? {
            "Any" => Pattern::Any(None),
            "Callable" | "Function" => Pattern::Callable,
            "Scalar" => scalar(Constraint::Any),
            "Float" => scalar(Constraint::Float),
            "Int" => scalar(Constraint::Int),
            _ => return None,
        })
    }

    /// `wp.array(dtype=float, ndim=2)`, `wp.array2d(dtype=float)`, `wp.array[float]`; `None` for anything else.
    fn array_annotation(&self, expr: &Expr) -> Result<Option<Pattern>, Box<Diagnostic>> {
        let (head, dtype, ndim) = match &*expr.kind {
            ExprKind::Call { func, args, keywords } => {
                let keyword =
                    |name: &str| keywords.iter().find(|(n, _)| n.as_deref() == Some(name)).map(|(_, e)| e);
                (func, keyword("dtype").or(args.first()), keyword("ndim"))
            }
            ExprKind::Subscript { value, indices } => (value, indices.first(), indices.get(1)),
            _ => return Ok(None),
        };
        let Some((kind, dims)) = self.array_constructor(head) else { return Ok(None) };
        let elem = match dtype {
            Some(dtype) => self.annotation(dtype)?,
            None => Pattern::Any(None),
        };
        let ndim = match ndim.map(|e| self.evaluate(literal(e), &[])) {
            None => dims,
            Some(Ok(Binding::Const(ConstValue::Int(n @ 1..=4)))) => n as u32,
            Some(_) => {
                let message = "the number of dimensions of an array must be a constant from 1 to 4";
                return Err(Box::new(
                    Diagnostic::new(codes::NOT_A_VALUE, expr.span, message).help("write `ndim=2`"),
                ));
            }
        };
        Ok(Some(match elem {
            Pattern::Exact(elem) => Pattern::Exact(Type::array_of_kind(elem, ndim, kind)),
            elem => Pattern::Array(Box::new(elem), SizePattern::Exact(ndim), kind),
        }))
    }

    /// The kind and the usual number of dimensions when `head` names an array type.
    fn array_constructor(&self, head: &Expr) -> Option<(ArrayKind, u32)> {
        let path = head.path()?;
        let (last, base) = path.split_last()?;
        match base {
            [] if !matches!(self.names.get(*last), Some(Binding::Unsupported(what) | Binding::Builtin(what)) if what == names::ARRAY_TYPE || what == "array") =>
            {
                return None;
            }
            [module, ..] if !matches!(self.names.get(*module), Some(Binding::Object(_))) => return None,
            _ => {}
        }
        names::array_type(last)
    }
}

/// `2` of `Literal[2]`.
fn literal(expr: &Expr) -> &Expr {
    match &*expr.kind {
        ExprKind::Subscript { value, indices }
            if value.path().is_some_and(|p| p.last() == Some(&"Literal")) && indices.len() == 1 =>
        {
            &indices[0]
        }
        _ => expr,
    }
}

/// The last name of a decorator: `kernel` of `@wp.kernel` and of `@wp.kernel(module="unique")`.
fn decorator(expr: &PyExpr) -> Option<&str> {
    match expr {
        PyExpr::Call(call) => decorator(&call.func),
        PyExpr::Attribute(attribute) => Some(attribute.attr.as_str()),
        PyExpr::Name(name) => Some(name.id.as_str()),
        _ => None,
    }
}

/// `A, B` of `tuple[A, B]`.
fn tuple_items(annotation: &Expr) -> Option<&[Expr]> {
    let ExprKind::Subscript { value, indices } = &*annotation.kind else { return None };
    matches!(value.path()?.last(), Some(&"tuple" | &"Tuple")).then_some(indices)
}

/// `T` of `wp.ref[T]`.
fn referenced(annotation: &Expr) -> Option<&Expr> {
    let ExprKind::Subscript { value, indices } = &*annotation.kind else { return None };
    let [target] = indices.as_slice() else { return None };
    (value.path()?.last() == Some(&"ref")).then_some(target)
}

/// Whether two definitions take parameters of the same annotations, so that the later one replaces the earlier.
fn same_parameters(
    a: &Result<Arc<FunctionDef>, Diagnostics>,
    b: &Result<Arc<FunctionDef>, Diagnostics>,
) -> bool {
    let (Ok(a), Ok(b)) = (a, b) else { return false };
    let text = |e: &Expr| {
        SourceFile::get(e.span.file)
            .and_then(|f| f.text().get(e.span.start as usize..e.span.end as usize).map(str::to_owned))
    };
    a.params.len() == b.params.len()
        && a.params
            .iter()
            .zip(&b.params)
            .all(|(p, q)| p.annotation.as_ref().map(text) == q.annotation.as_ref().map(text))
}

impl Environment for FileEnvironment {
    fn warn(&self, warning: Diagnostic) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
    }

    fn function(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        let entry = &self.functions[key.0 as usize];
        let make = || entry.trees.iter().map(|tree| self.source(key, tree.as_ref().map_err(Clone::clone)?));
        entry.sources.get_or_init(|| make().collect()).clone()
    }

    fn resolve(&self, _function: FunctionKey, name: &str) -> Option<Binding> {
        self.lookup(name)
    }

    fn attribute(&self, object: ObjectKey, name: &str) -> Option<Binding> {
        names::attribute(object, name, |name| !(self.library.functions)(name).is_empty())
    }

    fn describe(&self, object: ObjectKey) -> String {
        names::describe(object)
    }

    fn static_value(
        &self,
        _function: FunctionKey,
        expr: &Expr,
        locals: &[(String, ConstValue)],
    ) -> Result<Binding, String> {
        self.evaluate(expr, locals)
    }

    fn library(&self, name: &str) -> Vec<LibraryFunction> {
        (self.library.functions)(name)
    }

    fn library_names(&self) -> Vec<String> {
        (self.library.names)()
    }

    fn visible_names(&self, _function: FunctionKey) -> Vec<String> {
        self.names.keys().cloned().collect()
    }
}
