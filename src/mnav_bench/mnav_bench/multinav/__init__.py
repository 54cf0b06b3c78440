"""Suite `multinav`: interaction changes what can be reached and seen."""
