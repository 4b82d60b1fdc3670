//! Streams and events of GPUs. Nothing here waits for the device unless its name says so.

use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cuda::Relaxed;
use crate::cuda::owned::{OwnedEvent, OwnedStream};
use crate::cuda::sys::{self, CUstream};
use crate::device::Device;
use crate::error::RuntimeError;
use crate::record::{self, Operation};

/// A queue of a GPU: what is put on it runs in order. Copies name the same stream.
#[derive(Clone)]
pub struct Stream(Arc<StreamInner>);

struct StreamInner {
    device: Device,
    stream: OwnedStream,
    /// Used again for each wait of another stream on this one.
    marker: Mutex<Option<OwnedEvent>>,
}

impl PartialEq for Stream {
    fn eq(&self, other: &Stream) -> bool {
        self.0.device == other.0.device && self.handle() == other.handle()
    }
}

impl Eq for Stream {}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({}, {:#x})", self.0.device, self.handle())
    }
}

impl Stream {
    /// A new stream on `device`, ordered with the legacy default stream. `priority`: lower numbers go first;
    /// values outside [`Device::stream_priorities`] are clamped by the driver.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] for the CPU, the driver's for a GPU.
    pub fn new(device: Device, priority: i32) -> Result<Stream, RuntimeError> {
        let context = device.context()?;
        let stream = OwnedStream::create(sys::driver()?, context, sys::STREAM_DEFAULT, priority)?;
        Ok(Stream::from_owned(device, stream))
    }

    /// A new stream that is ordered with no other.
    ///
    /// # Errors
    /// As [`new`](Stream::new).
    pub fn unordered(device: Device) -> Result<Stream, RuntimeError> {
        let context = device.context()?;
        let stream = OwnedStream::create(sys::driver()?, context, sys::STREAM_NON_BLOCKING, 0)?;
        Ok(Stream::from_owned(device, stream))
    }

    /// A stream that someone else owns, by its `CUstream` handle (zero is the legacy default stream). It is
    /// not destroyed.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] for the CPU, the driver's for a GPU.
    ///
    /// # Safety
    /// The handle is a stream of the device's primary context and stays valid while the result, its copies
    /// and all memory allocated on it live.
    pub unsafe fn from_handle(device: Device, handle: u64) -> Result<Stream, RuntimeError> {
        let handle = ptr::with_exposed_provenance_mut(handle as usize);
        Ok(Stream::from_owned(device, OwnedStream::adopt(device.context()?, handle)))
    }

    fn from_owned(device: Device, stream: OwnedStream) -> Stream {
        Stream(Arc::new(StreamInner { device, stream, marker: Mutex::new(None) }))
    }

    /// The GPU it belongs to.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// The `CUstream` handle, for other libraries.
    pub fn handle(&self) -> u64 {
        self.0.stream.handle().expose_provenance() as u64
    }

    pub(crate) fn raw(&self) -> CUstream {
        self.0.stream.handle()
    }

    /// The priority it was created with, clamped.
    ///
    /// # Errors
    /// The driver's.
    pub fn priority(&self) -> Result<i32, RuntimeError> {
        let current = self.0.device.enter()?;
        let mut priority = 0;
        // SAFETY: the stream is alive and its context current; the place is valid.
        unsafe { current.driver.stream_get_priority(self.raw(), &mut priority) }?;
        Ok(priority)
    }

    /// Waits until everything on the stream is done.
    ///
    /// # Errors
    /// The driver's; a fault of an earlier kernel shows here, and [`RuntimeError::CheckFailed`] of one with checks.
    pub fn synchronize(&self) -> Result<(), RuntimeError> {
        let current = self.0.device.enter()?;
        // SAFETY: the stream is alive and its context current.
        unsafe { current.driver.stream_synchronize(self.raw()) }?;
        self.0.device.reported()
    }

