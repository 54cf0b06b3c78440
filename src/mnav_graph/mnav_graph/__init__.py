"""The interaction graph: what was seen, in which state it is, and what could be done next."""
