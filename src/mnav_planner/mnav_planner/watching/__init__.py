"""What people look at while a robot works."""
