//! Calls of users' functions: binding arguments, choosing overloads, instances.

use std::sync::Arc;

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{FunctionKind, Type, Value};

use super::call::{Args, Passed, alternatives, as_result};
use super::codes;
use super::function::{Arg, FunctionCx, Instance, Origin};
use super::place::Place;
use super::scan;
use super::val::{R, Reported, Slot, Val};
use crate::env::{Binding, ConstValue, FunctionKey, FunctionSource};
use crate::pattern::{Bindings, Pattern};
use crate::tree::Expr;

impl FunctionCx<'_, '_> {
    /// A call of a user's function.
    pub(super) fn call_user(&mut self, key: FunctionKey, mut args: Args, span: Span) -> R<Option<Val>> {
        let sources = match self.checker.env.function(key) {
            Ok(sources) => sources,
            Err(diagnostics) => {
                for diagnostic in diagnostics.0 {
                    self.report(diagnostic.also(span, "called here"));
                }
                return Err(Reported);
            }
        };
        let mut open = false;
        for source in &sources {
            for (spec, param) in source.params.iter().zip(&source.def.params) {
                if spec.pattern.is_none() {
                    self.report(super::unannotated(&source.name, param).also(span, "called here"));
                    open = true;
                }
            }
        }
        if open {
            return Err(Reported);
        }
        // An exact match wins over one that gives a literal another width.
        for literals_adapt in [false, true] {
            for source in &sources {
                if let Ok(bound) = self.bind_user(source, &args, span)
                    && let Some(matched) = self.match_user(source, &bound, literals_adapt)
                {
                    return self.call_source(source, bound, matched, &mut args, span);
                }
            }
        }
        Err(self.user_mismatch(&sources, &args, span))
    }

    fn bind_user(
        &self,
        source: &FunctionSource,
        args: &Args,
        span: Span,
    ) -> Result<Vec<(Val, Span)>, String> {
        let names: Vec<&str> = source.def.params.iter().map(|p| p.name.as_str()).collect();
        args.bind(&names, |place| source.params.get(place)?.default.clone().map(Val::from), span)
    }

    fn match_user(
        &mut self,
        source: &FunctionSource,
        bound: &[(Val, Span)],
        literals_adapt: bool,
    ) -> Option<(Vec<Arg>, Bindings)> {
        let mut bindings = Bindings::default();
        let args = bound.iter().zip(&source.params).map(|((val, _), param)| {
            self.match_param(val, param.pattern.as_ref(), &mut bindings, literals_adapt)
        });
        let args = args.collect::<Option<Vec<Arg>>>()?;
        Some((args, bindings))
    }

    fn match_param(
        &self,
        val: &Val,
        pattern: Option<&Pattern>,
        bindings: &mut Bindings,
        literals_adapt: bool,
    ) -> Option<Arg> {
        if let (Val::Tuple(items), None | Some(Pattern::Any(_))) = (val, pattern) {
            let items = items.iter().map(|item| self.match_param(item, pattern, bindings, literals_adapt));
            return items.collect::<Option<Vec<Arg>>>().map(Arg::Tuple);
        }
        if let Val::Tuple(items) = val {
            let each: Vec<&Pattern> = match pattern {
                Some(Pattern::Tuple(each)) if each.len() == items.len() => each.iter().collect(),
                Some(Pattern::TupleOf(item)) => vec![item; items.len()],
                _ => return None,
            };
            let items = items
                .iter()
                .zip(each)
                .map(|(item, p)| self.match_param(item, Some(p), bindings, literals_adapt));
            return items.collect::<Option<Vec<Arg>>>().map(Arg::Tuple);
        }
        let Some(ty) = self.type_of(val) else {
            let takes_it = matches!(pattern, None | Some(Pattern::Callable | Pattern::Any(_)));
            return takes_it.then(|| Arg::Static(val.clone()));
        };
        let Some(pattern) = pattern else { return Some(Arg::Value(ty)) };
        if pattern.matches(ty, bindings) {
            return Some(Arg::Value(ty));
        }
        // An array of other dimensions is taken as it is, as long as the elements agree.
        if let (Pattern::Exact(Type::Array(want)), Type::Array(given)) = (pattern, ty)
            && want.elem == given.elem
        {
            return Some(Arg::Value(ty));
        }
        if literals_adapt && let (Val::Const(c), Some(scalar)) = (val, pattern.literal_scalar(bindings)) {
            let fits = match c {
                ConstValue::Int(_) => scalar.is_int(),
                ConstValue::Float(_) => scalar.is_float(),
                _ => false,
            };
            return fits.then_some(Arg::Value(Type::Scalar(scalar)));
        }
        None
    }

