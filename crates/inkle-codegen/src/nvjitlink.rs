//! stub
use crate::error::CodegenError;
use crate::options::Options;
pub(crate) fn link(_ptx: &[u8], _arch: u32, _options: &Options) -> Result<Vec<u8>, CodegenError> {
    Err(CodegenError::MissingLibrary { library: "nvJitLink", searched: vec![] })
}
