"""Second implementations, as plain as can be."""