    fn call_source(
        &mut self,
        source: &Arc<FunctionSource>,
        bound: Vec<(Val, Span)>,
        (mut instance_args, bindings): (Vec<Arg>, Bindings),
        args: &mut Args,
        span: Span,
    ) -> R<Option<Val>> {
        let (mut values, mut changed) = (Vec::new(), Vec::new());
        for (index, ((val, at), arg)) in bound.iter().zip(&mut instance_args).enumerate() {
            if source.params[index].by_reference {
                *arg = self.reference_argument(source, index, (val, *at), args, &mut values, &mut changed)?;
            } else {
                self.argument_values(val, arg, *at, &mut values)?;
            }
        }
        self.refuse_overlap(&source.name, &changed)?;
        let instance = Instance {
            origin: Origin::User(source.key),
            def: source.def.clone(),
            name: source.name.clone(),
            kind: FunctionKind::Func,
            native: source.native.clone(),
            args: instance_args,
            bindings,
            returns: source.returns.clone(),
        };
        self.call_changing(instance, &values, changed.into_iter().map(Some).collect(), span)
    }

    /// An argument passed by reference: what is in memory as its address, a variable or a part of one as its value,
    /// to be given its last value by the call.
    fn reference_argument(
        &mut self,
        source: &FunctionSource,
        index: usize,
        (val, at): (&Val, Span),
        args: &mut Args,
        values: &mut Vec<Value>,
        changed: &mut Vec<(Place, Span)>,
    ) -> R<Arg> {
        let param = &source.def.params[index];
        let Some(Passed { place, .. }) = args.take_passed(at) else {
            return Err(self.not_a_variable(&source.name, &param.name, at));
        };
        let value = self.value_of(val, at)?;
        let ty = self.function.ty(value);
        Ok(match place {
            Place::Memory(address) => {
                values.push(address);
                Arg::Address(ty)
            }
            place => {
                values.push(value);
                changed.push((place, at));
                Arg::Variable(ty)
            }
        })
    }

