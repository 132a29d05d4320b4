//! Machine code of x86-64: the vector instructions of AVX2 with FMA, and of AVX-512.
//!
//! Encodings: Intel, "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2, sections 2.3.5 (VEX
//! prefix) and 2.7.1 (EVEX prefix).

use memmap2::{Mmap, MmapMut};

use super::super::memory::CACHE_LINE;
use crate::real::{Precision, Real, bytes_of};

/// Vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isa {
    Avx2,
    Avx512,
}

impl Isa {
    /// Number of vector registers.
    pub(super) const fn registers(self) -> u8 {
        match self {
            Isa::Avx2 => 16,
            Isa::Avx512 => 32,
        }
    }

    /// Bytes of a vector register.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Isa::Avx2 => 32,
            Isa::Avx512 => 64,
        }
    }

    /// Vectors of a cache line.
    pub(super) const fn vectors(self) -> usize {
        CACHE_LINE / self.bytes()
    }
}

/// The arguments of the generated function, in the registers of the System V calling convention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// The current row of the quantities with one reused block.
    Reused = 7,
    /// The current row of the quantities that are stored for all points.
    Stored = 6,
    /// The rows that operators carry from block to block.
    Carried = 2,
    /// Number of rows.
    Rows = 1,
    /// Powers of the current row, see [`Cyclic`](crate::backend::cpu::solver::Cyclic).
    Powers = 8,
    /// The [`Frame`](super::frame::Frame).
    Frame = 9,
}

/// Other registers: an address, and the distance in bytes of the current row from the addresses in the frame.
const ADDRESS: u8 = 0;
const ROW: u8 = 10;

/// The last operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Register(u8),
    /// At this number of bytes after the address in an argument.
    Memory(Argument, i32),
    /// The current row of a field: its address is at `pointer` bytes in the frame; then `offset` bytes.
    Field {
        pointer: i32,
        offset: i32,
    },
    /// A number of the table of constants, for [`Operation::Broadcast`].
    Constant(usize),
}

/// An instruction; `a`, `b`, `c` are its operands, `a` is also its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// a = c.
    Load,
    /// c = a.
    Store,
    /// c = a, not through the caches; c is aligned.
    Stream,
    /// a = c in all lanes, c in memory.
    Broadcast,
    /// a = b xor c; bits.
    Xor,
    /// a = c and not b; bits.
    AndNot,
    /// a = √c.
    Root,
    /// a = b / c.
    Divide,
    /// a = b + c.
    Add,
    /// a = b − c.
    Subtract,
    /// a = b c.
    Multiply,
    /// a = a + b c, rounded once.
    AddProduct,
    /// a = a − b c, rounded once.
    SubtractProduct,
    /// a = a b + c, rounded once.
    MultiplyAdd,
}

/// The functions of a pass being assembled.
pub(super) struct Assembler<T> {
    pub(super) isa: Isa,
    code: Vec<u8>,
    constants: Vec<T>,
    /// Where the code refers to a constant: position of the distance, number of the constant.
    references: Vec<(usize, usize)>,
}

impl<T: Real> Assembler<T> {
    pub(super) fn new(isa: Isa) -> Self {
        Self { isa, code: Vec::new(), constants: Vec::new(), references: Vec::new() }
    }

    /// Number of a constant in the table.
    pub(super) fn constant(&mut self, value: T) -> Operand {
        let bits = |x: &T| x.f64().to_bits();
        let known = self.constants.iter().position(|known| bits(known) == bits(&value));
        Operand::Constant(known.unwrap_or_else(|| {
            self.constants.push(value);
            self.constants.len() - 1
        }))
    }

    /// Position of the next instruction.
    pub(super) fn position(&self) -> usize {
        self.code.len()
    }

