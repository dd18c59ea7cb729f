//! The macro of the table of operators in `mod.rs`.

/// Makes the table of operators: the enums of nodes and of restrictions, and the list that parser and documentation go
/// through.
macro_rules! operators {
    (
        patterns { $($(#[$node_doc:meta])* $node:ident($module:ident),)* }
        restrictions { $($(#[$kind_doc:meta])* $kind:ident($restriction:ident),)* }
        others { $($other:ident),* }
    ) => {
        $(pub use $module::$node;)*

        /// The operators of a pattern.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum PatternKind {
            $($(#[$node_doc])* $node($node),)*
        }

        impl PatternKind {
            fn operator(&self) -> &dyn PatternOperator {
                match self {
                    $(PatternKind::$node(node) => node,)*
                }
            }
        }

        $(impl From<$node> for PatternKind {
            fn from(node: $node) -> PatternKind {
                PatternKind::$node(node)
            }
        })*

        /// The operators that restrict a hit by a target.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum RestrictionKind {
            $($(#[$kind_doc])* $kind,)*
        }

        impl RestrictionKind {
            const ALL: &'static [RestrictionKind] = &[$(RestrictionKind::$kind),*];

            pub(crate) fn operator(self) -> &'static dyn RestrictionOperator {
                match self {
                    $(RestrictionKind::$kind => &$restriction::$kind,)*
                }
            }

            /// The keyword, which is also the name of the operator.
            pub fn keyword(self) -> &'static str {
                match self {
                    $(RestrictionKind::$kind => $restriction::OPERATOR.doc.name,)*
                }
            }
        }

        /// All operators, in the order in which the parser tries them.
        pub(crate) const OPERATORS: &[&Operator] =
            &[$(&$module::OPERATOR,)* $(&$restriction::OPERATOR,)* $(&$other::OPERATOR),*];
    };
}
pub(super) use operators;
