//! Functions of a C library that is loaded at run time.

/// Declares a table of function pointers of a library. For each function: its field name, its name in the library, its
/// arguments, and its return type unless that is `int`.
macro_rules! foreign_functions {
    (@result) => { std::ffi::c_int };
    (@result $result:ty) => { $result };
    ($(#[$doc:meta])* $visible:vis $table:ident $(<$handle:ident>)? {
        $($field:ident = $name:ident($($argument:ty),*) $(-> $result:ty)?;)*
    }) => {
        $(#[$doc])*
        $visible struct $table $(<$handle>)? {
            $($visible $field:
                unsafe extern "C" fn($($argument),*) -> foreign_functions!(@result $($result)?),)*
        }

        impl $(<$handle: 'static>)? $table $(<$handle>)? {
            /// Loads the table from a library.
            ///
            /// # Errors
            /// A function is missing.
            ///
            /// # Safety
            /// The library must declare the functions with these types.
            $visible unsafe fn of(library: &Library) -> std::result::Result<Self, String> {
                Ok(Self {
                    $($field: {
                        // SAFETY: as the caller promises.
                        let found = unsafe { library.get(stringify!($name)) };
                        *found.map_err(|_| concat!("it has no `", stringify!($name), "`"))?
                    },)*
                })
            }
        }
    };
}

pub(crate) use foreign_functions;
