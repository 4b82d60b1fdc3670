//! Calls of users' functions: binding arguments, choosing overloads, instances.

use std::sync::Arc;

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{FunctionKind, Type, Value};

use super::call::{Args, alternatives, as_result};
use super::codes;
use super::function::{Arg, FunctionCx, Instance, Origin};
use super::val::{R, Reported, Val};
use crate::env::{ConstValue, FunctionKey, FunctionSource};
use crate::pattern::{Bindings, Pattern};

impl FunctionCx<'_, '_> {
    /// A call of a user's function.
    pub(super) fn call_user(&mut self, key: FunctionKey, args: &Args, span: Span) -> R<Option<Val>> {
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
                if let Ok(bound) = self.bind_user(source, args, span)
                    && let Some(instance_args) = self.match_user(source, &bound, literals_adapt)
                {
                    return self.call_source(source, bound, instance_args, span);
                }
            }
        }
        Err(self.user_mismatch(&sources, args, span))
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
    ) -> Option<Vec<Arg>> {
        let mut bindings = Bindings::default();
        bound
            .iter()
            .zip(&source.params)
            .map(|((val, _), param)| {
                self.match_param(val, param.pattern.as_ref(), &mut bindings, literals_adapt)
            })
            .collect()
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
        let Some(ty) = self.type_of(val) else {
            let takes_it = matches!(pattern, None | Some(Pattern::Callable | Pattern::Any(_)));
            return (takes_it && !matches!(val, Val::Tuple(_))).then(|| Arg::Static(val.clone()));
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
        args: Vec<Arg>,
        span: Span,
    ) -> R<Option<Val>> {
        let mut values = Vec::new();
        for ((val, at), arg) in bound.iter().zip(&args) {
            self.argument_values(val, arg, *at, &mut values)?;
        }
        let instance = Instance {
            origin: Origin::User(source.key),
            def: source.def.clone(),
            name: source.name.clone(),
            kind: FunctionKind::Func,
            args,
            bindings: Bindings::default(),
            returns: source.returns.clone(),
        };
        let results = self.emit_call(instance, &values, span)?;
        Ok(as_result(&results))
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
