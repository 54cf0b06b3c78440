"""The minds of mnav: agents and what steps them."""
