"""Messages to records and back, on the fast path only: arrays are copied as bytes, never element by element."""
