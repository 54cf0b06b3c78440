"""Whether doors, fridges, cabinets and drawers are open, and what to pull."""
