//! Functions of a C library that is loaded while the program runs.

/// A table of pointers to functions of a library: for each the name here, the name there, its arguments, and what it returns unless
/// that is an `int`.
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
            /// Those of a library.
            ///
            /// # Errors
            /// One is missing.
            ///
            /// # Safety
            /// The library must declare them so.
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
