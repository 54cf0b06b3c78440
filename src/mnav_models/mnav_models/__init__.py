"""Everything between a mind and a language or vision-language model."""
