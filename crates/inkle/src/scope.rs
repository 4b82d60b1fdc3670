//! Devices and streams for a piece of program.

use inkle_runtime::{self as rt, Device, Stream};

use crate::error::Result;

/// Runs a piece of program with another default device: arrays without a device, and kernels without arrays, are its.
///
/// ```
/// use inkle::{Array, Device, with_device};
///
/// let x = with_device(Device::cpu(), || Array::<f32>::zeros(3))?;
/// assert!(x.device().is_cpu());
/// # Ok::<(), inkle::Error>(())
/// ```
pub fn with_device<R>(device: Device, run: impl FnOnce() -> R) -> R {
    struct Back(Device);
    impl Drop for Back {
        fn drop(&mut self) {
            rt::set_default_device(self.0);
        }
    }
    let _back = Back(rt::default_device());
    rt::set_default_device(device);
    run()
}

/// Runs a piece of program with a stream as the current one of its GPU, which is the default device meanwhile. The stream
/// first waits for what the current one has to do; what is queued afterwards does not wait for the stream
/// ([`Stream::wait_stream`] does).
///
/// # Errors
/// That of `run`; what the device reports.
pub fn with_stream<R>(stream: &Stream, run: impl FnOnce() -> Result<R>) -> Result<R> {
    struct Back(Device, Option<Stream>);
    impl Drop for Back {
        fn drop(&mut self) {
            if let Some(stream) = self.1.take() {
                // The device had this stream before, so it takes it again.
                let _ = self.0.set_stream(stream);
            }
        }
    }
    let device = stream.device();
    let current = device.stream()?;
    if current != *stream {
        stream.wait_stream(&current)?;
    }
    let _back = Back(device, Some(device.set_stream(stream.clone())?));
    with_device(device, run)
}

/// Waits until all GPUs have done what they have to do.
///
/// # Errors
/// What the devices, and failed checks of kernels, report.
pub fn synchronize() -> Result<()> {
    rt::devices().into_iter().try_for_each(|device| Ok(device.synchronize()?))
}
