//! LEAPP's operator, `WrpRunner` in ONNX and `leapp::warp_runner` in PyTorch: models that LEAPP exported run on inkle's
//! runtime.
//!
//! The bundle is an archive with a graph in Warp's format ([`Archive`]), the last input. Memory of the graph lives on from
//! one run to the next, as it does in LEAPP's own runtime. What tensors go in and come out is in `runtime_metadata`, a JSON
//! text: per input and output the name of the graph's parameter, dtype, shape and size, and for outputs whether the graph has
//! it at all (`mask`); one that it has not is zeros.

mod archive;

use inkle_graph::bundle::{Bundle, Direction, Param};
use inkle_graph::function::{Function, FunctionError};
use inkle_graph::{Region, RegionKind, View};
use inkle_ir::{Scalar, Type};
use inkle_runtime::{Array, Device, Stream};
use serde::Deserialize;

pub use crate::archive::{Archive, ArchiveError};

/// What the attribute says.
#[derive(Deserialize)]
struct Metadata {
    inputs: Vec<Tensor>,
    outputs: Vec<Tensor>,
}

/// A tensor of the model.
#[derive(Deserialize)]
struct Tensor {
    logical_index: usize,
    param_name: Option<String>,
    dtype: String,
    shape: Vec<i64>,
    num_bytes: u64,
    #[serde(default = "yes")]
    mask: bool,
}

fn yes() -> bool {
    true
}

/// The function of an archive, for tensors as the metadata has them.
///
/// # Errors
/// What is wrong with the archive or the metadata.
pub fn function(archive: &[u8], metadata: &str) -> Result<Function, String> {
    let metadata: Metadata = serde_json::from_str(metadata)
        .map_err(|error| format!("its runtime_metadata is damaged: {error}"))?;
    let bundle = Archive::parse(archive).and_then(|archive| archive.graph());
    assemble(bundle.map_err(|error| error.to_string())?, metadata)
}

/// Calls a function of LEAPP's, whose graph runs on a GPU wherever the tensors are: for tensors of the CPU on the first GPU,
/// and then the results are there when this returns.
///
/// # Errors
/// As [`Function::call`].
pub fn call(
    function: &Function,
    device: Device,
    inputs: &[Array],
    outputs: &[Array],
    stream: Option<&Stream>,
) -> Result<(), FunctionError> {
    if !device.is_cpu() {
        return function.call(device, inputs, outputs, stream);
    }
    let gpu = Device::cuda(0)?;
    let sent = inputs.iter().map(|array| array.to_device(gpu)).collect::<Result<Vec<Array>, _>>()?;
    let made = function.outputs().iter().map(|port| Array::empty(gpu, port.dtype, &port.extents));
    let made = made.collect::<Result<Vec<Array>, _>>()?;
    function.call(gpu, &sent, &made, None)?;
    for (output, made) in outputs.iter().zip(&made) {
        output.copy_from(made, None)?;
    }
    Ok(())
}

/// The function with the tensors of the metadata for its parameters.
fn assemble(mut bundle: Bundle, mut metadata: Metadata) -> Result<Function, String> {
    let named = std::mem::take(&mut bundle.params);
    let mut shapes = [Vec::new(), Vec::new()];
    let sides = [(Direction::Input, &mut metadata.inputs), (Direction::Output, &mut metadata.outputs)];
    for ((direction, tensors), shapes) in sides.into_iter().zip(&mut shapes) {
        tensors.sort_by_key(|tensor| tensor.logical_index);
        for tensor in tensors.iter() {
            let param = param(&mut bundle, &named, direction, tensor)?;
            bundle.params.push(param);
            shapes.push(tensor.shape.clone());
        }
    }
    let function = Function::keeping_memory(bundle).map_err(|error| error.to_string())?;
    function.with_shapes(&shapes[0], &shapes[1]).map_err(|error| error.to_string())
}

