"""Small robots for tests of what drives them."""
