//! Source lines in the code, for profilers and debuggers: one DWARF scope per LLVM function and a line per operation.

use std::collections::HashMap;

use inkle_diag::{FileId, SourceFile, Span};
use inkwell::debug_info::{
    AsDIScope, DICompileUnit, DIFile, DIFlags, DIFlagsConstants, DIScope, DISubprogram,
};
use inkwell::debug_info::{DWARFEmissionKind, DWARFSourceLanguage, DebugInfoBuilder};
use inkwell::llvm_sys::debuginfo::{LLVMDIBuilderCreateLexicalBlockFile, LLVMSetSubprogram};
use inkwell::llvm_sys::prelude::LLVMMetadataRef;
use inkwell::module::Module;

use crate::emitter::V;

/// Makes the debug information of one module.
pub(crate) struct Lines<'c> {
    builder: DebugInfoBuilder<'c>,
    unit: DICompileUnit<'c>,
    files: HashMap<FileId, DIFile<'c>>,
    /// The function being emitted and the file it is in.
    scope: Option<(DISubprogram<'c>, FileId)>,
    /// Scopes of other files' lines inside the current function.
    others: HashMap<FileId, LLVMMetadataRef>,
}

/// A place in a scope.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub scope: LLVMMetadataRef,
    pub line: u32,
    pub column: u32,
}

/// What a function's scope was, to return to.
pub(crate) struct Saved<'c> {
    scope: Option<(DISubprogram<'c>, FileId)>,
    others: HashMap<FileId, LLVMMetadataRef>,
}

fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').map_or((path, "."), |(folder, name)| (name, folder))
}

impl<'c> Lines<'c> {
    pub fn new(module: &Module<'c>, kernel_span: Span) -> Lines<'c> {
        let file = SourceFile::get(kernel_span.file);
        let (name, folder) = split_path(file.as_ref().map_or("kernel", |f| f.name()));
        module.add_basic_value_flag(
            "Debug Info Version",
            inkwell::module::FlagBehavior::Warning,
            module.get_context().i32_type().const_int(3, false),
        );
        let (builder, unit) = module.create_debug_info_builder(
            true,
            DWARFSourceLanguage::C,
            name,
            folder,
            "inkle",
            true,
            "",
            0,
            "",
            DWARFEmissionKind::LineTablesOnly,
            0,
            false,
            false,
            "",
            "",
        );
        Lines { builder, unit, files: HashMap::new(), scope: None, others: HashMap::new() }
    }

    fn file(&mut self, id: FileId) -> DIFile<'c> {
        let unit = self.unit;
        let builder = &self.builder;
        *self.files.entry(id).or_insert_with(|| match SourceFile::get(id) {
            Some(file) => {
                let (name, folder) = split_path(file.name());
                builder.create_file(name, folder)
            }
            None => unit.get_file(),
        })
    }

    /// Starts a function; gives what to return to when it is done.
    pub fn enter(&mut self, f: V, name: &str, span: Span) -> Saved<'c> {
        let file = self.file(span.file);
        let line = position(span).map_or(0, |(line, _)| line);
        let ty = self.builder.create_subroutine_type(file, None, &[], DIFlags::PUBLIC);
        let scope = self.builder.create_function(
            self.unit.as_debug_info_scope(),
            name,
            None,
            file,
            line,
            ty,
            true,
            true,
            line,
            DIFlags::PUBLIC,
            true,
        );
        // SAFETY: `f` is a function of the module that this builder belongs to.
        unsafe { LLVMSetSubprogram(f, scope.as_mut_ptr()) };
        Saved { scope: self.scope.replace((scope, span.file)), others: std::mem::take(&mut self.others) }
    }

    pub fn leave(&mut self, saved: Saved<'c>) {
        self.scope = saved.scope;
        self.others = saved.others;
    }

    /// The place of a span in the current function; the function itself for a span in no file.
    pub fn place(&mut self, span: Span) -> Option<Place> {
        let (subprogram, file) = self.scope?;
        let scope: DIScope<'c> = subprogram.as_debug_info_scope();
        let Some((line, column)) = position(span) else {
            return Some(Place { scope: scope.as_mut_ptr(), line: 0, column: 0 });
        };
        let scope = if span.file == file {
            scope.as_mut_ptr()
        } else {
            let other = self.file(span.file);
            let builder = self.builder.as_mut_ptr();
            *self.others.entry(span.file).or_insert_with(|| {
                // SAFETY: scope and file were made by this builder, which is alive.
                unsafe {
                    LLVMDIBuilderCreateLexicalBlockFile(builder, scope.as_mut_ptr(), other.as_mut_ptr(), 0)
                }
            })
        };
        Some(Place { scope, line, column })
    }

    pub fn finish(self) {
        self.builder.finalize();
    }
}

/// Line and column of a span's start, 1-based.
fn position(span: Span) -> Option<(u32, u32)> {
    let file = SourceFile::get(span.file)?;
    let (line, column) = file.line_column(span.start);
    Some((line as u32, column as u32))
}