    /// Appends an instruction.
    pub(super) fn emit(&mut self, operation: Operation, a: u8, b: u8, c: Operand) {
        use Operation::*;
        let double = T::PRECISION == Precision::F64;
        let evex = self.isa == Isa::Avx512;
        // Prefix 66 is 1, none is 0; opcode map 0F is 1, 0F 38 is 2.
        let (prefix, map, opcode, w) = match operation {
            Load => (1, 1, 0x10, evex),
            Store => (1, 1, 0x11, evex),
            Stream => (1, 1, 0x2B, evex),
            Broadcast if double => (1, 2, 0x19, evex),
            Broadcast => (1, 2, 0x18, false),
            Xor => (1, 1, 0xEF, false),
            AndNot => (1, 1, 0xDF, false),
            Root => (u8::from(double), 1, 0x51, double),
            Divide => (u8::from(double), 1, 0x5E, double),
            Add => (u8::from(double), 1, 0x58, double),
            Subtract => (u8::from(double), 1, 0x5C, double),
            Multiply => (u8::from(double), 1, 0x59, double),
            AddProduct => (1, 2, 0xB8, double),
            SubtractProduct => (1, 2, 0xBC, double),
            MultiplyAdd => (1, 2, 0xA8, double),
        };
        if let Operand::Field { pointer, .. } = c {
            self.load_address(pointer);
        }
        let (base, extension) = match c {
            Operand::Register(c) => (c, c >> 4),
            Operand::Memory(base, _) => (base as u8, 0),
            Operand::Field { .. } => (ADDRESS, ROW >> 3),
            Operand::Constant(_) => (0, 0),
        };
        // These bits of the numbers of registers are stored inverted.
        let bit = |number: u8, at: u8| (!number >> at) & 1;
        let reg = bit(a, 3) << 7 | (!extension & 1) << 6 | bit(base, 3) << 5;
        let second = u8::from(w) << 7 | (!b & 15) << 3 | prefix;
        if evex {
            let third = 2 << 5 | bit(b, 4) << 3;
            self.code.extend([0x62, reg | bit(a, 4) << 4 | map, second | 1 << 2, third, opcode]);
        } else {
            self.code.extend([0xC4, reg | map, second | 1 << 2, opcode]);
        }
        let reg = (a & 7) << 3;
        match c {
            Operand::Register(c) => self.code.push(0xC0 | reg | c & 7),
            Operand::Memory(base, offset) => {
                self.code.push(0x80 | reg | base as u8 & 7);
                self.code.extend(offset.to_le_bytes());
            }
            Operand::Field { offset, .. } => {
                self.code.extend([0x84 | reg, (ROW & 7) << 3 | ADDRESS]);
                self.code.extend(offset.to_le_bytes());
            }
            Operand::Constant(at) => {
                self.code.push(0x05 | reg);
                self.references.push((self.code.len(), at));
                self.code.extend([0; 4]);
            }
        }
    }

    /// Loads the address that is at `pointer` bytes in the frame.
    fn load_address(&mut self, pointer: i32) {
        self.code.extend([0x49, 0x8B, 0x81]);
        self.code.extend(pointer.to_le_bytes());
    }

    /// Prefetches a field: its address is at `pointer` bytes in the frame, and at `ahead` bytes the distance from its
    /// current row.
    pub(super) fn prefetch(&mut self, pointer: i32, ahead: i32) {
        self.load_address(pointer);
        // add rax, [r9 + ahead]; prefetcht0 [rax + r10]
        self.code.extend([0x49, 0x03, 0x81]);
        self.code.extend(ahead.to_le_bytes());
        self.code.extend([0x42, 0x0F, 0x18, 0x0C, (ROW & 7) << 3 | ADDRESS]);
    }

    /// The current row is the one whose addresses are in the frame (xor r10d, r10d).
    pub(super) fn reset_row(&mut self) {
        self.code.extend([0x45, 0x31, 0xD2]);
    }

    /// The current row becomes the one before it: `stride` is the position in the frame of their distance in bytes (sub
    /// r10, [r9 + stride]).
    pub(super) fn previous_row(&mut self, stride: i32) {
        self.code.extend([0x4D, 0x2B, 0x91]);
        self.code.extend(stride.to_le_bytes());
    }

    /// Subtracts a number from an argument.
    pub(super) fn decrease(&mut self, argument: Argument, number: i32) {
        let register = argument as u8;
        self.code.extend([0x48 | register >> 3, 0x81, 0xE8 | register & 7]);
        self.code.extend(number.to_le_bytes());
    }

    /// Jumps to `position` unless the last [`Assembler::decrease`] gave 0.
    pub(super) fn jump_if_not_zero(&mut self, position: usize) {
        self.code.extend([0x0F, 0x85]);
        let end = self.code.len() + 4;
        self.code.extend(between(end, position).to_le_bytes());
    }

    /// Ends the function (`vzeroupper`, `ret`).
    pub(super) fn end(&mut self) {
        self.code.extend([0xC5, 0xF8, 0x77, 0xC3]);
    }