    /// Reports variables that are passed by reference twice: the function would see two variables where there is one.
    fn refuse_overlap(&mut self, name: &str, places: &[(Place, Span)]) -> R<()> {
        for (index, (place, at)) in places.iter().enumerate() {
            for (other, first) in &places[..index] {
                if place.may_overlap(other) {
                    let text = self.text_of(*at);
                    return Err(self.report(
                        Diagnostic::new(
                            codes::ARGUMENTS,
                            *at,
                            format!("`{name}` may change `{text}` through two of its parameters"),
                        )
                        .also(*first, "it is passed here too")
                        .help("pass different variables, or parts of one that are known to be different"),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Reports an argument that should be changed and cannot be.
    pub(super) fn not_a_variable(&mut self, function: &str, param: &str, at: Span) -> Reported {
        let text = match self.text_of(at) {
            text if text.is_empty() => "a value of this type".to_owned(),
            text => format!("`{text}`"),
        };
        self.report(
            Diagnostic::new(
                codes::NOT_A_VALUE,
                at,
                format!("`{function}` changes its argument `{param}`, but {text} cannot be assigned"),
            )
            .help("pass a variable, a part of one, or an element of an array"),
        )
    }

    /// Calls an instance and gives the places passed as [`Arg::Variable`] their last values.
    pub(super) fn call_changing(
        &mut self,
        instance: Instance,
        values: &[Value],
        changed: Vec<Option<(Place, Span)>>,
        span: Span,
    ) -> R<Option<Val>> {
        let (function, results) = self.emit_call(instance, values, span)?;
        let (results, last) = results.split_at(results.len() - changed.len());
        for (changed, value) in changed.iter().zip(last) {
            if let Some((place, at)) = changed {
                self.set(place, &Val::Ir(*value), *at, *at)?;
            }
        }
        Ok(match self.checker.nests.get(&function) {
            Some(nest) => Some(nest.rebuild(&mut results.iter().copied())),
            None => as_result(results),
        })
    }

    /// Whether the callee takes, or may take, arguments by reference; nothing is reported for what cannot be called.
    pub(super) fn changes_arguments(&mut self, func: &Expr) -> bool {
        if let (Some(expr), Origin::User(key)) = (scan::static_argument(func), self.origin) {
            // With variables in it, it can be evaluated only where they have values.
            return scan::mentioned(expr).iter().any(|name| self.names.contains_key(*name))
                || match self.checker.env.static_value(key, expr, &[]) {
                    Ok(Binding::Function(key)) => self.checker.function_changes_arguments(key),
                    Ok(Binding::Builtin(name)) => self.checker.library_changes_arguments(&name),
                    Ok(_) => false,
                    Err(_) => true,
                };
        }
        let Some(path) = func.path() else { return false };
        let (root, attributes) = path.split_first().expect("a path has a first name");
        let mut binding = match (self.names.get(*root), self.origin) {
            (Some(var), _) => match &self.slots[var.0] {
                Slot::Set(Val::Function(key)) => Some(Binding::Function(*key)),
                Slot::Set(Val::Builtin(name)) => Some(Binding::Builtin(name.to_string())),
                Slot::Set(Val::Object(key)) => Some(Binding::Object(*key)),
                _ => None,
            },
            (None, Origin::User(key)) => self.checker.env.resolve(key, root),
            (None, Origin::Library(_)) => Some(Binding::Builtin((*root).to_owned())),
        };
        for (index, attribute) in attributes.iter().enumerate() {
            binding = match (binding, self.origin) {
                (Some(Binding::Object(object)), _) => self.checker.env.attribute(object, attribute),
                (Some(Binding::Type(Type::Struct(_))), Origin::User(key))
                    if index + 1 == attributes.len() =>
                {
                    self.checker.env.static_value(key, func, &[]).ok()
                }
                _ => None,
            };
        }
        match binding {
            Some(Binding::Function(key)) => self.checker.function_changes_arguments(key),
            Some(Binding::Builtin(name)) => self.checker.library_changes_arguments(&name),
            _ => false,
        }
    }

    /// The IR values of an argument.
    fn argument_values(&mut self, val: &Val, arg: &Arg, at: Span, values: &mut Vec<Value>) -> R<()> {
        match (arg, val) {
            (Arg::Value(ty), _) => values.push(match self.coerce(val, *ty, at) {
                Some(value) => value,
                None => self.value_of(val, at)?,
            }),
            (Arg::Tuple(args), Val::Tuple(items)) => {
                for (arg, item) in args.iter().zip(items.iter()) {
                    self.argument_values(item, arg, at, values)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A user's function as it can be called.
    fn signature_of(&self, source: &FunctionSource) -> String {
        let params = source.def.params.iter().zip(&source.params).map(|(def, param)| {
            let pattern = param.pattern.as_ref().map_or_else(|| "any".into(), Pattern::to_string);
            let default =
                def.default.as_ref().map(|d| format!(" = {}", self.text_of(d.span))).unwrap_or_default();
            format!("{}: {pattern}{default}", def.name)
        });
        format!("{}({})", source.name, params.collect::<Vec<_>>().join(", "))
    }

    fn user_mismatch(&mut self, sources: &[Arc<FunctionSource>], args: &Args, span: Span) -> Reported {
        let name = sources[0].name.clone();
        if let [source] = sources {
            let bound = match self.bind_user(source, args, span) {
                Ok(bound) => bound,
                Err(why) => {
                    return self.report(
                        Diagnostic::new(codes::ARGUMENTS, span, format!("function `{name}` {why}"))
                            .help(format!("it is `{}`", self.signature_of(source)))
                            .also(source.def.name_span, "it is defined here"),
                    );
                }
            };
            let mut bindings = Bindings::default();
            for (((val, at), param), def) in bound.iter().zip(&source.params).zip(&source.def.params) {
                if self.match_param(val, param.pattern.as_ref(), &mut bindings, true).is_some() {
                    continue;
                }
                let given = self.describe(val);
                let wanted =
                    param.pattern.as_ref().and_then(|p| p.instantiate(&bindings)).map(Type::python_name);
                let wanted = wanted
                    .or_else(|| param.pattern.as_ref().map(|p| p.to_string()))
                    .unwrap_or_else(|| "a value".into());
                let mut diagnostic = Diagnostic::new(
                    codes::NO_OVERLOAD,
                    *at,
                    format!(
                        "argument `{}` of function `{name}` is {given}, but {wanted} is expected",
                        def.name
                    ),
                )
                .also(def.span, "the parameter is declared here");
                let scalar = param.pattern.as_ref().and_then(|p| p.literal_scalar(&bindings));
                let is_number = self.type_of(val).is_some_and(|ty| ty.as_scalar().is_some());
                diagnostic = match scalar.filter(|_| is_number) {
                    Some(scalar) => {
                        let text = self.text_of(*at);
                        diagnostic.help(format!("convert it: `{}`", super::assign::conversion(scalar, &text)))
                    }
                    None => diagnostic.help(format!("pass {wanted}, or change the annotation")),
                };
                return self.report(diagnostic);
            }
        }
        let forms: Vec<String> = sources.iter().map(|source| self.signature_of(source)).collect();
        let given = self.describe_args(args);
        self.report(
            Diagnostic::new(
                codes::NO_OVERLOAD,
                span,
                format!("no overload of function `{name}` takes ({given})"),
            )
            .help(format!("it can be called as {}", alternatives(&forms))),
        )
    }
}