/// A parameter as one row of numbers.
fn param(
    bundle: &mut Bundle,
    named: &[Param],
    direction: Direction,
    tensor: &Tensor,
) -> Result<Param, String> {
    let name = tensor.param_name.as_deref().unwrap_or("(no parameter)");
    let scalar = Scalar::ALL.into_iter().find(|scalar| scalar.python_name() == tensor.dtype);
    let scalar = scalar.ok_or_else(|| format!("Unsupported dtype: `{name}` is of {}", tensor.dtype))?;
    let count = tensor.shape.iter().try_fold(1i64, |count, &n| count.checked_mul(n).filter(|_| n >= 0));
    let extent = count.and_then(|count| i32::try_from(count).ok());
    let extent = extent.ok_or_else(|| format!("`{name}` has the shape {:?}", tensor.shape))?;
    let bytes = u64::from(extent.unsigned_abs()) * u64::from(scalar.size());
    let (region, offset) = if direction == Direction::Output && !tensor.mask {
        let space = bundle.stream.regions.first().map_or(inkle_graph::Space::Device, |region| region.space);
        bundle.stream.regions.push(Region { bytes, space, kind: RegionKind::Given });
        bundle.memory.push(None);
        (bundle.stream.regions.len() as u32 - 1, 0)
    } else {
        let known = named.iter().find(|param| param.name == name);
        let known = known.ok_or_else(|| format!("the graph has no parameter `{name}`"))?;
        let held = known.view.span().map_or(0, |span| span.end - span.start);
        if tensor.num_bytes != bytes || held != bytes || !known.view.is_dense() {
            return Err(format!("parameter `{name}` has {held} bytes, the model's tensor {bytes}"));
        }
        (known.view.region, known.view.offset)
    };
    let strides = vec![scalar.size().into()];
    let view = View { region, offset, dtype: Type::Scalar(scalar), shape: vec![extent], strides };
    Ok(Param { name: name.to_owned(), direction, view })
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkle_graph::{OpStream, Space};

    const METADATA: &str = r#"{
        "inputs": [{"logical_index": 0, "param_name": "p", "dtype": "float32", "shape": [1, 2], "num_bytes": 8,
                    "warp_dtype": "float32", "warp_shape": [2], "component_shape": []}],
        "outputs": [{"logical_index": 1, "param_name": null, "dtype": "int32", "shape": [3], "num_bytes": 12, "mask": false},
                    {"logical_index": 0, "param_name": "p", "dtype": "float32", "shape": [2, 1], "num_bytes": 8, "mask": true}]
    }"#;

    fn bundle() -> Bundle {
        let view = View { region: 0, offset: 0, dtype: Type::F32, shape: vec![2], strides: vec![4] };
        Bundle {
            producer: "test".into(),
            notes: Vec::new(),
            stream: OpStream {
                regions: vec![Region { bytes: 8, space: Space::Host, kind: RegionKind::Given }],
                ..OpStream::default()
            },
            params: vec![Param { name: "p".into(), direction: Direction::Input, view }],
            code: Vec::new(),
            ir: Vec::new(),
            memory: vec![None],
            signer: None,
        }
    }

    #[test]
    fn tensors_are_those_of_the_metadata() {
        let function = assemble(bundle(), serde_json::from_str(METADATA).unwrap()).unwrap();
        assert_eq!(function.signature(), "float32[2,1] int32[3]");
        assert_eq!(function.inputs()[0].to_string(), "float32[1,2]");
        let cpu = Device::cpu();
        let one =
            |dtype, bytes: &[u8]| Array::from_bytes(cpu, dtype, &[bytes.len() as i64 / 4], bytes).unwrap();
        let input = one(Type::F32, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let outputs = [one(Type::F32, &[9; 8]), one(Type::I32, &[9; 12])];
        function.call(cpu, &[input], &outputs, None).unwrap();
        assert_eq!(outputs[0].to_bytes().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(outputs[1].to_bytes().unwrap(), [0; 12], "what the graph does not have is zeros");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (old, new, wanted) in [
            (r#""param_name": "p""#, r#""param_name": "q""#, "the graph has no parameter `q`"),
            ("[1, 2]", "[1, 3]", "parameter `p` has 8 bytes, the model's tensor 12"),
            ("[1, 2]", "[-1, 2]", "`p` has the shape [-1, 2]"),
            ("float32", "vec3", "Unsupported dtype: `p` is of vec3"),
        ] {
            let metadata = serde_json::from_str(&METADATA.replacen(old, new, 1)).unwrap();
            assert_eq!(assemble(bundle(), metadata).unwrap_err(), wanted);
        }
        let failure = |archive: &[u8], metadata| function(archive, metadata).unwrap_err();
        assert!(
            failure(b"WRPB", "{}").starts_with("its runtime_metadata is damaged: missing field `inputs`")
        );
        assert!(failure(b"x", METADATA).starts_with("not an archive of a Warp graph"));
    }
}