    /// The code in executable memory, followed by the constants and by `table`, and the offset of the latter in bytes;
    /// `None` if the system allows no such memory.
    pub(super) fn finish(mut self, table: &[T]) -> Option<(Mmap, usize)> {
        const ALIGNMENT: usize = 64;
        let constants = self.code.len().next_multiple_of(ALIGNMENT);
        for (at, constant) in &self.references {
            let distance = between(at + 4, constants + constant * size_of::<T>());
            self.code[*at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        self.code.resize(constants, 0);
        let start = constants + size_of_val(&*self.constants);
        self.code.extend(bytes_of(&self.constants));
        self.code.extend(bytes_of(table));
        let mut memory = MmapMut::map_anon(self.code.len()).ok()?;
        memory.copy_from_slice(&self.code);
        Some((memory.make_exec().ok()?, start))
    }
}

/// A distance in bytes as part of an instruction.
pub(super) fn distance(bytes: isize) -> i32 {
    i32::try_from(bytes).unwrap_or_else(|_| unreachable!("the code and rows of a pass are small"))
}

/// Distance between two positions of the code.
fn between(from: usize, to: usize) -> i32 {
    distance(to.cast_signed() - from.cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<T: Real>(isa: Isa, operation: Operation, a: u8, b: u8, c: Operand) -> Vec<u8> {
        let mut assembler = Assembler::<T>::new(isa);
        assembler.emit(operation, a, b, c);
        assembler.code
    }

    /// Instructions as the GNU assembler 2.40 encodes them.
    #[test]
    fn instructions_are_encoded_as_by_an_assembler() {
        use Isa::*;
        use Operand::*;
        use Operation::*;
        let double = bytes::<f64>;
        let single = bytes::<f32>;
        let stored = Memory(Argument::Stored, 0x2000);
        let field = Field { pointer: 0x1018, offset: 0x1_2345 };
        // mov rax, [r9 + 0x1018]
        let address = [0x49, 0x8B, 0x81, 0x18, 0x10, 0, 0];
        let in_field = |bytes: Vec<u8>| bytes.strip_prefix(&address).unwrap().to_vec();
        let cases: [(Vec<u8>, &[u8]); 20] = [
            (
                in_field(double(Avx512, Add, 19, 18, field)),
                &[0x62, 0xA1, 0xED, 0x40, 0x58, 0x9C, 0x10, 0x45, 0x23, 1, 0],
            ),
            (
                in_field(double(Avx512, Stream, 21, 0, field)),
                &[0x62, 0xA1, 0xFD, 0x48, 0x2B, 0xAC, 0x10, 0x45, 0x23, 1, 0],
            ),
            (
                in_field(double(Avx2, Stream, 11, 0, field)),
                &[0xC4, 0x21, 0x7D, 0x2B, 0x9C, 0x10, 0x45, 0x23, 1, 0],
            ),
            (
                in_field(double(Avx512, Load, 25, 0, field)),
                &[0x62, 0x21, 0xFD, 0x48, 0x10, 0x8C, 0x10, 0x45, 0x23, 1, 0],
            ),
            (
                in_field(double(Avx512, Xor, 25, 26, field)),
                &[0x62, 0x21, 0x2D, 0x40, 0xEF, 0x8C, 0x10, 0x45, 0x23, 1, 0],
            ),
            (
                double(Avx512, Store, 26, 0, stored),
                &[0x62, 0x61, 0xFD, 0x48, 0x11, 0x96, 0, 0x20, 0, 0],
            ),
            (double(Avx512, Root, 17, 0, Register(28)), &[0x62, 0x81, 0xFD, 0x48, 0x51, 0xCC]),
            (single(Avx2, Root, 3, 0, Register(12)), &[0xC4, 0xC1, 0x7C, 0x51, 0xDC]),
            (single(Avx512, Divide, 17, 16, Register(28)), &[0x62, 0x81, 0x7C, 0x40, 0x5E, 0xCC]),
            (double(Avx512, AndNot, 17, 20, Register(28)), &[0x62, 0x81, 0x5D, 0x40, 0xDF, 0xCC]),
            (double(Avx512, Xor, 23, 23, Register(23)), &[0x62, 0xA1, 0x45, 0x40, 0xEF, 0xFF]),
            (double(Avx512, Add, 8, 7, Register(31)), &[0x62, 0x11, 0xC5, 0x48, 0x58, 0xC7]),
            (single(Avx512, Subtract, 3, 2, Register(1)), &[0x62, 0xF1, 0x6C, 0x48, 0x5C, 0xD9]),
            (
                double(Avx512, AddProduct, 18, 20, Register(3)),
                &[0x62, 0xE2, 0xDD, 0x40, 0xB8, 0xD3],
            ),
            (
                single(Avx512, SubtractProduct, 28, 29, Register(30)),
                &[0x62, 0x02, 0x15, 0x40, 0xBC, 0xE6],
            ),
            (
                double(Avx512, MultiplyAdd, 3, 1, stored),
                &[0x62, 0xF2, 0xF5, 0x48, 0xA8, 0x9E, 0, 0x20, 0, 0],
            ),
            (double(Avx2, AddProduct, 8, 10, Register(3)), &[0xC4, 0x62, 0xAD, 0xB8, 0xC3]),
            (single(Avx2, SubtractProduct, 13, 12, Register(11)), &[0xC4, 0x42, 0x1D, 0xBC, 0xEB]),
            (
                double(Avx2, MultiplyAdd, 3, 1, stored),
                &[0xC4, 0xE2, 0xF5, 0xA8, 0x9E, 0, 0x20, 0, 0],
            ),
            (
                single(Avx2, Broadcast, 1, 0, Memory(Argument::Frame, 4)),
                &[0xC4, 0xC2, 0x7D, 0x18, 0x89, 4, 0, 0, 0],
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(found, expected, "{found:02x?}");
        }
        let mut assembler = Assembler::<f64>::new(Avx2);
        assembler.prefetch(0x1018, 0x1014);
        assembler.previous_row(0x1010);
        let prefetch = [0x49, 0x03, 0x81, 0x14, 0x10, 0, 0, 0x42, 0x0F, 0x18, 0x0C, 0x10];
        let previous_row = [0x4D, 0x2B, 0x91, 0x10, 0x10, 0, 0];
        assert_eq!(assembler.code, [&address[..], &prefetch, &previous_row].concat());
    }
}
