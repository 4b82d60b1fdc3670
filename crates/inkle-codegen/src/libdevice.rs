//! stub
use inkwell::context::Context;
use inkwell::module::Module;
use crate::error::CodegenError;
use crate::options::Options;
pub(crate) fn link(_context: &Context, _module: &Module<'_>, _options: &Options) -> Result<(), CodegenError> {
    Ok(())
}
