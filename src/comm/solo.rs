//! A single rank, without any library.

use super::{Communicator, Request, Sent};

/// The only rank; it has no other rank to communicate with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Solo;

impl Communicator for Solo {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn local(&self) -> (usize, usize) {
        (0, 1)
    }

    unsafe fn send(&self, _: *const u8, _: usize, _: usize, _: i32) -> Request {
        unreachable!("there is no other rank to send to")
    }

    unsafe fn receive(&self, _: *mut u8, _: usize, _: usize, _: i32) -> Request {
        unreachable!("there is no other rank to receive from")
    }

    fn wait(&self, _: Vec<Request>) {}

    unsafe fn all_to_all(
        &self,
        from: *const u8,
        send: &[(usize, usize)],
        to: *mut u8,
        receive: &[(usize, usize)],
    ) {
        let [((start, bytes), (at, _))] = [(send[0], receive[0])];
        // SAFETY: both ranges are valid and do not overlap, as the caller promises.
        unsafe { std::ptr::copy_nonoverlapping(from.add(start), to.add(at), bytes) };
    }

    fn sum(&self, _: &mut [f64]) {}

    fn max(&self, _: &mut [f64]) {}

    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        Some(vec![bytes.to_vec()])
    }

    fn broadcast(&self, _: usize, bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }

    fn barrier(&self) {}

    fn split(&self, _: usize, _: usize) -> Box<dyn Communicator> {
        Box::new(Solo)
    }

    fn sent(&self) -> Sent {
        Sent::default()
    }

    fn reports_device_aware(&self) -> Option<bool> {
        None
    }

    fn abort(&self, code: u8) -> ! {
        std::process::exit(code.into())
    }
}
