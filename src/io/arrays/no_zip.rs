//! Stub for archives in browser builds, which read no files.

use std::borrow::Cow;
use std::convert::Infallible;
use std::io::{self, Read};
use std::marker::PhantomData;

const UNSUPPORTED: &str = "a page in a browser reads no archives";

pub(super) enum CompressionMethod {
    Stored,
}

/// Cannot be constructed.
pub(super) struct ZipArchive<R>(Infallible, PhantomData<R>);

impl<R> ZipArchive<R> {
    pub(super) fn new(_: R) -> Result<Self, &'static str> {
        Err(UNSUPPORTED)
    }

    pub(super) fn by_name(&mut self, _: &str) -> Result<ZipFile, &'static str> {
        match self.0 {}
    }

    pub(super) fn file_names(&self) -> impl Iterator<Item = Result<Cow<'_, str>, &'static str>> {
        std::iter::once(Err(UNSUPPORTED))
    }
}

/// Cannot be constructed.
pub(super) struct ZipFile(Infallible);

impl ZipFile {
    pub(super) fn size(&self) -> u64 {
        match self.0 {}
    }

    pub(super) fn compression(&self) -> CompressionMethod {
        match self.0 {}
    }

    pub(super) fn data_start(&self) -> Option<u64> {
        match self.0 {}
    }
}

impl Read for ZipFile {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}