    /// Whether everything on the stream is done.
    ///
    /// # Errors
    /// The driver's; a fault of an earlier kernel shows here.
    pub fn is_complete(&self) -> Result<bool, RuntimeError> {
        let current = self.0.device.enter()?;
        // SAFETY: the stream is alive and its context current.
        match unsafe { current.driver.stream_query(self.raw()) } {
            Ok(()) => Ok(true),
            Err(failure) if failure.is(sys::CUDA_ERROR_NOT_READY) => Ok(false),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Whether the stream is recording a graph instead of running.
    ///
    /// # Errors
    /// The driver's.
    pub fn is_capturing(&self) -> Result<bool, RuntimeError> {
        let current = self.0.device.enter()?;
        let mut status = 0;
        // SAFETY: the stream is alive and its context current; the place is valid.
        unsafe { current.driver.stream_is_capturing(self.raw(), &mut status) }?;
        Ok(status != sys::STREAM_CAPTURE_STATUS_NONE)
    }

    /// Makes a new event and records it here.
    ///
    /// # Errors
    /// The driver's.
    pub fn record_event(&self) -> Result<Event, RuntimeError> {
        let event = Event::new(self.0.device, false)?;
        event.record(self)?;
        Ok(event)
    }

    /// Makes later work here wait for what `event` has recorded. The host does not wait.
    ///
    /// # Errors
    /// The driver's.
    pub fn wait_event(&self, event: &Event) -> Result<(), RuntimeError> {
        if !record::runs_now(&Operation::WaitEvent { event: event.handle(), stream: self })? {
            return Ok(());
        }
        self.wait_raw(&event.0.event)
    }

    /// Makes later work here wait for all work that `other` has now. The host does not wait.
    ///
    /// # Errors
    /// The driver's.
    pub fn wait_stream(&self, other: &Stream) -> Result<(), RuntimeError> {
        if self == other {
            return Ok(());
        }
        // A wait holds on to the state that the event has when the wait is queued, so one event per stream
        // serves all waits, as long as recording and waiting are not interleaved with another thread's.
        let mut marker = other.0.marker.lock().unwrap_or_else(PoisonError::into_inner);
        let event = match &mut *marker {
            Some(event) => event,
            empty => {
                let context = other.0.device.context()?;
                empty.insert(OwnedEvent::create(sys::driver()?, context, sys::EVENT_DISABLE_TIMING)?)
            }
        };
        let handle = event.handle().expose_provenance() as u64;
        if record::runs_now(&Operation::RecordEvent { event: handle, stream: other })? {
            let current = other.0.device.enter()?;
            // SAFETY: event and stream are alive and belong to the current context.
            unsafe { current.driver.event_record(event.handle(), other.raw()) }?;
        }
        if !record::runs_now(&Operation::WaitEvent { event: handle, stream: self })? {
            return Ok(());
        }
        self.wait_raw(event)
    }

    fn wait_raw(&self, event: &OwnedEvent) -> Result<(), RuntimeError> {
        let current = self.0.device.enter()?;
        // SAFETY: both are alive; an event of another device may be waited for.
        Ok(unsafe { current.driver.stream_wait_event(self.raw(), event.handle(), 0) }?)
    }
}

/// A point in a stream's work. Copies name the same event.
#[derive(Clone)]
pub struct Event(Arc<EventInner>);

struct EventInner {
    device: Device,
    event: OwnedEvent,
    timing: bool,
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({}, {:#x})", self.0.device, self.handle())
    }
}

impl Event {
    /// A new event of `device`; `timing` lets [`elapsed_ms`](Event::elapsed_ms) be asked and costs a little.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] for the CPU, the driver's for a GPU.
    pub fn new(device: Device, timing: bool) -> Result<Event, RuntimeError> {
        let flags = if timing { sys::EVENT_DEFAULT } else { sys::EVENT_DISABLE_TIMING };
        let context = device.context()?;
        let event = OwnedEvent::create(sys::driver()?, context, flags)?;
        Ok(Event(Arc::new(EventInner { device, event, timing })))
    }

    /// The GPU it belongs to.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// Whether it measures time.
    pub fn has_timing(&self) -> bool {
        self.0.timing
    }

    /// The `CUevent` handle, for other libraries.
    pub fn handle(&self) -> u64 {
        self.0.event.handle().expose_provenance() as u64
    }

    /// Records the work that `stream` has now.
    ///
    /// # Errors
    /// [`RuntimeError::WrongDevice`] for a stream of another device, else the driver's.
    pub fn record(&self, stream: &Stream) -> Result<(), RuntimeError> {
        if stream.device() != self.0.device {
            return Err(RuntimeError::WrongDevice {
                what: "the stream",
                expected: self.0.device.to_string(),
                found: stream.device().to_string(),
            });
        }
        if !record::runs_now(&Operation::RecordEvent { event: self.handle(), stream })? {
            return Ok(());
        }
        let current = self.0.device.enter()?;
        // SAFETY: event and stream are alive and belong to the current context.
        Ok(unsafe { current.driver.event_record(self.0.event.handle(), stream.raw()) }?)
    }

    /// Whether the recorded work is done; true for an event that recorded nothing.
    ///
    /// # Errors
    /// The driver's.
    pub fn is_complete(&self) -> Result<bool, RuntimeError> {
        let current = self.0.device.enter()?;
        // Memory is looked after during captures too, and the question would end one.
        let _relaxed = Relaxed::enter(current.driver);
        // SAFETY: the event is alive and its context current.
        match unsafe { current.driver.event_query(self.0.event.handle()) } {
            Ok(()) => Ok(true),
            Err(failure) if failure.is(sys::CUDA_ERROR_NOT_READY) => Ok(false),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Waits until the recorded work is done.
    ///
    /// # Errors
    /// The driver's, and [`RuntimeError::CheckFailed`] of a kernel with checks.
    pub fn synchronize(&self) -> Result<(), RuntimeError> {
        self.wait()?;
        self.0.device.reported()
    }

    /// As [`synchronize`](Event::synchronize), but leaves reports of kernels to whoever asks next.
    pub(crate) fn wait(&self) -> Result<(), RuntimeError> {
        let current = self.0.device.enter()?;
        // SAFETY: the event is alive and its context current.
        Ok(unsafe { current.driver.event_synchronize(self.0.event.handle()) }?)
    }

    /// The time from this event to `end`, milliseconds. Both must be done; this does not wait.
    ///
    /// # Errors
    /// [`RuntimeError::NoTiming`] if either has no timing; the driver's if either is not done.
    pub fn elapsed_ms(&self, end: &Event) -> Result<f32, RuntimeError> {
        if !self.0.timing || !end.0.timing {
            return Err(RuntimeError::NoTiming);
        }
        let current = self.0.device.enter()?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are alive; the place is valid.
        unsafe {
            current.driver.event_elapsed_time(&mut milliseconds, self.0.event.handle(), end.0.event.handle())
        }?;
        Ok(milliseconds)
    }
}
