"""Suite `supernav`: one object, several in order, and objects that serve a need; scored as the paper does."""
